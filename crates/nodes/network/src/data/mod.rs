//! The data path: blocking threads, a stop flag, and no clock in the inner loop.

mod cpu;
mod datagram;
mod options;
mod sample;
mod stream;
mod thread;
mod ticket;

pub use cpu::{CpuUse, CpuWatch};
pub use datagram::Received;
pub(crate) use datagram::{HEADER, Header, count, echo_datagrams, greet, welcome};
pub use options::SocketOptions;
pub(crate) use options::unconnected;
pub use sample::TcpSnapshot;
pub(crate) use sample::{Blocks, WatchedConnection};
pub(crate) use stream::{FlowCounter, FlowLimit, Flows, echo, receive, send};
pub(crate) use thread::{DataSockets, start, start_flows};
pub(crate) use ticket::take;
