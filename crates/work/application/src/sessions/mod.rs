//! Many concurrent sessions over many files: throughput of each process, load of the machine, and the bottleneck.

mod engine;
mod load;
mod run;
mod verdict;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use engine::Sessions;
pub use run::{read_files, serve_sessions};
pub use verdict::SessionsVerdict;

/// The files of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileSharing {
    /// All sessions read all files, each beginning with another one.
    Shared,
    /// Every session reads its own files.
    Own,
}

/// Specification of the sessions.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SessionOrder {
    /// Number of concurrent sessions.
    pub sessions: usize,
    /// The files.
    #[serde(with = "crate::path_bytes::many")]
    pub files: Vec<PathBuf>,
    /// The files of a session.
    pub sharing: FileSharing,
    /// Whether files are read into the page cache before, or evicted from it.
    pub cached: bool,
    /// Program and arguments; file names are appended.
    pub command: Vec<String>,
    /// Time limit of the sessions, seconds.
    pub patience: f64,
}

/// Resources used by one session, with its children. Resources of processes whose parents did not wait for them are
/// divided equally, since their session is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SessionUse {
    /// Seconds from start to end.
    pub wall: f64,
    /// CPU time over wall time; 1 is one CPU all the time.
    pub cpu: f64,
    /// Bytes a second requested, from cache or device.
    pub asked: f64,
    /// Bytes a second read from a device.
    pub device: f64,
    /// Share of the time in which it waited for storage, sampled every 10 ms: some thread did, and none was runnable.
    pub waiting: f64,
    /// Share of the time in which some thread of it ran or was runnable.
    pub ready: f64,
    /// Whether children of it did most of its work, whose states are not sampled.
    pub delegates: bool,
}

/// One repetition of all sessions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionReport {
    /// One for each session.
    pub sessions: Vec<SessionUse>,
    /// CPUs that they may use.
    pub cpus: usize,
    /// Seconds from the first start to the last end.
    pub wall: f64,
    /// Share of the machine's CPU time that was busy, with all its processes; `None` if the system does not report it.
    pub utilisation: Option<f64>,
    /// Share of the machine's CPU time that was idle while a task waited for a device; `None` if the system does not
    /// report it.
    pub iowait: Option<f64>,
    /// Share of the time in which some task waited for storage; `None` if the system does not report it.
    pub pressure: Option<f64>,
    /// The bottleneck.
    pub verdict: SessionsVerdict,
    /// The evidence, in a sentence.
    pub because: String,
    /// Whether processes that the sessions started outlived the last of them; their resources do not count.
    pub left_running: bool,
}
