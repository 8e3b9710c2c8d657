//! The loop of a simulation: selects and dispatches the next event.

use std::collections::VecDeque;

use stats::Histogram;

use super::heap::Heap;
use super::schedule::{Next, TICKS, TrafficSchedule};
use super::state::{
    Building, Frame, Input, Notice, Port, PullState, Sender, SendingFragment, SimulationWorld, WindowedConnection,
};
use super::tally::{LatencyQuantiles, SimulationTally, fairness};
use super::{FlowControl, LONGEST, SimulationSetup, TrafficPattern, Trigger};

/// The last moment that is simulated, picoseconds.
const LATEST: u64 = (2.0 * LONGEST * TICKS) as u64;

impl<'a> SimulationWorld<'a> {
    pub(super) fn new(setup: &'a SimulationSetup) -> Self {
        let (n, m) = (setup.senders as usize, setup.receivers as usize);
        let ticks_per_byte = TICKS / setup.link_rate;
        let framing = setup.framing;
        let connections = match setup.flow {
            FlowControl::Window { bytes } => vec![WindowedConnection::new(framing.payload, bytes); n * m],
            FlowControl::Datagrams => Vec::new(),
        };
        let schedule = TrafficSchedule::new(setup, ticks_per_byte);
        let building =
            (0..setup.events).map(|event| Building { left: schedule.event_bytes(event), began: u64::MAX }).collect();
        Self {
            setup,
            schedule,
            now: 0,
            timers: Heap::with_capacity(2 * (n + m)),
            soon: VecDeque::new(),
            late: VecDeque::new(),
            senders: (0..n).map(|_| Sender::default()).collect(),
            ports: (0..m).map(|_| Port::default()).collect(),
            inputs: (0..n).map(|_| Input::default()).collect(),
            connections,
            pullers: (0..m).map(|_| PullState::default()).collect(),
            building,
            nanos: Histogram::new(),
            tally: SimulationTally::default(),
            ticks_per_byte,
            full: (f64::from(framing.full() + framing.gap) * ticks_per_byte) as u64,
            round_trip: (2.0 * setup.latency * TICKS) as u64,
            timeout: (setup.timeout * TICKS) as u64,
        }
    }

    /// Time that a frame takes on a link.
    #[inline]
    pub(super) fn wire(&self, bytes: u32) -> u64 {
        let framing = self.setup.framing;
        if bytes == framing.payload {
            self.full
        } else {
            (f64::from(bytes + framing.headers + framing.gap) * self.ticks_per_byte) as u64
        }
    }

    // Owners of timers: ports, cards, timeouts of senders, timeouts of receivers. At equal times a port comes first: a
    // departing frame frees space for an arriving one.
    fn card_timer(&self, sender: u32) -> u32 {
        self.setup.receivers + sender
    }

    pub(super) fn puller_timer(&self, receiver: u32) -> u32 {
        2 * self.setup.senders + self.setup.receivers + receiver
    }

    pub(super) fn after_round_trip(&mut self, notice: Notice) {
        self.soon.push_back((self.now + self.round_trip, notice));
    }

    pub(super) fn after_timeout(&mut self, notice: Notice) {
        self.late.push_back((self.now + self.timeout, notice));
    }

    /// Runs until nothing is pending.
    pub(super) fn run(mut self) -> SimulationTally {
        if let TrafficPattern::Pull { credits } = self.setup.pattern {
            (0..self.setup.receivers).for_each(|receiver| self.begin_pull(receiver, credits));
        } else {
            (0..self.setup.senders).for_each(|sender| self.kick(sender));
        }
        let never = |queue: &VecDeque<(u64, Notice)>| queue.front().map_or(u64::MAX, |(time, _)| *time);
        loop {
            let (timer, owner) = self.timers.first().unwrap_or((u64::MAX, 0));
            let (soon, late) = (never(&self.soon), never(&self.late));
            let next = timer.min(soon).min(late);
            // Endless losses end here: later times do not fit into a word.
            if next > LATEST {
                break;
            }
            self.now = next;
            self.tally.steps += 1;
            if timer == next {
                self.fire(owner);
            } else {
                let queue = if soon == next { &mut self.soon } else { &mut self.late };
                if let Some((_, notice)) = queue.pop_front() {
                    self.take(notice);
                }
            }
        }
        self.finish()
    }

    #[inline]
    fn fire(&mut self, owner: u32) {
        let (n, m) = (self.setup.senders, self.setup.receivers);
        if owner < m {
            self.leave(owner);
        } else if owner < m + n {
            let sender = owner - m;
            let frame = self.senders[sender as usize].on_wire.take();
            let next = self.feed(sender);
            self.timers.settle(owner, next);
            if let Some(frame) = frame {
                self.arrive(frame);
            }
        } else if owner < 2 * n + m {
            self.timers.settle(owner, None);
            let sender = owner - n - m;
            self.senders[sender as usize].alarm = false;
            self.kick(sender);
        } else {
            self.timers.settle(owner, None);
            self.wake_puller(owner - 2 * n - m);
        }
    }

    fn take(&mut self, notice: Notice) {
        match notice {
            Notice::Acknowledged(frame) => self.acknowledged(frame),
            Notice::TimedOut(frame) => self.timed_out(frame),
            Notice::Requested(frame) => {
                let sender = &mut self.senders[frame.sender as usize];
                sender.jobs.push_back(SendingFragment { event: frame.event, left: frame.bytes });
                self.kick(frame.sender);
            }
            Notice::Missing(frame) => {
                self.tally.repeated += 1;
                self.after_round_trip(Notice::Requested(frame));
            }
        }
    }

    /// Gives an idle card its next frame.
    pub(super) fn kick(&mut self, sender: u32) {
        if self.senders[sender as usize].on_wire.is_none()
            && let Some(time) = self.feed(sender)
        {
            let timer = self.card_timer(sender);
            self.timers.push(time, timer);
        }
    }

    /// Puts the next frame on a card's wire. Returns when it will be sent, if there is one.
    #[inline]
    fn feed(&mut self, sender: u32) -> Option<u64> {
        let windowed = !self.connections.is_empty();
        loop {
            let frame = if windowed { self.next_of_connections(sender) } else { self.next_of_jobs(sender) };
            if let Some(frame) = frame {
                self.note_begin(frame.event);
                self.tally.sent += 1;
                let end = self.now + self.wire(frame.bytes);
                self.senders[sender as usize].on_wire = Some(frame);
                return Some(end);
            }
            if self.senders[sender as usize].blocked.is_some() {
                return None;
            }
            let slot = &mut self.senders[sender as usize];
            match self.schedule.next(sender, &mut slot.cursor, self.now) {
                Next::Fragment(event) => {
                    let bytes = self.schedule.bytes(sender, event);
                    if windowed {
                        self.accept(sender, event, bytes);
                    } else {
                        slot.jobs.push_back(SendingFragment { event, left: bytes });
                    }
                }
                Next::Wait(until) => {
                    if !slot.alarm {
                        slot.alarm = true;
                        self.timers.push(until, self.setup.senders + self.setup.receivers + sender);
                    }
                    return None;
                }
                Next::Done => return None,
            }
        }
    }

    #[inline]
    fn next_of_jobs(&mut self, sender: u32) -> Option<Frame> {
        let jobs = &mut self.senders[sender as usize].jobs;
        let job = jobs.front_mut()?;
        let bytes = job.left.min(self.setup.framing.payload);
        let frame = Frame { event: job.event, sender, receiver: job.event % self.setup.receivers, bytes, order: 0 };
        job.left -= bytes;
        if job.left == 0 {
            jobs.pop_front();
        }
        Some(frame)
    }

    fn note_begin(&mut self, event: u32) {
        let building = &mut self.building[event as usize];
        if building.began == u64::MAX {
            let paced = self.setup.trigger != Trigger::Unpaced;
            building.began = if paced { self.schedule.trigger(u64::from(event)) } else { self.now };
        }
    }

    /// A frame has left its port and reaches its receiver after the latency of the path.
    #[inline]
    pub(super) fn deliver(&mut self, frame: Frame) {
        self.tally.delivered += 1;
        self.tally.payload += u64::from(frame.bytes);
        let building = &mut self.building[frame.event as usize];
        building.left -= u64::from(frame.bytes);
        if building.left == 0 {
            self.tally.built += 1;
            self.nanos.record((self.now + self.round_trip / 2 - building.began) / 1000);
        }
        if !self.connections.is_empty() {
            self.after_round_trip(Notice::Acknowledged(frame));
        } else if matches!(self.setup.pattern, TrafficPattern::Pull { .. }) {
            self.credit(frame.receiver);
        }
    }

    /// Drops a frame for lack of space.
    pub(super) fn lose(&mut self, frame: Frame) {
        if !self.connections.is_empty() {
            self.lost(frame);
        } else if matches!(self.setup.pattern, TrafficPattern::Pull { .. }) {
            self.after_timeout(Notice::Missing(frame));
        }
    }

    fn finish(mut self) -> SimulationTally {
        self.tally.seconds = self.now as f64 / TICKS + self.setup.latency;
        self.tally.fairness = fairness(self.ports.iter().map(|port| port.payload as f64));
        self.tally.latency = LatencyQuantiles::of(&self.nanos);
        self.tally
    }
}
