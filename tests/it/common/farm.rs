//! Farms in separate processes, and their invariants.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "each test file uses its part")]

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use ::farm::{Incident, Ledger, SqliteLedger};
use serde_json::Value;

use super::{Answer, Place};

/// Time limit of every step: far above the time that it takes, so that a loaded machine does not fail a test.
const PATIENCE: Duration = Duration::from_secs(120);

/// A farm in a separate process.
pub struct Running {
    pub child: Child,
    pub ledger: PathBuf,
}

impl Running {
    /// Starts `prony farm run` with a ledger in the test directory; `make` may start the command elsewhere.
    pub fn start(place: &Place, arguments: &[&str], make: impl Fn(&Command) -> Option<Command>) -> Self {
        let ledger = place.file("ledger");
        let mut command = place.prony();
        command.args(["farm", "run"]).args(arguments).arg("--ledger").arg(&ledger).arg("--format=json");
        Self { child: spawn(make(&command).unwrap_or(command)), ledger }
    }

    /// Starts `prony farm resume`.
    pub fn resume(place: &Place, ledger: PathBuf, make: impl Fn(&Command) -> Option<Command>) -> Self {
        Self::resume_with(place, ledger, &[], make)
    }

    /// Starts `prony farm resume` with further arguments.
    pub fn resume_with(
        place: &Place,
        ledger: PathBuf,
        arguments: &[&str],
        make: impl Fn(&Command) -> Option<Command>,
    ) -> Self {
        let mut command = place.prony();
        command.args(["farm", "resume", "--format=json"]).args(arguments).arg(&ledger);
        Self { child: spawn(make(&command).unwrap_or(command)), ledger }
    }

    pub fn look(&self) -> Option<SqliteLedger> {
        SqliteLedger::read(&self.ledger).ok()
    }

    pub fn counted(&self) -> u64 {
        self.look().and_then(|ledger| ledger.totals().ok()).map_or(0, |totals| totals.commits)
    }

    pub fn counted_of(&self, node: &str) -> u64 {
        let nodes = self.look().and_then(|ledger| ledger.nodes().ok()).unwrap_or_default();
        nodes.iter().find(|one| one.node == node).map_or(0, |one| one.totals.commits)
    }

    pub fn incidents(&self) -> Vec<Incident> {
        self.look().and_then(|ledger| ledger.incidents().ok()).unwrap_or_default()
    }

    /// Number of incidents of a kind.
    pub fn count(&self, what: &str) -> usize {
        self.incidents().iter().filter(|one| one.what == what).count()
    }

    pub fn wait_for(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        let began = Instant::now();
        while !holds(self) {
            assert!(began.elapsed() < PATIENCE, "waited in vain for {what}: {:?}", self.incidents());
            assert!(self.child.try_wait().unwrap().is_none(), "the farm ended before {what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Process of the pilot of a node, from the event log: `0: node 0 (1234)`.
    pub fn pilot(&self, node: &str) -> i32 {
        let launched = self.incidents().into_iter().rfind(|one| one.what == "launched" && one.node == node).unwrap();
        launched.detail.rsplit_once('(').unwrap().1.trim_end_matches(')').parse().unwrap()
    }

    pub fn finish(self) -> Answer {
        Answer::of(self.child.wait_with_output().unwrap())
    }
}

pub fn spawn(mut command: Command) -> Child {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

pub fn signal(pid: i32, signal: kernels::signal::Signal) {
    os::process::send(pid, Some(signal)).unwrap();
}

/// Digest of the same events processed by one clean process.
pub fn clean(place: &Place, events: u64, seed: u64) -> String {
    let said = place.ask(&["app", "work", "reconstruct", "--events", &events.to_string(), "--seed", &seed.to_string()]);
    let out = said.fine().out;
    out.lines().find_map(|line| line.strip_prefix("digest=")).unwrap().to_owned()
}

/// Asserts that the committed chunks are the planned ones, all distinct, with the exact sum and the digest of one
/// process.
pub fn holds(answer: &Value, chunks: u64, events: u64, digest: &str) {
    assert_eq!(answer["planned"], chunks);
    assert_eq!(answer["totals"]["commits"], chunks);
    assert_eq!(answer["totals"]["distinct"], chunks);
    assert_eq!(answer["totals"]["events"], events);
    assert_eq!(answer["digest"], digest);
    assert_eq!(answer["broken"], Value::Array(Vec::new()));
    assert_eq!(answer["totals"]["differing"], 0);
}
