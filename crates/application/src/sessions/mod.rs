//! Many sessions at once over many files: what each process gets, what the machine does, and what holds them up.

mod document;
mod load;
mod run;
mod verdict;

use std::path::PathBuf;

use serde::Serialize;

pub use document::session_run;
pub use run::{read_files, run_sessions};
pub use verdict::SessionsVerdict;

/// Which files a session reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileSharing {
    /// All sessions read all files, each from another one on.
    Shared,
    /// Every session reads files that no other reads.
    Own,
}

/// What is run.
#[derive(Debug, Clone)]
pub struct SessionOrder {
    /// Sessions at once.
    pub sessions: usize,
    /// The files.
    pub files: Vec<PathBuf>,
    /// Which of them a session reads.
    pub sharing: FileSharing,
    /// Whether files are in the page cache before, or put out of it.
    pub cached: bool,
    /// Program and arguments that the names of files are appended to.
    pub command: Vec<String>,
    /// Seconds after which sessions are ended.
    pub patience: f64,
}

/// What one session used.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SessionUse {
    /// Seconds from start to end.
    pub wall: f64,
    /// CPU time over that: 1 is one CPU all the time.
    pub cpu: f64,
    /// Bytes a second that it asked for, cached or not.
    pub asked: f64,
    /// Bytes a second that came from a device.
    pub device: f64,
    /// Share of the time in which it waited for storage, as far as looking every 10 ms tells.
    pub waiting: f64,
    /// Share of the time in which it ran or wanted to.
    pub ready: f64,
}

/// One go of all sessions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionReport {
    /// One a session.
    pub sessions: Vec<SessionUse>,
    /// CPUs that they may use.
    pub cpus: usize,
    /// Seconds from the first start to the last end.
    pub wall: f64,
    /// Share of the machine's CPU time that was busy, whoever used it.
    pub utilisation: f64,
    /// Share of it that was idle while something waited for a device; absent where the system does not tell.
    pub iowait: Option<f64>,
    /// Share of the time in which some task waited for storage; absent where the system does not tell.
    pub pressure: Option<f64>,
    /// What held them up.
    pub verdict: SessionsVerdict,
    /// Why, in a sentence.
    pub because: String,
}
