//! Pilots as Slurm jobs, one a node: batch jobs that Slurm starts again when their node dies (`--requeue`, sbatch(1)).
//!
//! Slurm starts at least once, never exactly once: the ledger decides what counts. The order stands in the batch script
//! as the pilot's standard input, which Slurm keeps where only the job's owner reads it; it is in nobody's arguments.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::command::run;
use super::{Gone, Nodes};
use crate::pilot::Order;
use crate::{Error, Result};

/// Time that Slurm has to answer.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often it is asked which jobs are there.
const LOOK: Duration = Duration::from_secs(5);
/// States of a job that is not over (squeue(1)).
const ALIVE: [&str; 11] = [
    "PENDING",
    "RUNNING",
    "SUSPENDED",
    "COMPLETING",
    "CONFIGURING",
    "RESIZING",
    "REQUEUED",
    "REQUEUE_HOLD",
    "REQUEUE_FED",
    "STAGE_OUT",
    "SIGNALING",
];

/// Pilots as batch jobs.
pub struct Slurm {
    /// This program, where the nodes find it.
    program: String,
    /// What sbatch is given besides, such as a partition.
    options: Vec<String>,
    /// Minutes after which Slurm ends a pilot.
    minutes: u64,
    jobs: BTreeMap<usize, String>,
    looked: Instant,
}

impl Slurm {
    /// Jobs that run `program farm pilot`.
    #[must_use]
    pub fn new(program: &str, options: Vec<String>, minutes: u64) -> Self {
        Self {
            program: program.to_owned(),
            options,
            minutes: minutes.max(1),
            jobs: BTreeMap::new(),
            looked: Instant::now(),
        }
    }

    fn script(&self, order: &Order) -> Result<String> {
        let order = serde_json::to_string(order).map_err(|error| Error::Usage(error.to_string()))?;
        let program = self.program.replace('\'', "'\\''");
        Ok(format!("#!/bin/sh\nexec '{program}' farm pilot <<'END_OF_ORDER'\n{order}\nEND_OF_ORDER\n"))
    }

    fn states(&self) -> Result<BTreeMap<String, String>> {
        let ids: Vec<&str> = self.jobs.values().map(String::as_str).collect();
        let words = ["--noheader", "--states=all", "--format=%i %T", "--jobs", &ids.join(",")].map(str::to_owned);
        let said = run("squeue", &words, "", PATIENCE)?;
        Ok(said
            .lines()
            .filter_map(|line| line.split_once(' '))
            .map(|(id, state)| (id.to_owned(), state.to_owned()))
            .collect())
    }
}

impl Nodes for Slurm {
    fn name(&self, _node: usize) -> String {
        String::new()
    }

    fn start(&mut self, node: usize, order: &Order) -> Result<String> {
        let mut words: Vec<String> = [
            "--parsable",
            "--job-name=prony-farm",
            "--nodes=1",
            "--ntasks=1",
            "--exclusive",
            "--requeue",
            "--no-kill",
            "--output=/dev/null",
        ]
        .map(str::to_owned)
        .into();
        words.push(format!("--time={}", self.minutes));
        words.extend(self.options.iter().cloned());
        let said = run("sbatch", &words, &self.script(order)?, PATIENCE)?;
        // ID, or ID;CLUSTER
        let id = said.trim().split(';').next().unwrap_or_default().to_owned();
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Error::Start {
                node: format!("pilot {node}"),
                reason: format!("sbatch said '{}'", said.trim()),
            });
        }
        self.jobs.insert(node, id.clone());
        Ok(format!("job {id}"))
    }

    fn adopt(&mut self, node: usize, said: &str) {
        if let Some(id) = said.strip_prefix("job ").filter(|id| id.bytes().all(|byte| byte.is_ascii_digit())) {
            self.jobs.insert(node, id.to_owned());
        }
    }

    fn is_there(&self, node: usize) -> bool {
        self.jobs.contains_key(&node)
    }

    fn look(&mut self) -> Vec<Gone> {
        if self.jobs.is_empty() || self.looked.elapsed() < LOOK {
            return Vec::new();
        }
        self.looked = Instant::now();
        // A controller that does not answer says nothing about pilots.
        let Ok(states) = self.states() else { return Vec::new() };
        let over = |job: &String| states.get(job).filter(|state| !ALIVE.contains(&state.as_str()));
        let ended: Vec<(usize, String)> =
            self.jobs.iter().filter_map(|(node, job)| Some((*node, format!("job {job}: {}", over(job)?)))).collect();
        ended
            .into_iter()
            .map(|(node, said)| {
                self.jobs.remove(&node);
                Gone { node, said }
            })
            .collect()
    }

    fn end(&mut self) {
        let jobs: Vec<String> = std::mem::take(&mut self.jobs).into_values().collect();
        if !jobs.is_empty() {
            // Those that ended by themselves cannot be ended again.
            let _ = run("scancel", &jobs, "", PATIENCE);
        }
    }
}
