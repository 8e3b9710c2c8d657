//! The data path: blocking threads, a stop flag, and no clock in the inner loop.

mod api;
mod cpu;
mod datagram;
mod evidence;
mod options;
mod sample;
mod stream;
mod thread;
mod ticket;
mod work;

pub use api::Api;
pub(crate) use api::{Sending, receive_multishot, send};
pub use cpu::{CpuUse, CpuWatch};
pub use datagram::Received;
pub(crate) use datagram::{HEADER, Header, count, echo_datagrams, greet, welcome};
pub use evidence::EndEvidence;
pub(crate) use evidence::EvidenceWatch;
pub use options::SocketOptions;
pub(crate) use options::unconnected;
pub use sample::TcpSnapshot;
pub(crate) use sample::{Blocks, WatchedConnection};
pub(crate) use stream::{FlowCounter, FlowLimit, Flows, echo, receive};
pub(crate) use thread::{DataSockets, Ways, start, start_flows, start_receiving, start_sending};
pub(crate) use ticket::take;
pub use work::ReceiverWork;
pub(crate) use work::{receive_messages, send_framed};
