//! Production runs over many machines: a run is cut into chunks of events, pilots lease chunks, and each chunk counts
//! once, by the first durable commit, whatever dies, freezes or is cut off meanwhile.
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

pub use board::{FarmSnapshot, NodeSnapshot};
pub use chunk_set::ChunkSet;
pub use coordinator::{Coordinator, CoordinatorSettings};
pub use error::{Error, Result};
pub use job::{Chunk, ChunkResult, ChunkWorker, FarmJob, MAX_CHUNKS, text_digest};
pub use launch::{Disconnected, PilotLauncher, Processes, SlurmPilots};
pub use leases::{Expired, LeaseAnswer, LeaseRules, Leases};
#[cfg(feature = "postgres")]
pub use ledger::PostgresLedger;
pub use ledger::{
    Begin, ChunkVerdict, Commit, CoordinatorReport, CoordinatorShare, Elsewhere, Farm, Grant, Incident, Ledger,
    LedgerSharing, NodeTotals, OfferedResult, Refusal, SqliteLedger, Totals, now,
};
pub use message::{FromCoordinator, FromPilot, Lease, SERVICE};
pub use pilot::{PilotConfig, PilotTally, Workshop, run_pilot};
pub use shared::{Linked, Published, SharedFarm};
pub use story::{Invariants, RateWindow, Story};
