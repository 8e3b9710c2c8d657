//! Pilots as Slurm jobs, one a node: batch jobs that Slurm starts again when their node dies (`--requeue`, sbatch(1)).
//!
//! Slurm starts at least once, never exactly once: the ledger decides what counts. The order stands in the batch script
//! as the pilot's standard input, which Slurm shows to the job's owner alone; it is in nobody's arguments.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fleet::launcher::slurm::{Batch, cancel, jobs, submit};

use super::{Gone, Nodes};
use crate::pilot::Order;
use crate::{Error, Result};

/// How often Slurm is asked which jobs are there.
const LOOK: Duration = Duration::from_secs(5);
/// States in which a job will not come back (squeue(1), JOB STATE CODES).
const OVER: [&str; 8] =
    ["BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "OUT_OF_MEMORY", "REVOKED", "TIMEOUT"];

/// Pilots as batch jobs.
pub struct Slurm {
    /// This program, where the nodes find it.
    program: String,
    /// What sbatch is given besides, such as a partition.
    options: Vec<String>,
    /// Time after which Slurm ends a pilot.
    limit: Duration,
    name: String,
    running: BTreeMap<usize, u64>,
    looked: Instant,
}

impl Slurm {
    /// Jobs that run `program farm pilot`.
    #[must_use]
    pub fn new(program: &str, options: Vec<String>, limit: Duration) -> Self {
        let (program, name) = (program.to_owned(), "prony-farm".to_owned());
        Self { program, options, limit, name, running: BTreeMap::new(), looked: Instant::now() }
    }
}

impl Nodes for Slurm {
    fn name(&self, _node: usize) -> String {
        String::new()
    }

    fn start(&mut self, node: usize, order: &Order) -> Result<String> {
        let batch = Batch {
            name: self.name.clone(),
            time_limit: self.limit,
            options: self.options.clone(),
            command: [self.program.as_str(), "farm", "pilot"].map(str::to_owned).to_vec(),
            input: Some(serde_json::to_string(order).map_err(|error| Error::Usage(error.to_string()))?),
            ..Batch::default()
        };
        let id = submit(&batch, &[])?;
        self.running.insert(node, id);
        Ok(format!("job {id}"))
    }

    fn adopt(&mut self, node: usize, said: &str) {
        if let Some(id) = said.strip_prefix("job ").and_then(|id| id.parse().ok()) {
            self.running.insert(node, id);
        }
    }

    fn is_there(&self, node: usize) -> bool {
        self.running.contains_key(&node)
    }

    fn look(&mut self) -> Vec<Gone> {
        if self.running.is_empty() || self.looked.elapsed() < LOOK {
            return Vec::new();
        }
        self.looked = Instant::now();
        // A controller that does not answer, or does not know a job yet or any more, says nothing about pilots.
        let Ok(found) = jobs(&self.name) else { return Vec::new() };
        let over = |id: u64| {
            let job = found.iter().find(|job| job.id == id)?;
            OVER.iter()
                .any(|state| job.state.starts_with(state))
                .then(|| format!("job {id}: {} {}", job.state, job.reason))
        };
        let ended: Vec<Gone> =
            self.running.iter().filter_map(|(node, id)| Some(Gone { node: *node, said: over(*id)? })).collect();
        for gone in &ended {
            self.running.remove(&gone.node);
        }
        ended
    }

    fn end(&mut self) {
        let all: Vec<u64> = std::mem::take(&mut self.running).into_values().collect();
        // Those that ended by themselves cannot be ended again.
        let _ = cancel(&all);
    }
}
