//! The data path: blocking threads, a stop flag, and no clock in the inner loop.

mod cpu;
mod datagram;
mod options;
mod sample;
mod stream;
mod thread;
mod ticket;

pub use cpu::{Cpu, CpuWatch};
pub use datagram::Received;
pub(crate) use datagram::{HEADER, Header, count, echo_datagrams, greet, welcome};
pub use options::Options;
pub use sample::Snapshot;
pub(crate) use sample::{Blocks, Watched};
pub(crate) use stream::{Flows, echo, receive, send};
pub(crate) use thread::{start, start_flows};
pub(crate) use ticket::take;
