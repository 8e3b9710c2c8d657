//! A receiver that requests datagrams one by one, with a bounded number of open requests, and repeats a request without
//! a reply. Timeouts follow the measured latency (RFC 6298; samples of repeated requests are not used, after Karn and
//! Partridge, SIGCOMM 1987).

use std::collections::{HashMap, VecDeque};
use std::net::{SocketAddr, UdpSocket};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use super::control::{Control, SendReply, StartMoment, peers, start};
use super::count::Reports;
use super::message::{BuildOrder, BuildReply, BuildRequest, CHUNK, DatagramHeader, HEAD, NodeCounters};
use super::payload::{Part, PayloadCheck};
use super::sizes::EventTimes;
use crate::{Error, Result};

/// Least timeout, nanoseconds: below it, a delay of the scheduler would count as a loss.
const LEAST: f64 = 10e6;
/// Largest timeout, nanoseconds.
const MOST: f64 = 1e9;
/// Interval at which open requests are checked.
const POLL_INTERVAL: Duration = Duration::from_millis(4);

/// Timeout estimated from latencies.
struct RetryTimeout {
    mean: f64,
    deviation: f64,
    timeout: f64,
}

impl RetryTimeout {
    fn new() -> Self {
        Self { mean: 0.0, deviation: 0.0, timeout: 200e6 }
    }

    fn observe(&mut self, nanos: f64) {
        if self.mean == 0.0 {
            (self.mean, self.deviation) = (nanos, nanos / 2.0);
        } else {
            self.deviation = 0.75 * self.deviation + 0.25 * (self.mean - nanos).abs();
            self.mean = 0.875 * self.mean + 0.125 * nanos;
        }
        self.timeout = (self.mean + 4.0 * self.deviation).clamp(LEAST, MOST);
    }

    fn back_off(&mut self) {
        self.timeout = (2.0 * self.timeout).min(MOST);
    }
}

/// A datagram: event, sender, chunk.
type Key = (u32, u32, u32);

struct FragmentPuller<'a> {
    order: &'a BuildOrder,
    times: EventTimes,
    index: u32,
    socket: UdpSocket,
    senders: Vec<SocketAddr>,
    began: u64,
    waiting: VecDeque<u32>,
    current: Option<(u32, u32, u32)>,
    open: HashMap<Key, (u64, bool)>,
    building: HashMap<u32, (u32, u64)>,
    timeout: RetryTimeout,
    counters: NodeCounters,
    check: PayloadCheck,
}

pub(super) fn work(
    index: u32,
    credits: u32,
    order: &BuildOrder,
    requests: &Receiver<BuildRequest>,
    control: &Control,
    reply: SendReply,
) -> Result<NodeCounters> {
    let socket = UdpSocket::bind(SocketAddr::new(order.address, 0)).map_err(Error::io("make a socket"))?;
    os::socket::set_receive_buffer(&socket, 4 << 20)?;
    socket.set_read_timeout(Some(POLL_INTERVAL)).map_err(Error::io("wait for fragments"))?;
    reply(BuildReply::Ready { address: socket.local_addr().map_err(Error::io("read the address of the socket"))? })?;
    let senders = peers(requests)?;
    let check = PayloadCheck::new();
    reply(BuildReply::Connected)?;
    let StartMoment { began, due } = start(requests)?;
    let own = (index..order.job.events).step_by(order.job.receivers as usize);
    let mut puller = FragmentPuller {
        order,
        times: EventTimes::of(&order.job),
        index,
        socket,
        senders,
        began,
        waiting: own.collect(),
        current: None,
        open: HashMap::new(),
        building: HashMap::new(),
        timeout: RetryTimeout::new(),
        counters: NodeCounters::new(began, order.job.senders as usize),
        check,
    };
    let mut reports = Reports::new(due);
    let mut looked = began;
    while !control.ended() {
        while puller.open.len() < credits as usize && puller.ask() {}
        puller.receive(&mut reports);
        let now = kernels::clock::now();
        if now - looked > POLL_INTERVAL.as_nanos() as u64 {
            looked = now;
            puller.repeat(now);
            puller.waiting.extend(control.given());
        }
        reports.reply(reply, false)?;
    }
    if !control.die.load(std::sync::atomic::Ordering::Relaxed) {
        reports.reply(reply, true)?;
        puller.drain();
    }
    puller.counters.verified = puller.check.seen;
    puller.counters.socket_drops = os::socket::drops(&puller.socket).unwrap_or(0);
    Ok(puller.counters)
}

impl FragmentPuller<'_> {
    /// Receives the answers to repeated requests that are still on their way when all events are built: those that came
    /// are not lost.
    fn drain(&mut self) {
        /// The receiver stops waiting after this time without an answer.
        const QUIET: Duration = Duration::from_millis(20);
        let due = |counters: &NodeCounters| counters.received + counters.needless < counters.sent;
        if !due(&self.counters) || self.socket.set_read_timeout(Some(QUIET)).is_err() {
            return;
        }
        let mut datagram = [0; HEAD + CHUNK as usize];
        while due(&self.counters) {
            let Ok((length, from)) = self.socket.recv_from(&mut datagram) else { return };
            let head = DatagramHeader::of_whole(&datagram[..length], &self.order.job);
            if let Some(head) = head.filter(|head| self.senders.get(head.sender as usize) == Some(&from)) {
                self.check.whole(&Part::datagram(&self.order.job, head), &datagram[HEAD..length]);
                self.counters.not_needed(head.sender as usize, (length - HEAD) as u64);
            }
        }
    }

    /// Requests the next datagram; `false` when there is none to request now.
    fn ask(&mut self) -> bool {
        let job = &self.order.job;
        let (event, place, chunk) = match self.current {
            Some(current) => current,
            None => {
                let Some(event) = self.waiting.front().copied() else { return false };
                let due = self.times.due(self.began, event);
                let now = kernels::clock::now();
                if due > now {
                    return false;
                }
                self.waiting.pop_front();
                let from = if job.rate.is_some() { due } else { now };
                self.building.insert(event, (job.datagrams(event), from));
                (event, 0, 0)
            }
        };
        // Receivers begin with different senders, to spread the load.
        let sender = (self.index + place) % job.senders;
        self.current = match (place, chunk) {
            (_, chunk) if chunk + 1 < job.chunks(event, sender) => Some((event, place, chunk + 1)),
            (place, _) if place + 1 < job.senders => Some((event, place + 1, 0)),
            _ => None,
        };
        self.send((event, sender, chunk), true);
        true
    }

    fn send(&mut self, key: Key, first: bool) {
        let mut request = [0; HEAD];
        DatagramHeader { seed: self.order.job.seed, event: key.0, sender: key.1, chunk: key.2 }.write(&mut request);
        // A datagram refused by the kernel counts as lost: it is sent again.
        if self.socket.send_to(&request, self.senders[key.1 as usize]).is_err() {
            self.counters.queue_full += 1;
        }
        self.counters.sent += 1;
        self.open.insert(key, (kernels::clock::now(), first));
    }

    fn receive(&mut self, reports: &mut Reports) {
        if self.open.is_empty() {
            // No request is open: the next event may be due before a wait for datagrams would end.
            let due = self.waiting.front().map_or(u64::MAX, |event| self.times.due(self.began, *event));
            let left = Duration::from_nanos(due.saturating_sub(kernels::clock::now()));
            kernels::timer::sleep(left.min(POLL_INTERVAL));
            return;
        }
        let mut datagram = [0; HEAD + CHUNK as usize];
        let Ok((length, from)) = self.socket.recv_from(&mut datagram) else { return };
        let Some(head) = DatagramHeader::of_whole(&datagram[..length], &self.order.job) else { return };
        if self.senders.get(head.sender as usize) != Some(&from) {
            return;
        }
        self.check.whole(&Part::datagram(&self.order.job, head), &datagram[HEAD..length]);
        let Some((sent, first)) = self.open.remove(&(head.event, head.sender, head.chunk)) else {
            self.counters.not_needed(head.sender as usize, (length - HEAD) as u64);
            return;
        };
        let now = kernels::clock::now();
        if first {
            self.timeout.observe((now - sent) as f64);
        }
        self.counters.received += 1;
        self.counters.moved(head.sender as usize, (length - HEAD) as u64);
        if let Some((left, began)) = self.building.get_mut(&head.event) {
            *left -= 1;
            if *left == 0 {
                self.counters.completed_by(head.sender as usize);
                reports.built(head.event, now, *began);
                self.building.remove(&head.event);
            }
        }
    }

    /// Repeats requests whose reply is overdue.
    fn repeat(&mut self, now: u64) {
        let timeout = self.timeout.timeout as u64;
        let late: Vec<Key> = self
            .open
            .iter()
            .filter(|(_, (sent, _))| now.saturating_sub(*sent) > timeout)
            .map(|(key, _)| *key)
            .collect();
        if late.is_empty() {
            return;
        }
        self.timeout.back_off();
        for key in late {
            self.counters.again += 1;
            self.send(key, false);
        }
    }
}
