//! Pilots as Slurm jobs, one a node: batch jobs that Slurm starts again when their node dies (`--requeue`, sbatch(1)).
//!
//! Where a site or an option forbids that, or somebody cancels a pilot, the job is over, and who drives the farm hands in
//! another. Slurm starts at least once, never exactly once: the ledger decides what counts. The order stands in the batch script
//! as the pilot's standard input, which Slurm shows to the job's owner alone; it is in nobody's arguments.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fleet::launcher::slurm::{Batch, cancel, jobs, submit};

use super::{Disconnected, PilotLauncher};
use crate::pilot::PilotConfig;
use crate::{Error, Result};

/// How often Slurm is asked which jobs are there.
const LOOK: Duration = Duration::from_secs(5);
/// A job that Slurm does not list, or lists as lost, for so long is not waited for any more. At worst one pilot more comes.
const FORGOTTEN: Duration = Duration::from_secs(60);

/// The job of a pilot.
struct Handed {
    id: u64,
    /// When it was last known to be there or on its way.
    known: Instant,
}

impl Handed {
    fn now(id: u64) -> Self {
        Self { id, known: Instant::now() }
    }
}

/// Pilots as batch jobs.
pub struct SlurmPilots {
    /// This program, where the nodes find it.
    program: String,
    /// What sbatch is given besides, such as a partition.
    options: Vec<String>,
    /// Time after which Slurm ends a pilot.
    limit: Duration,
    name: String,
    running: BTreeMap<usize, Handed>,
    looked: Instant,
}

impl SlurmPilots {
    /// Jobs that run `program farm pilot`.
    #[must_use]
    pub fn new(program: &str, options: Vec<String>, limit: Duration) -> Self {
        let (program, name) = (program.to_owned(), "prony-farm".to_owned());
        Self { program, options, limit, name, running: BTreeMap::new(), looked: Instant::now() }
    }
}

impl PilotLauncher for SlurmPilots {
    fn name(&self, _node: usize) -> String {
        String::new()
    }

    fn start(&mut self, node: usize, order: &PilotConfig) -> Result<String> {
        let batch = Batch {
            name: self.name.clone(),
            time_limit: self.limit,
            options: self.options.clone(),
            command: [self.program.as_str(), "farm", "pilot"].map(str::to_owned).to_vec(),
            input: Some(serde_json::to_string(order).map_err(|error| Error::Usage(error.to_string()))?),
            ..Batch::default()
        };
        let id = submit(&batch, &[])?;
        self.running.insert(node, Handed::now(id));
        Ok(format!("job {id}"))
    }

    fn adopt(&mut self, node: usize, said: &str) {
        if let Some(id) = said.strip_prefix("job ").and_then(|id| id.parse().ok()) {
            self.running.insert(node, Handed::now(id));
        }
    }

    fn is_there(&self, node: usize) -> bool {
        self.running.contains_key(&node)
    }

    fn look(&mut self) -> Vec<Disconnected> {
        if self.running.is_empty() || self.looked.elapsed() < LOOK {
            return Vec::new();
        }
        self.looked = Instant::now();
        // A controller that does not answer, or does not know a job yet or any more, says nothing about pilots.
        let Ok(found) = jobs(&self.name) else { return Vec::new() };
        let mut ended = Vec::new();
        for (node, handed) in &mut self.running {
            let job = found.iter().find(|job| job.id == handed.id);
            if job.is_some_and(|job| !job.is_lost()) {
                handed.known = Instant::now();
            }
            let forgotten = handed.known.elapsed() > FORGOTTEN;
            let id = handed.id;
            let said = match job {
                Some(job) if job.is_over() || forgotten => format!("job {id}: {} {}", job.state, job.reason),
                None if forgotten => format!("job {id}: Slurm does not list it any more"),
                _ => continue,
            };
            ended.push(Disconnected { node: *node, said });
        }
        for gone in &ended {
            self.running.remove(&gone.node);
        }
        ended
    }

    fn end(&mut self) {
        let all: Vec<u64> = std::mem::take(&mut self.running).into_values().map(|handed| handed.id).collect();
        // Those that ended by themselves cannot be ended again.
        let _ = cancel(&all);
    }
}
