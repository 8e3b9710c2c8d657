//! Pilots as Slurm jobs, one a node: batch jobs that Slurm starts again when their node dies (`--requeue`, sbatch(1)).
//!
//! When a site or an option forbids that, or a user cancels a pilot, the job is over, and the driver of the farm
//! submits another. Slurm starts a job at least once, not exactly once; the ledger decides what counts. The
//! configuration is part of the batch script as the pilot's standard input, which Slurm shows only to the job's owner;
//! it never appears in arguments.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use launcher::slurm::{Batch, SlurmJob, SubmittedId, cancel, cancelling, jobs, submit};

use super::{Disconnected, PilotLauncher};
use crate::pilot::PilotConfig;
use crate::{Error, Result};

/// Interval at which Slurm is asked for its jobs.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// A job that Slurm has not listed for this long, or lists as lost, is given up. In the worst case one pilot too many
/// runs until the end.
const GIVE_UP_AFTER: Duration = Duration::from_secs(60);

/// Pauses before each attempt to cancel jobs: a controller may just be restarted.
const CANCEL_PAUSES: [Duration; 3] = [Duration::ZERO, Duration::from_secs(1), Duration::from_secs(3)];

/// The job of a pilot.
struct SubmittedJob {
    id: SubmittedId,
    /// When Slurm last listed it as running or waiting.
    known: Instant,
}

impl SubmittedJob {
    fn now(id: SubmittedId) -> Self {
        Self { id, known: Instant::now() }
    }
}

/// Pilots as batch jobs.
pub struct SlurmPilots {
    /// Path of this program on the nodes.
    program: String,
    /// Further options of sbatch, such as a partition.
    options: Vec<String>,
    /// Time limit of a pilot.
    limit: Duration,
    name: String,
    running: BTreeMap<usize, SubmittedJob>,
    /// Jobs that were given up, and that may be there all the same: they are cancelled at the end.
    given_up: Vec<SubmittedId>,
    looked: Instant,
}

/// The jobs that each cluster lists; `None` where its controller does not answer.
type Listed = BTreeMap<Option<String>, Option<Vec<SlurmJob>>>;

impl SlurmPilots {
    /// Jobs that run `program farm pilot`.
    #[must_use]
    pub fn new(program: &str, options: Vec<String>, limit: Duration) -> Self {
        let (program, name) = (program.to_owned(), "prony-farm".to_owned());
        Self { program, options, limit, name, running: BTreeMap::new(), given_up: Vec::new(), looked: Instant::now() }
    }

    /// The pilots that ended, by what Slurm lists now.
    fn ended(&mut self, listed: &Listed, now: Instant) -> Vec<Disconnected> {
        let mut ended = Vec::new();
        for (node, submitted) in &mut self.running {
            // A controller that does not answer, or does not list a job, is no evidence that pilots ended.
            let Some(Some(found)) = listed.get(&submitted.id.cluster) else { continue };
            let job = found.iter().find(|job| job.id == submitted.id.number);
            if job.is_some_and(|job| !job.is_lost()) {
                submitted.known = now;
            }
            let overdue = now.saturating_duration_since(submitted.known) > GIVE_UP_AFTER;
            let id = &submitted.id;
            let said = match job {
                Some(job) if job.is_over() || overdue => format!("job {id}: {} {}", job.state, job.reason),
                None if overdue => format!("job {id}: Slurm no longer lists it"),
                _ => continue,
            };
            if !job.is_some_and(SlurmJob::is_over) {
                self.given_up.push(id.clone());
            }
            ended.push(Disconnected { node: *node, said });
        }
        for gone in &ended {
            self.running.remove(&gone.node);
        }
        ended
    }
}

impl PilotLauncher for SlurmPilots {
    fn name(&self, _node: usize) -> String {
        String::new()
    }

    fn start(&mut self, node: usize, config: &PilotConfig) -> Result<String> {
        let batch = Batch {
            name: self.name.clone(),
            time_limit: self.limit,
            options: self.options.clone(),
            command: [self.program.as_str(), "farm", "pilot"].map(str::to_owned).to_vec(),
            input: serde_json::to_string(config).map_err(|error| Error::Usage(error.to_string()))?,
        };
        let id = submit(&batch)?;
        let said = format!("job {id}");
        self.running.insert(node, SubmittedJob::now(id));
        Ok(said)
    }

    fn adopt(&mut self, node: usize, said: &str) {
        if let Some(id) = said.strip_prefix("job ").and_then(SubmittedId::parse) {
            // The job before was given up, or has ended.
            self.given_up.extend(self.running.insert(node, SubmittedJob::now(id)).map(|before| before.id));
        }
    }

    fn is_there(&self, node: usize) -> bool {
        self.running.contains_key(&node)
    }

    fn look(&mut self) -> Vec<Disconnected> {
        if self.running.is_empty() || self.looked.elapsed() < POLL_INTERVAL {
            return Vec::new();
        }
        self.looked = Instant::now();
        let mut listed = Listed::new();
        for submitted in self.running.values() {
            let cluster = submitted.id.cluster.clone();
            listed.entry(cluster).or_insert_with_key(|cluster| jobs(&self.name, cluster.as_deref()).ok());
        }
        self.ended(&listed, Instant::now())
    }

    fn end(&mut self) -> Vec<String> {
        let mut all: Vec<SubmittedId> = std::mem::take(&mut self.running).into_values().map(|one| one.id).collect();
        all.append(&mut self.given_up);
        let mut error = None;
        for pause in CANCEL_PAUSES {
            kernels::timer::sleep(pause);
            match cancel(&all) {
                Ok(()) => return Vec::new(),
                Err(found) => error = Some(found),
            }
        }
        let Some(error) = error else { return Vec::new() };
        let left = |words: Vec<String>| {
            let jobs: Vec<&str> =
                words.iter().skip(1).map(String::as_str).filter(|word| !word.starts_with('-')).collect();
            format!("jobs {} could not be cancelled ({error}); end them with: {}", jobs.join(" "), words.join(" "))
        };
        cancelling(&all).into_iter().map(left).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_that_cannot_be_cancelled_are_named_with_the_command() {
        if jobs("none", None).is_ok() {
            testing::lacks!("a Slurm answers here: every job can be cancelled");
            return;
        }
        let mut pilots = SlurmPilots::new("prony", Vec::new(), Duration::from_secs(60));
        assert_eq!(pilots.end(), Vec::<String>::new(), "there was nothing to cancel");
        pilots.adopt(0, "job 4242");
        pilots.adopt(1, "job 4243");
        pilots.adopt(2, "job 4242;other");
        let left = pilots.end();
        assert!(left[1].ends_with("end them with: scancel --clusters=other 4242"), "{left:?}");
        assert!(left.len() == 2 && left[0].ends_with("end them with: scancel 4242 4243"), "{left:?}");
    }

    #[test]
    fn jobs_that_were_given_up_are_cancelled_at_the_end() {
        let mut pilots = SlurmPilots::new("prony", Vec::new(), Duration::from_secs(60));
        let began = Instant::now();
        (0..4).for_each(|node| pilots.adopt(node, &format!("job {}", 100 + node)));
        let job = |id, state: &str| SlurmJob { id, state: state.to_owned(), ..SlurmJob::default() };
        let listed = |jobs: &[SlurmJob]| Listed::from([(None, Some(jobs.to_vec()))]);
        let running = [job(100, "RUNNING"), job(101, "COMPLETED"), job(102, "NODE_FAIL")];
        let nodes = |ended: Vec<Disconnected>| ended.iter().map(|one| one.node).collect::<Vec<_>>();
        // One is over for good. One that is not listed, or that lost its node, may come back.
        assert_eq!(nodes(pilots.ended(&listed(&running), began)), [1]);
        assert!(pilots.given_up.is_empty());
        let later = began + GIVE_UP_AFTER + Duration::from_secs(30);
        assert!(pilots.ended(&Listed::from([(None, None)]), later).is_empty(), "no answer says nothing");
        assert_eq!(nodes(pilots.ended(&listed(&running), later)), [2, 3]);
        let numbers = |ids: &[SubmittedId]| ids.iter().map(|id| id.number).collect::<Vec<_>>();
        assert_eq!(numbers(&pilots.given_up), [102, 103]);
        // A coordinator that resumes reads in the ledger that node 0 got another job.
        pilots.adopt(0, "job 104");
        assert_eq!(numbers(&pilots.given_up), [102, 103, 100]);
        if jobs("none", None).is_ok() {
            testing::lacks!("a Slurm answers here: what cannot be cancelled is not named");
            return;
        }
        let left = pilots.end();
        assert!(left[0].ends_with("end them with: scancel 104 102 103 100"), "{left:?}");
        assert_eq!(pilots.end(), Vec::<String>::new());
    }
}
