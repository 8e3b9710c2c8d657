//! Batch jobs over many machines. A run is cut into chunks of events, pilots lease chunks, and each chunk counts once,
//! by the first durable commit, even if machines die, freeze or lose their network.
#![forbid(unsafe_code)]

mod board;
mod chunk_set;
mod clock;
mod coordinator;
mod energy;
mod error;
mod job;
mod launch;
mod leases;
mod ledger;
mod message;
pub mod mountstats;
mod pilot;
mod products;
mod shared;
mod stage;
mod story;

pub use board::{FarmSnapshot, NodeSnapshot};
pub use chunk_set::ChunkSet;
pub use clock::{FarmClock, HostClock, Stamp, now};
pub use coordinator::{Coordinator, CoordinatorSettings};
pub use energy::EnergyMeter;
pub use error::{Error, Result};
pub use job::{Attempt, Chunk, ChunkResult, ChunkWorker, FarmJob, MAX_CHUNKS, text_digest};
pub use launch::{Disconnected, PilotLauncher, Processes, SlurmPilots};
pub use leases::{Expired, LeaseAnswer, LeaseRules, Leases};
pub use ledger::{
    Begin, ChunkVerdict, Commit, DAMAGED, Farm, Incident, Ledger, NodeTotals, OfferedResult, RecordedOffer, Refusal,
    SqliteLedger, Totals, Withdrawal,
};
pub use message::{FromCoordinator, FromPilot, Lease, SERVICE};
pub use pilot::{ChunkWorkers, PilotConfig, PilotTally, run_pilot};
pub use products::{Product, ProductFolder, Repaired, Settled};
pub use shared::{Linked, Published, SharedFarm};
pub use stage::{StageCache, StagedFile};
pub use story::{Invariants, Story, Suspect};
