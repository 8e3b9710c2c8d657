//! What a test costs: CPU time of its own threads and of the machine.

use std::time::Duration;

use model::{Share, TakenTime};
use serde::{Deserialize, Serialize};
use sys::usage::{CpuTimes, machine_times};

/// CPU time over a test.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuUse {
    /// CPU seconds of the data threads at this end.
    pub threads: f64,
    /// Share of the machine's CPU time that was busy, whoever used it: 0 to 1.
    pub busy: f64,
    /// Share that was neither idle nor this process's.
    pub others: f64,
    /// Share that the hypervisor took.
    pub steal: f64,
    /// CPU time that there was in all, seconds.
    #[serde(default)]
    pub total: f64,
}

/// Above this share of the machine's CPU time a network test measures the host.
const HOST_BOUND: f64 = 0.9;

impl CpuUse {
    /// Whether the host had no CPU time left, so that a result says more of it than of the network.
    #[must_use]
    pub fn host_bound(&self) -> bool {
        self.busy > HOST_BOUND
    }

    /// What the hypervisor took, as launches record it; `None` where the system does not tell.
    #[must_use]
    pub fn stolen(&self) -> Option<TakenTime> {
        (self.total > 0.0).then_some(TakenTime { seconds: self.steal * self.total, of: self.total })
    }
}

/// Watches the machine from a moment on.
#[derive(Debug, Clone, Copy)]
pub struct CpuWatch {
    machine: Option<CpuTimes>,
    own: Duration,
}

impl CpuWatch {
    /// From now on.
    #[must_use]
    pub fn start() -> Self {
        Self { machine: machine_times().ok(), own: sys::clock::process_cpu().unwrap_or_default() }
    }

    /// What was used since; `threads` is CPU time of the data threads in seconds. Shares are 0 where the system does
    /// not tell.
    #[must_use]
    pub fn stop(&self, threads: f64) -> CpuUse {
        let own = sys::clock::process_cpu().unwrap_or_default().saturating_sub(self.own);
        let (Some(before), Ok(now)) = (self.machine, machine_times()) else {
            return CpuUse { threads, ..CpuUse::default() };
        };
        let spent = now.since(&before);
        let total = spent.total().as_secs_f64();
        let share = |part: Duration| Share::of(part.as_secs_f64(), total).unwrap_or_default().get();
        CpuUse {
            threads,
            busy: share(spent.busy() + spent.steal),
            others: share(spent.busy().saturating_sub(own)),
            steal: share(spent.steal),
            total,
        }
    }
}
