//! Event building: N senders hold a fragment of every event each, M receivers put events together.

mod agent;
mod assemble;
mod count;
mod driver;
mod ledger;
mod message;
mod pull;
mod sender;
mod sizes;

pub use agent::DUTY;
pub use driver::{Outcome, Place, build};
pub use ledger::Ledger;
pub use message::{Counters, FromNode, Job, Order, Pattern, Role, ToNode, Transport};
pub use sizes::{Arrivals, Sizes};
