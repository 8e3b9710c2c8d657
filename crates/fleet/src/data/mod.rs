//! The data path: blocking threads, a stop flag, and no clock in the inner loop.

mod cpu;
mod datagram;
mod options;
mod sample;
mod stream;

pub use cpu::{Cpu, CpuWatch};
pub use datagram::Received;
#[allow(unused_imports, reason = "the sender of counted datagrams is not built yet")]
pub(crate) use datagram::{HEADER, Header, count, echo_datagrams, greet, welcome};
pub use options::Options;
pub use sample::Snapshot;
pub(crate) use sample::{Blocks, Watched};
#[allow(unused_imports, reason = "event building names single flows")]
pub(crate) use stream::{Flow, Flows, echo, receive, send};
