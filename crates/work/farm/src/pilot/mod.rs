//! A pilot: asks its coordinator for chunks, computes them, and keeps each result until it is recorded.

mod connection;
mod slot;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::job::{ChunkWorker, FarmJob};
use crate::{Error, Result};

/// Configuration of a pilot, which its launcher writes to standard input. It is not passed in arguments, which other
/// users can read.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PilotConfig {
    /// Address of the coordinator.
    pub address: String,
    /// The token for it.
    pub token: String,
    /// Name of the node; empty: the host's name.
    pub node: String,
    /// Chunks computed at the same time; 0: one for each CPU.
    pub slots: u32,
    /// Seconds for which an unreachable coordinator is tried again.
    pub patience: f64,
}

impl std::fmt::Debug for PilotConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PilotConfig").field("address", &self.address).field("node", &self.node).finish_non_exhaustive()
    }
}

/// Makes the workers of a job: one for each slot, each in its own thread.
pub trait ChunkWorkers: Send + Sync {
    /// Makes a worker.
    ///
    /// # Errors
    /// The cause, when the job cannot be done here.
    fn worker(&self, job: &FarmJob) -> std::result::Result<Box<dyn ChunkWorker>, String>;

    /// Facts about this node, for the record. Called when the pilot connects and when it ends.
    fn about(&self, job: &FarmJob) -> serde_json::Value;
}

/// Totals of a pilot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PilotTally {
    /// Results that count.
    pub counted: u64,
    /// Results that were refused as duplicates.
    pub refused: u64,
    /// Chunks that could not be done.
    pub failed: u64,
    /// Chunks that were ended because their result became unwanted.
    #[serde(default)]
    pub stopped: u64,
    /// Connections made.
    pub connections: u64,
}

/// State shared by the slots of a pilot.
#[derive(Default)]
struct PilotShared {
    /// The coordinator said that no chunk is left.
    finished: AtomicBool,
    counted: AtomicU64,
    refused: AtomicU64,
    failed: AtomicU64,
    stopped: AtomicU64,
    connections: AtomicU64,
}

/// Works until no chunk is left.
///
/// # Errors
/// When the coordinator cannot be reached in time, rejects this pilot, or refuses its results.
pub fn run_pilot(config: &PilotConfig, factory: Arc<dyn ChunkWorkers>) -> Result<PilotTally> {
    let cpus = kernels::affinity::allowed().map_or(1, |allowed| allowed.len());
    let slots = if config.slots == 0 { cpus } else { config.slots as usize };
    os::process::allow_files(slots);
    let common = Arc::new(PilotShared::default());
    let mut running = Vec::new();
    for slot in 0..slots {
        let (config, common, factory) = (config.clone(), Arc::clone(&common), Arc::clone(&factory));
        let name = format!("{}/{}/{slot}", config.node, &channel::nonce()?[..8]);
        let thread = std::thread::Builder::new()
            .name(format!("slot {slot}"))
            .spawn(move || slot::serve(&config, &name, slot == 0, &common, &factory))
            .map_err(Error::io("start a thread"))?;
        running.push(thread);
    }
    let mut ended = Ok(());
    for thread in running {
        let result = thread.join().unwrap_or_else(|_| Err(Error::Broken("a slot of this pilot died".to_owned())));
        ended = ended.and(result);
    }
    let read = |count: &AtomicU64| count.load(Ordering::SeqCst);
    ended.map(|()| PilotTally {
        counted: read(&common.counted),
        refused: read(&common.refused),
        failed: read(&common.failed),
        stopped: read(&common.stopped),
        connections: read(&common.connections),
    })
}
