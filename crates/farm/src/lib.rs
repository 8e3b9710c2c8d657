//! Production runs over many machines: a run is cut into chunks of events, pilots lease chunks, and each chunk counts once,
//! by the first durable commit, whatever dies, freezes or is cut off meanwhile.
#![forbid(unsafe_code)]

mod board;
mod chunk_set;
mod coordinator;
mod error;
mod job;
mod launch;
mod leases;
mod ledger;
mod message;
pub mod mountstats;
mod pilot;
mod shared;
mod story;

pub use board::{NodeSnapshot, Snapshot};
pub use chunk_set::ChunkSet;
pub use coordinator::{Coordinator, Settings};
pub use error::{Error, Result};
pub use job::{Chunk, Done, Job, MOST_CHUNKS, Worker, text_digest};
pub use launch::{Gone, Nodes, Processes, Slurm};
pub use leases::{Answer, Expired, Leases, Rules};
#[cfg(feature = "postgres")]
pub use ledger::PostgresLedger;
pub use ledger::{
    Asked, Begin, Commit, Elsewhere, Farm, Grant, Incident, Ledger, NodeTotals, Offer, Refusal, Share, Sharing,
    SqliteLedger, Totals, Verdict, now,
};
pub use message::{FromCoordinator, FromPilot, Lease, SERVICE};
pub use pilot::{Order, Tally, Workshop, fly};
pub use shared::{Linked, Published, SharedFarm};
pub use story::{Invariants, Story, Window};
