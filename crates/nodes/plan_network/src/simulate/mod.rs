//! A discrete-event simulation of N senders, a switch with finite buffers, and M receivers.
//!
//! Every sender has a network card that sends at the link's rate. Every frame is then queued in the switch's output
//! port, whose finite buffer drops what does not fit, or waits in its input port. An input port's buffer is finite too,
//! and its first frame blocks the others (head-of-line blocking: Karol, Hluchyj and Morgan, IEEE Transactions on
//! Communications 35, 1987). Acknowledgements and requests take the round trip and are never lost.
//!
//! All delays of one kind are equal, so that only senders and ports need a heap, with one moment for each.

mod heap;
mod pull;
mod schedule;
mod state;
mod switch;
mod tally;
mod window;
mod world;

use serde::Serialize;

use super::Framing;

pub use tally::{LatencyQuantiles, SimulationTally};

/// Sizes of fragments in bytes of payload.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum FragmentSizes {
    /// All equal.
    Fixed(u32),
    /// Exponential with this mean, truncated at 8 means.
    Exponential(f64),
    /// Drawn from measured sizes.
    Measured(Vec<u32>),
}

/// Moments of events.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub enum Trigger {
    /// All data is available from the start: every sender sends as fast as the pattern allows.
    Unpaced,
    /// One event in this many seconds.
    Every(f64),
    /// Random (Poisson), with this mean interval in seconds.
    Poisson(f64),
}

/// Order of sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum TrafficPattern {
    /// Every sender sends the fragments of event after event; event e belongs to receiver e mod M. With a trigger, each
    /// event is a burst of all senders into one port; without one, all senders visit the receivers in step.
    InOrder,
    /// Slots in which no two senders send to the same receiver.
    BarrelShift,
    /// Every sender in its own random order within each group of M events.
    Random,
    /// A receiver requests one frame at a time and has a bounded number of open requests.
    Pull {
        /// Open requests of one receiver, at most.
        credits: u32,
    },
}

/// Flow control of a pushing sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum FlowControl {
    /// None: a dropped frame is lost. A pulling receiver repeats its request.
    Datagrams,
    /// Connections with a TCP-like window: slow start, halved at a loss, bounded in size. A dropped frame is sent again
    /// after three later acknowledgements or a timeout.
    Window {
        /// Largest window, bytes of payload.
        bytes: u32,
    },
}

/// Parameters of a simulation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SimulationSetup {
    /// Sources of fragments.
    pub senders: u32,
    /// Builders of events.
    pub receivers: u32,
    /// Rate of every link, bytes a second.
    pub link_rate: f64,
    /// Delay from end to end without queues, seconds.
    pub latency: f64,
    /// Buffer of an output port, bytes, without the frame being sent.
    pub output_buffer: u64,
    /// Buffer of an input port, bytes; 0 if the switch has none.
    pub input_buffer: u64,
    /// Sizes of frames.
    pub framing: Framing,
    /// Order of sending.
    pub pattern: TrafficPattern,
    /// Flow control.
    pub flow: FlowControl,
    /// Sizes of fragments.
    pub sizes: FragmentSizes,
    /// Moments of events.
    pub trigger: Trigger,
    /// Number of events.
    pub events: u32,
    /// Timeout after which a lost frame is sent or requested again, seconds.
    pub timeout: f64,
    /// Seed of sizes, moments and orders.
    pub seed: u64,
}

impl SimulationSetup {
    /// The simulation of a burst: datagrams of `frames` full frames from each of `senders` to one receiver, `events`
    /// times with time to drain in between.
    #[must_use]
    pub fn burst(senders: u32, frames: u32, link_rate: f64, output_buffer: u64, events: u32) -> Self {
        let framing = Framing::UDP.without_gap();
        let drain = f64::from(senders) * f64::from(frames) * f64::from(framing.full()) / link_rate;
        Self {
            senders,
            receivers: 1,
            link_rate,
            latency: 0.0,
            output_buffer,
            input_buffer: 0,
            framing,
            pattern: TrafficPattern::InOrder,
            flow: FlowControl::Datagrams,
            sizes: FragmentSizes::Fixed(frames * framing.payload),
            trigger: Trigger::Every(2.0 * drain),
            events,
            timeout: 0.2,
            seed: 1,
        }
    }
}

/// Longest simulated time, seconds. It is counted in picoseconds, and a machine word holds 213 days.
const LONGEST: f64 = 6e6;
/// Most connections with windows: each takes 150 bytes.
const MOST_CONNECTIONS: u64 = 1 << 22;

impl SimulationSetup {
    /// Whether a machine can hold it: its nodes and connections, and its time even if nothing is sent at once.
    fn is_bounded(&self) -> bool {
        let (senders, receivers) = (u64::from(self.senders), u64::from(self.receivers));
        let windowed = matches!(self.flow, FlowControl::Window { .. });
        if senders + receivers >= 1 << 28 || windowed && senders * receivers > MOST_CONNECTIONS {
            return false;
        }
        let largest = match &self.sizes {
            FragmentSizes::Fixed(bytes) => f64::from(*bytes),
            FragmentSizes::Exponential(mean) => 8.0 * mean,
            FragmentSizes::Measured(sizes) => f64::from(sizes.iter().copied().max().unwrap_or(0)),
        };
        let interval = match self.trigger {
            Trigger::Unpaced => 0.0,
            Trigger::Every(seconds) | Trigger::Poisson(seconds) => seconds,
        };
        let wire = self.framing.wire(largest as u64) as f64 / self.link_rate;
        let event = interval + wire * senders.max(receivers) as f64;
        2.0 * self.latency + self.timeout + f64::from(self.events) * event <= LONGEST
    }
}

/// Runs a simulation to its end, or until twice 69 days have been simulated.
///
/// `None` if it has no sender, receiver or event, a rate that is not positive, 2^28 nodes, more than 2^22 connections
/// with windows, or takes more than 69 days.
#[must_use]
pub fn simulate(setup: &SimulationSetup) -> Option<SimulationTally> {
    let sane = setup.senders > 0 && setup.receivers > 0 && setup.events > 0;
    let finite = setup.link_rate.is_finite() && setup.link_rate > 0.0 && setup.latency >= 0.0 && setup.timeout > 0.0;
    let sized =
        !matches!(&setup.sizes, FragmentSizes::Measured(sizes) if sizes.is_empty()) && setup.framing.payload > 0;
    let credited = !matches!(setup.pattern, TrafficPattern::Pull { credits: 0 });
    (sane && finite && sized && credited && setup.is_bounded()).then(|| state::SimulationWorld::new(setup).run())
}
