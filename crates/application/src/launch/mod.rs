//! One launch: a fresh helper process starts all copies together, waits for them, and says what they did and used.

mod helper;
mod perform;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use model::{Footprint, Invalid, TakenTime};
use serde::{Deserialize, Serialize};

pub use helper::{Starter, serve};
pub use perform::perform;

/// What to start.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LaunchSpec {
    /// Program and arguments of every copy.
    pub commands: Vec<Vec<String>>,
    /// Where they run.
    pub directory: PathBuf,
    /// Variables that are set besides those inherited.
    pub environment: BTreeMap<String, String>,
    /// Seconds after which they are ended.
    pub patience: f64,
}

impl LaunchSpec {
    /// The time that the copies are given: never so long that no clock could tell its end.
    pub(crate) fn time_allowed(&self) -> Duration {
        const LONGEST: f64 = 1e9;
        let seconds = if self.patience.is_nan() { 0.0 } else { self.patience };
        Duration::from_secs_f64(seconds.clamp(0.0, LONGEST))
    }
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProcessEnd {
    /// By itself, with this status.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// It ran out of time and was ended.
    TimedOut,
    /// It could not be started.
    NotStarted(String),
}

/// One copy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Copy {
    /// When it was started, seconds after the launch began.
    pub started: f64,
    /// When its end was seen.
    pub ended: f64,
    /// How it ended.
    pub how: ProcessEnd,
    /// The beginning and the end of what it printed.
    pub stdout: String,
    /// The same of its errors.
    pub stderr: String,
}

/// What all copies of a launch did and used.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CopyReport {
    /// One a copy.
    pub copies: Vec<Copy>,
    /// Time in user mode, seconds.
    pub user_seconds: f64,
    /// Time in the kernel, seconds.
    pub system_seconds: f64,
    /// Resident memory of the largest process, bytes.
    pub peak_resident: u64,
    /// Resident memory of the process that started them, bytes: a started process counts it as its own until it becomes the
    /// program (execve(2) keeps the mark that getrusage(2) tells), so less than this cannot be seen.
    #[serde(default)]
    pub own_resident: u64,
    /// Switches because a process waited.
    pub voluntary_switches: u64,
    /// Switches because the scheduler took the CPU away.
    pub involuntary_switches: u64,
    /// Page faults served without I/O.
    pub minor_faults: u64,
    /// Page faults that had to read.
    pub major_faults: u64,
    /// Bytes read from storage.
    pub device_read: u64,
    /// CPU time that the hypervisor took from the machine, where it is told.
    #[serde(default)]
    pub stolen: Option<TakenTime>,
    /// For how long a control group's quota stopped the copies, of what they ran and did not run.
    #[serde(default)]
    pub throttled: Option<TakenTime>,
    /// Seconds that the machine slept.
    pub suspended: Option<f64>,
}

impl CopyReport {
    /// Seconds from the first start to the last end.
    #[must_use]
    pub fn wall(&self) -> f64 {
        let first = self.copies.iter().map(|copy| copy.started).fold(f64::INFINITY, f64::min);
        let last = self.copies.iter().map(|copy| copy.ended).fold(0.0, f64::max);
        last - first
    }

    /// Why it should not count by itself: outside evidence, never its value. What was taken from it is judged over rounds.
    #[must_use]
    pub fn disturbed(&self) -> Option<Invalid> {
        self.suspended.map(Invalid::Suspended)
    }

    /// What the launch used, as run documents keep it.
    #[must_use]
    pub fn footprint(&self) -> Footprint {
        Footprint {
            operations: 1,
            user_seconds: Some(self.user_seconds),
            system_seconds: Some(self.system_seconds),
            voluntary_switches: Some(self.voluntary_switches),
            involuntary_switches: Some(self.involuntary_switches),
            minor_faults: Some(self.minor_faults),
            major_faults: Some(self.major_faults),
            ..Footprint::default()
        }
    }
}

impl ProcessEnd {
    /// In words, unless it ended well.
    #[must_use]
    pub fn trouble(&self, patience: f64) -> Option<String> {
        match self {
            Self::Code(0) => None,
            Self::Code(code) => Some(format!("ended with status {code}")),
            Self::Signal(number) => Some(format!("was ended by signal {number} ({})", signal_name(*number))),
            Self::TimedOut => Some(format!("was still running after {patience} s and was ended")),
            Self::NotStarted(reason) => Some(format!("could not be started: {reason}")),
        }
    }
}

const fn signal_name(number: i32) -> &'static str {
    match number {
        4 => "illegal instruction",
        6 => "abort",
        7 => "bus error",
        8 => "arithmetic error",
        9 => "killed, perhaps for want of memory",
        11 => "segmentation fault",
        15 => "terminated",
        _ => "see signal(7)",
    }
}
