//! CPU time of a test: of its own threads, and of the machine.

use std::time::Duration;

use model::{Share, TakenTime};
use os::usage::{CpuTimes, machine_times};
use serde::{Deserialize, Serialize};

/// CPU time during a test.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuUse {
    /// CPU time of the data threads at this end, seconds.
    pub threads: f64,
    /// Share of the machine's CPU time that was busy, with all its processes: 0 to 1.
    pub busy: f64,
    /// Share used by other processes.
    pub others: f64,
    /// Share stolen by the hypervisor.
    pub steal: f64,
    /// CPU time available in total, seconds.
    #[serde(default)]
    pub total: f64,
}

/// Above this share of busy CPU time, a network test measures the host.
const HOST_BOUND: f64 = 0.9;

impl CpuUse {
    /// Whether the host had no idle CPU time, so that the result characterises the host rather than the network.
    #[must_use]
    pub fn host_bound(&self) -> bool {
        self.busy > HOST_BOUND
    }

    /// Stolen time as samples record it; `None` where the system does not report it.
    #[must_use]
    pub fn stolen(&self) -> Option<TakenTime> {
        (self.total > 0.0).then_some(TakenTime { seconds: self.steal * self.total, of: self.total })
    }
}

/// Reads the machine's CPU counters at two moments.
#[derive(Debug, Clone, Copy)]
pub struct CpuWatch {
    machine: Option<CpuTimes>,
    own: Duration,
}

impl CpuWatch {
    /// Starts now.
    #[must_use]
    pub fn start() -> Self {
        Self { machine: machine_times().ok(), own: kernels::clock::process_cpu().unwrap_or_default() }
    }

    /// CPU time since the start; `threads` is the CPU time of the data threads, seconds. Shares are 0 where the system
    /// does not report them.
    #[must_use]
    pub fn stop(&self, threads: f64) -> CpuUse {
        let own = kernels::clock::process_cpu().unwrap_or_default().saturating_sub(self.own);
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
