//! One launch: a fresh helper process starts all copies together, waits for them, and reports their output and
//! resources.

mod duet;
mod helper;
mod perform;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use model::{Footprint, Invalid, Sample, TakenTime};
use serde::{Deserialize, Serialize};

pub(crate) use duet::{DuetHalf, apart, duet_half, is_swapped, ratio_sample, sample_of};
pub(crate) use helper::answer;
pub use helper::{Starter, serve};
pub(crate) use perform::limit_of;
pub use perform::perform;

/// Specification of a launch.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct LaunchSpec {
    /// Program and arguments of every copy.
    pub commands: Vec<Vec<String>>,
    /// Working directory of the copies.
    #[serde(with = "crate::path_bytes")]
    pub directory: PathBuf,
    /// Variables that are set in addition to the inherited ones.
    pub environment: BTreeMap<String, String>,
    /// Time limit of an execution of the copies, seconds.
    pub patience: f64,
    /// CPUs on which all of them run; empty leaves the scheduler free.
    #[serde(default)]
    pub cpus: Vec<usize>,
    /// When they start, by [`kernels::clock::now`]; at once if that has passed.
    #[serde(default)]
    pub begin: Option<u64>,
    /// How often all of them are executed in sequence; 0 is once.
    #[serde(default)]
    pub executions: u32,
    /// Whether the first execution is apart from the others: its resources are not counted.
    #[serde(default)]
    pub first_apart: bool,
    /// Whether their output is discarded instead of reported.
    #[serde(default)]
    pub silent: bool,
}

impl LaunchSpec {
    /// The time limit of an execution as a duration.
    pub(crate) fn time_allowed(&self) -> Duration {
        time_allowed(self.patience)
    }

    /// That of all executions.
    pub(crate) fn time_of_all(&self) -> Duration {
        time_allowed(self.patience * f64::from(self.executions.max(1)))
    }
}

/// A time limit in seconds as a duration, bounded so that it can be added to a clock.
pub(crate) fn time_allowed(seconds: f64) -> Duration {
    const LONGEST: f64 = 1e9;
    let seconds = if seconds.is_nan() { 0.0 } else { seconds };
    Duration::from_secs_f64(seconds.clamp(0.0, LONGEST))
}

/// Note of a launch whose programs left others running.
pub(crate) const LEFT_RUNNING: &str = "processes that it started outlived it: their use is not counted, and those \
                                       outside its process group may disturb what is measured next";

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProcessEnd {
    /// It exited with this status.
    Code(i32),
    /// It was killed by this signal.
    Signal(i32),
    /// It exceeded the time limit and was killed.
    TimedOut,
    /// It could not be started.
    NotStarted(String),
}

/// The result and output of one copy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CopyOutput {
    /// Start, seconds after the launch began.
    pub started: f64,
    /// When its end was noticed, seconds after the launch began.
    pub ended: f64,
    /// How it ended.
    pub how: ProcessEnd,
    /// Beginning and end of its standard output.
    pub stdout: String,
    /// Beginning and end of its standard error.
    pub stderr: String,
}

/// Output of all copies of a launch, and the resources that they used.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CopyReport {
    /// One for each copy; those of several executions one after the other.
    pub copies: Vec<CopyOutput>,
    /// When the launch began, seconds of [`kernels::clock::now`].
    #[serde(default)]
    pub began: f64,
    /// Time in user mode, seconds.
    pub user_seconds: f64,
    /// Time in the kernel, seconds.
    pub system_seconds: f64,
    /// Resident memory of the largest process, bytes.
    pub peak_resident: u64,
    /// Resident memory of the helper, bytes: a started process inherits this mark until execve(2), and getrusage(2)
    /// reports no less, so a smaller program cannot be seen.
    #[serde(default)]
    pub own_resident: u64,
    /// Context switches because a process waited.
    pub voluntary_switches: u64,
    /// Context switches because the scheduler preempted a process.
    pub involuntary_switches: u64,
    /// Page faults without I/O.
    pub minor_faults: u64,
    /// Page faults with I/O.
    pub major_faults: u64,
    /// Bytes read from storage.
    pub device_read: u64,
    /// CPU time stolen by the hypervisor, if known.
    #[serde(default)]
    pub stolen: Option<TakenTime>,
    /// Time for which a control group's quota throttled the copies, if known.
    #[serde(default)]
    pub throttled: Option<TakenTime>,
    /// Seconds for which the machine was suspended.
    pub suspended: Option<f64>,
    /// Whether processes that the copies started outlived them; their resources do not count.
    #[serde(default)]
    pub left_running: bool,
}

impl CopyReport {
    /// Seconds from the first start to the last end.
    #[must_use]
    pub fn wall(&self) -> f64 {
        let (first, last) = self.first_and_last();
        last - first
    }

    /// The first start and the last end, seconds of [`kernels::clock::now`].
    pub(crate) fn span(&self) -> (f64, f64) {
        let (first, last) = self.first_and_last();
        (self.began + first, self.began + last)
    }

    /// Seconds of every copy, from its start to its end.
    pub(crate) fn walls(&self) -> Vec<f64> {
        self.copies.iter().map(|copy| copy.ended - copy.started).collect()
    }

    fn first_and_last(&self) -> (f64, f64) {
        let first = self.copies.iter().map(|copy| copy.started).fold(f64::INFINITY, f64::min);
        (first, self.copies.iter().map(|copy| copy.ended).fold(0.0, f64::max))
    }

    /// The note on processes that outlived the copies.
    pub(crate) fn leftovers(&self) -> Option<String> {
        self.left_running.then(|| LEFT_RUNNING.to_owned())
    }

    /// Outside evidence that excludes the launch by itself, never its value. Steal and throttling are evaluated over
    /// rounds. Stolen and throttled time is judged over rounds.
    #[must_use]
    pub fn disturbed(&self) -> Option<Invalid> {
        self.suspended.map(Invalid::Suspended)
    }

    /// The launch as run documents store it, without a value.
    #[must_use]
    pub fn as_sample(&self, round: u32) -> Sample {
        let wall = self.wall();
        Sample {
            round,
            wall,
            nanos: vec![(wall * 1e9) as u64],
            steady: true,
            stolen: self.stolen,
            throttled: self.throttled,
            footprint: self.footprint(),
            invalid: self.disturbed(),
            ..Sample::default()
        }
    }

    /// The resources of the launch, as run documents store them.
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
    /// The cause of a failure, in words; `None` if it ended well.
    #[must_use]
    pub fn trouble(&self, patience: f64) -> Option<String> {
        match self {
            Self::Code(0) => None,
            Self::Code(code) => Some(format!("ended with status {code}")),
            Self::Signal(number) => Some(format!("was killed by signal {number} ({})", signal_name(*number))),
            Self::TimedOut => Some(format!("was still running after {patience} s and was killed")),
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
        9 => "killed, perhaps because memory ran out",
        11 => "segmentation fault",
        15 => "terminated",
        _ => "see signal(7)",
    }
}
