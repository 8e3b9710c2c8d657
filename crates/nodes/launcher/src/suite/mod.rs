//! A suite on every node: each measures itself and returns its run document over its output.

mod agent;
mod collect;
mod driver;
mod heard;
mod life;
mod message;

pub use agent::DUTY;
pub use driver::{Measured, gather};
pub use heard::{Heard, NodeState};
pub use message::{NodeEnd, SuiteOrder, SuiteReply, SuiteRequest};
