//! The next fragment of a sender, and its earliest time.

use super::{FragmentSizes, SimulationSetup, TrafficPattern, Trigger};

/// Picoseconds in a second.
pub(super) const TICKS: f64 = 1e12;

/// Next action of a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Send the fragment of this event.
    Fragment(u32),
    /// Nothing before this moment.
    Wait(u64),
    /// No fragment is left.
    Done,
}

/// A sender's position in its schedule.
#[derive(Debug, Clone, Default)]
pub(super) struct Cursor {
    at: u64,
    order: Vec<u32>,
}

/// The moments and orders of a whole simulation.
#[derive(Debug)]
pub(super) struct TrafficSchedule {
    pattern: TrafficPattern,
    senders: u64,
    receivers: u64,
    events: u64,
    triggers: Vec<u64>,
    every: u64,
    slot: u64,
    groups: Vec<u64>,
    sizes: FragmentSizes,
    seed: u64,
}

impl TrafficSchedule {
    pub(super) fn new(setup: &SimulationSetup, ticks_per_byte: f64) -> Self {
        let mut schedule = Self {
            pattern: setup.pattern,
            senders: u64::from(setup.senders),
            receivers: u64::from(setup.receivers),
            events: u64::from(setup.events),
            triggers: Vec::new(),
            every: 0,
            slot: 0,
            groups: Vec::new(),
            sizes: setup.sizes.clone(),
            seed: setup.seed,
        };
        match setup.trigger {
            Trigger::Unpaced => {}
            Trigger::Every(seconds) => schedule.every = (seconds * TICKS) as u64,
            Trigger::Poisson(mean) => {
                let mut now = 0.0;
                let draw = |event: u64| -mean * (1.0 - unit(mix(setup.seed ^ 0x7219, event))).ln();
                schedule.triggers = (0..schedule.events)
                    .map(|event| {
                        now += draw(event);
                        (now * TICKS) as u64
                    })
                    .collect();
            }
        }
        if setup.pattern == TrafficPattern::BarrelShift {
            schedule.slot = (setup.framing.wire(u64::from(schedule.largest())) as f64 * ticks_per_byte).ceil() as u64;
            let period = schedule.senders.max(schedule.receivers) * schedule.slot;
            let mut end = 0;
            for group in 0..schedule.events.div_ceil(schedule.receivers) {
                let start = schedule.trigger_of_group(group).max(end);
                schedule.groups.push(start);
                end = start + period;
            }
        }
        schedule
    }

    /// The moment of an event; 0 if all are available from the start.
    #[inline]
    pub(super) fn trigger(&self, event: u64) -> u64 {
        if self.triggers.is_empty() { event * self.every } else { self.triggers[event as usize] }
    }

    fn trigger_of_group(&self, group: u64) -> u64 {
        self.trigger(((group + 1) * self.receivers - 1).min(self.events - 1))
    }

    fn largest(&self) -> u32 {
        match &self.sizes {
            FragmentSizes::Fixed(bytes) => *bytes,
            FragmentSizes::Exponential(mean) => (8.0 * mean) as u32,
            FragmentSizes::Measured(sizes) => sizes.iter().copied().max().unwrap_or(0),
        }
    }

    /// Size of one fragment, bytes; at least 1.
    #[inline]
    pub(super) fn bytes(&self, sender: u32, event: u32) -> u32 {
        let draw = || mix(self.seed, u64::from(sender) << 32 | u64::from(event));
        match &self.sizes {
            FragmentSizes::Fixed(bytes) => (*bytes).max(1),
            FragmentSizes::Exponential(mean) => {
                (-mean * (1.0 - unit(draw())).ln()).clamp(1.0, 8.0 * mean.max(1.0)) as u32
            }
            FragmentSizes::Measured(sizes) => sizes[(draw() % sizes.len() as u64) as usize].max(1),
        }
    }

    /// Size of all fragments of an event, bytes.
    pub(super) fn event_bytes(&self, event: u32) -> u64 {
        match self.sizes {
            FragmentSizes::Fixed(bytes) => self.senders * u64::from(bytes.max(1)),
            _ => (0..self.senders as u32).map(|sender| u64::from(self.bytes(sender, event))).sum(),
        }
    }

    /// Next action of `sender`; a returned fragment will not be returned again.
    #[inline]
    pub(super) fn next(&self, sender: u32, cursor: &mut Cursor, now: u64) -> Next {
        loop {
            let (event, from) = match self.pattern {
                TrafficPattern::Pull { .. } => return Next::Done,
                TrafficPattern::InOrder => {
                    (cursor.at, if cursor.at < self.events { self.trigger(cursor.at) } else { 0 })
                }
                TrafficPattern::Random => self.random(sender, cursor),
                TrafficPattern::BarrelShift => {
                    let period = self.senders.max(self.receivers);
                    let (group, slot) = (cursor.at / period, cursor.at % period);
                    let Some(start) = self.groups.get(group as usize) else { return Next::Done };
                    let receiver = (slot + u64::from(sender)) % period;
                    let event = group * self.receivers + receiver;
                    if receiver >= self.receivers || event >= self.events {
                        cursor.at += 1;
                        continue;
                    }
                    (event, start + slot * self.slot)
                }
            };
            if event >= self.events {
                return Next::Done;
            }
            if from > now {
                return Next::Wait(from);
            }
            cursor.at += 1;
            return Next::Fragment(event as u32);
        }
    }

    fn random(&self, sender: u32, cursor: &mut Cursor) -> (u64, u64) {
        let (group, place) = (cursor.at / self.receivers, cursor.at % self.receivers);
        let first = group * self.receivers;
        if first >= self.events {
            return (self.events, 0);
        }
        let count = self.receivers.min(self.events - first);
        if place >= count {
            return (self.events, 0);
        }
        if place == 0 {
            cursor.order = (0..count as u32).collect();
            // Fisher and Yates.
            for left in (1..count).rev() {
                let other = mix(self.seed ^ group.rotate_left(17), u64::from(sender) << 32 | left) % (left + 1);
                cursor.order.swap(left as usize, other as usize);
            }
        }
        (first + u64::from(cursor.order[place as usize]), self.trigger_of_group(group))
    }
}

/// The splitmix64 generator's output function (Steele, Lea and Flood, OOPSLA 2014) over two words.
pub(super) fn mix(a: u64, b: u64) -> u64 {
    let mut z = a.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(b).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number in 0..1.
fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}
