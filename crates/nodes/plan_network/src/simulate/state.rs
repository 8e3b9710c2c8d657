//! The state of a simulation: senders and their cards, the ports of the switch, connections, receivers that ask, events
//! on their way. The files next to this one change it.

use std::collections::VecDeque;

use stats::Histogram;

use super::SimulationSetup;
use super::heap::Heap;
use super::schedule::{Cursor, TrafficSchedule};
use super::tally::SimulationTally;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Frame {
    pub(super) event: u32,
    pub(super) sender: u32,
    pub(super) receiver: u32,
    /// Payload.
    pub(super) bytes: u32,
    /// Position in its connection's order of sending.
    pub(super) order: u32,
}

/// A fragment that is being sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct SendingFragment {
    pub(super) event: u32,
    pub(super) left: u32,
}

/// A network card and its sender.
#[derive(Debug, Default)]
pub(super) struct Sender {
    pub(super) cursor: Cursor,
    pub(super) jobs: VecDeque<SendingFragment>,
    /// Connections with data to send and space in their window.
    pub(super) ready: VecDeque<u32>,
    /// Connection whose socket buffer is full, which stops the sender.
    pub(super) blocked: Option<u32>,
    pub(super) on_wire: Option<Frame>,
    pub(super) alarm: bool,
}

/// A notice that arrives after a fixed delay.
#[derive(Debug, Clone, Copy)]
pub(super) enum Notice {
    /// A frame of a connection was received.
    Acknowledged(Frame),
    /// A receiver requests a frame.
    Requested(Frame),
    /// Timeout of a frame of a connection.
    TimedOut(Frame),
    /// Timeout of a frame that a receiver requested.
    Missing(Frame),
}

/// An event being assembled.
#[derive(Debug, Clone, Copy)]
pub(super) struct Building {
    pub(super) left: u64,
    pub(super) began: u64,
}

/// An output port.
#[derive(Debug, Default)]
pub(super) struct Port {
    pub(super) on_wire: Option<Frame>,
    pub(super) queue: VecDeque<Frame>,
    pub(super) held: u64,
    /// Inputs whose first frame waits for space here.
    pub(super) waiting: VecDeque<u32>,
    pub(super) payload: u64,
}

/// An input port.
#[derive(Debug, Default)]
pub(super) struct Input {
    pub(super) queue: VecDeque<Frame>,
    pub(super) held: u64,
}

/// One sender's connection to one receiver.
#[derive(Debug, Clone, Default)]
pub(super) struct WindowedConnection {
    /// Fragments accepted and not yet sent: event and bytes left.
    pub(super) backlog: VecDeque<(u32, u32)>,
    pub(super) waiting: u64,
    pub(super) again: VecDeque<Frame>,
    pub(super) lost: Vec<Frame>,
    pub(super) in_flight: u32,
    pub(super) window: u32,
    pub(super) threshold: u32,
    pub(super) order: u32,
    /// Losses of frames before this one belong to a window that has been halved already.
    pub(super) recover: u32,
    pub(super) queued: bool,
}

/// Requests of a receiver.
#[derive(Debug, Default)]
pub(super) struct PullState {
    pub(super) free: u32,
    pub(super) event: u64,
    pub(super) fragment: u32,
    pub(super) offset: u32,
    pub(super) alarm: bool,
}

/// The complete state of a simulation.
pub(super) struct SimulationWorld<'a> {
    pub(super) setup: &'a SimulationSetup,
    pub(super) schedule: TrafficSchedule,
    pub(super) now: u64,
    pub(super) timers: Heap,
    pub(super) soon: VecDeque<(u64, Notice)>,
    pub(super) late: VecDeque<(u64, Notice)>,
    pub(super) senders: Vec<Sender>,
    pub(super) ports: Vec<Port>,
    pub(super) inputs: Vec<Input>,
    pub(super) connections: Vec<WindowedConnection>,
    pub(super) pullers: Vec<PullState>,
    pub(super) building: Vec<Building>,
    pub(super) nanos: Histogram,
    pub(super) tally: SimulationTally,
    pub(super) ticks_per_byte: f64,
    pub(super) full: u64,
    pub(super) round_trip: u64,
    pub(super) timeout: u64,
}
