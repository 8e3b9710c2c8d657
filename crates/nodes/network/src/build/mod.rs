//! Event building: N senders each have a fragment of every event, and M receivers assemble the events.

mod agent;
mod assemble;
mod control;
mod count;
mod driver;
mod ledger;
mod message;
mod outcome;
mod payload;
mod pull;
mod sender;
mod sizes;

pub use agent::DUTY;
pub use driver::build;
pub use ledger::EventLedger;
pub use message::{
    Arrivals, BuildJob, BuildOrder, BuildReply, BuildRequest, NodeCounters, NodeRole, PushPattern, SizeDistribution,
    Transport, VerifiedPayload, WrongByte,
};
pub use outcome::{BuildOutcome, NodePlace};
