//! Planning a network in which many send to few: the buffer relation of event builders with all its inverses, the
//! limits of windows, and a simulator of a switch with finite buffers.
#![forbid(unsafe_code)]

mod design;
mod framing;
mod load;
mod relation;
mod scale;
pub mod simulate;

pub use design::{Design, DesignFinding, PrintedNumber};
pub use framing::Framing;
pub use load::{LoadPoint, knee};
pub use relation::{
    Burst, burst_seconds, frames_per_sender, lost_frames, lost_share, most_senders, port_rate, window_bytes,
    window_for_rate,
};
pub use scale::{ScaleDesign, ScaleLimit, ScaleLoad, ScalePoint, ScalePrediction, predict};
pub use simulate::{FlowControl, FragmentSizes, SimulationSetup, SimulationTally, TrafficPattern, Trigger, simulate};
