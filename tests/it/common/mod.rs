//! Common parts of the tests of the command line: the program and a store.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "each test file uses its part")]

pub mod farm;
pub mod slurm;
pub mod sshd;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// Two results that a few samples settle.
pub const TINY: &[&str] =
    &["run", "--benchmark", "os.syscall_write", "--benchmark", "os.clock_read", "--target", "20", "--no-rulers"];

/// The results that were asked for, without those that every run with references has.
pub fn requested(run: &Value) -> Vec<&Value> {
    let of_every_run = |result: &Value| ["cpu.clock", "cpu.core_shared"].iter().any(|p| result["benchmark"] == **p);
    run["results"].as_array().unwrap().iter().filter(|result| !of_every_run(result)).collect()
}

/// Waits until something is so.
pub fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(180);
    while !is_so() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Sends a signal such as `-INT` to a process.
pub fn send(signal: &str, pid: u32) {
    assert!(Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success());
}

/// Rounds of the newest run of a store, as a concurrent reader sees them; 0 while there is none.
pub fn rounds(place: &Place) -> u64 {
    let answer = place.ask(&["show", "latest", "--format=json"]);
    if answer.code == Some(0) { answer.json()["session"]["rounds"].as_u64().unwrap() } else { 0 }
}

/// A temporary directory with a store.
pub struct Place {
    folder: TempDir,
}

impl Place {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A place whose store holds run 1, and whose `a.json` is its document: two results, measured once for all tests
    /// that read a finished run.
    pub fn with_a_run() -> Self {
        static MEASURED: OnceLock<[Vec<u8>; 2]> = OnceLock::new();
        let [store, document] = MEASURED.get_or_init(|| {
            let place = Self::new();
            place.ask(&[TINY, &["--output", "a.json"]].concat()).fine();
            ["runs.sqlite", "a.json"].map(|name| std::fs::read(place.file(name)).unwrap())
        });
        let place = Self::new();
        std::fs::write(place.file("runs.sqlite"), store).unwrap();
        std::fs::write(place.file("a.json"), document).unwrap();
        place
    }

    /// The same with a second run of these results as run 2, and as `b.json`.
    pub fn with_two_runs() -> Self {
        static MEASURED: OnceLock<[Vec<u8>; 2]> = OnceLock::new();
        let [store, document] = MEASURED.get_or_init(|| {
            let place = Self::with_a_run();
            place.ask(&[TINY, &["--output", "b.json"]].concat()).fine();
            ["runs.sqlite", "b.json"].map(|name| std::fs::read(place.file(name)).unwrap())
        });
        let place = Self::with_a_run();
        std::fs::write(place.file("runs.sqlite"), store).unwrap();
        std::fs::write(place.file("b.json"), document).unwrap();
        place
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The program, started in this directory.
    pub fn prony(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_prony"));
        command.current_dir(self.path()).env_remove("NO_COLOR").env("PRONY_STORE", self.file("runs.sqlite"));
        command.env("LC_ALL", "C.UTF-8").env("COLUMNS", "100");
        // Tests of texts, not of precision.
        command.env("PRONY_SPACING", "0");
        command
    }

    pub fn ask(&self, arguments: &[&str]) -> Answer {
        Answer::of(self.prony().args(arguments).output().unwrap())
    }
}

/// The output of the program, and its exit code.
#[derive(Debug)]
pub struct Answer {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Answer {
    pub fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            // Tests measure concurrently, and the program correctly warns about that.
            err: String::from_utf8(output.stderr)
                .unwrap()
                .lines()
                .filter(|line| !line.starts_with("prony: warning: another run measures here"))
                .map(|line| format!("{line}\n"))
                .collect(),
        }
    }

    pub fn fine(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// A refusal: exit code 2, no standard output, one clear line on standard error.
    pub fn refused(self) -> String {
        assert_eq!(self.code, Some(2), "{self:?}");
        assert!(self.out.is_empty(), "{self:?}");
        // The first line is the error; clap may add the usage below it.
        let first = self.err.lines().next().unwrap_or_default();
        assert!(first.starts_with("error: ") || first.starts_with("prony: "), "{self:?}");
        assert!(first.starts_with("error: ") || self.err.trim_end().lines().count() == 1, "{self:?}");
        assert!(!self.err.contains("panicked"), "{self:?}");
        self.err
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// The estimate of a result of a run document. Other load may split a measurement into modes: then the estimate of the
/// mode with most samples.
pub fn estimate(result: &Value) -> Option<&Value> {
    let outcome = &result["outcome"];
    let share = |mode: &&Value| mode["share"].as_f64().unwrap();
    let main = |modes: &'static str| {
        outcome[modes].as_array()?.iter().max_by(|a, b| share(a).total_cmp(&share(b))).map(|mode| &mode["estimate"])
    };
    outcome.get("measured").or_else(|| main("modes"))
}
