//! A pilot: asks the coordinator of its order for chunks, does them, and holds on to a result until it is settled.

mod connection;
mod slot;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::job::{ChunkWorker, FarmJob};
use crate::{Error, Result};

/// What a pilot is told by its launcher on standard input, never in its arguments: other users can read those.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PilotConfig {
    /// Where the coordinator listens.
    pub address: String,
    /// What lets it in.
    pub token: String,
    /// Name of the node; empty: the host's name.
    pub node: String,
    /// Chunks at a time; 0: as many as there are CPUs.
    pub slots: u32,
    /// Seconds for which a coordinator that does not answer is waited for.
    pub patience: f64,
}

impl std::fmt::Debug for PilotConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Order").field("address", &self.address).field("node", &self.node).finish_non_exhaustive()
    }
}

/// Makes workers of a job: one a slot, each in its own thread.
pub trait Workshop: Send + Sync {
    /// A worker.
    ///
    /// # Errors
    /// In words, when the job cannot be done here.
    fn worker(&self, job: &FarmJob) -> std::result::Result<Box<dyn ChunkWorker>, String>;

    /// Facts about this node, for the record: asked when the pilot comes, and when it goes.
    fn about(&self, job: &FarmJob) -> serde_json::Value;
}

/// What a pilot did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PilotTally {
    /// Results that count.
    pub counted: u64,
    /// Results that came too late.
    pub refused: u64,
    /// Chunks that could not be done.
    pub failed: u64,
    /// Connections made.
    pub connections: u64,
}

/// What the slots of a pilot share.
#[derive(Default)]
struct PilotShared {
    /// One slot was told that nothing is left to do.
    finished: AtomicBool,
    counted: AtomicU64,
    refused: AtomicU64,
    failed: AtomicU64,
    connections: AtomicU64,
    /// Coordinators of the same run that would take this pilot, should its own be gone.
    others: Mutex<Vec<String>>,
}

impl PilotShared {
    /// The addresses to try, one after the other.
    fn addresses(&self, own: &str) -> Vec<String> {
        let others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        std::iter::once(own.to_owned()).chain(others.iter().filter(|other| *other != own).cloned()).collect()
    }
}

/// Works until nothing is left to do.
///
/// # Errors
/// When the coordinator does not answer in time, does not let this pilot in, or refuses what it offers.
pub fn run_pilot(order: &PilotConfig, workshop: Arc<dyn Workshop>) -> Result<PilotTally> {
    let cpus = sys::affinity::allowed().map_or(1, |allowed| allowed.len());
    let slots = if order.slots == 0 { cpus } else { order.slots as usize };
    crate::coordinator::allow_files(slots);
    let common = Arc::new(PilotShared::default());
    let mut running = Vec::new();
    for slot in 0..slots {
        let (order, common, workshop) = (order.clone(), Arc::clone(&common), Arc::clone(&workshop));
        let name = format!("{}/{}/{slot}", order.node, &channel::nonce()?[..8]);
        let thread = std::thread::Builder::new()
            .name(format!("slot {slot}"))
            .spawn(move || slot::serve(&order, &name, slot == 0, &common, &workshop))
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
        connections: read(&common.connections),
    })
}
