//! What a test costs: CPU time of its own threads and of the machine.

use serde::{Deserialize, Serialize};
use sys::usage::{CpuTimes, machine_times};

/// CPU time over a test.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Cpu {
    /// CPU seconds of the data threads at this end.
    pub threads: f64,
    /// Share of the machine's CPU time that was busy, whoever used it: 0 to 1.
    pub busy: f64,
    /// Share that was neither idle nor this process's.
    pub others: f64,
    /// Share that the hypervisor took.
    pub steal: f64,
}

/// Above this share of the machine's CPU time a network test measures the host.
const HOST_BOUND: f64 = 0.9;

impl Cpu {
    /// Whether the host had no CPU time left, so that a result says more of it than of the network.
    #[must_use]
    pub fn host_bound(&self) -> bool {
        self.busy > HOST_BOUND
    }
}

/// Watches the machine from a moment on.
#[derive(Debug, Clone, Copy)]
pub struct CpuWatch {
    machine: Option<CpuTimes>,
    own: u64,
}

impl CpuWatch {
    /// From now on.
    #[must_use]
    pub fn start() -> Self {
        Self { machine: machine_times().ok(), own: sys::clock::process_cpu().unwrap_or(0) }
    }

    /// What was used since; `threads` is CPU time of the data threads in seconds. Shares are 0 where the system does
    /// not tell.
    #[must_use]
    pub fn stop(&self, threads: f64) -> Cpu {
        let own = sys::clock::process_cpu().unwrap_or(0).saturating_sub(self.own) as f64;
        let (Some(before), Ok(now)) = (self.machine, machine_times()) else {
            return Cpu { threads, ..Cpu::default() };
        };
        let spent = now.since(&before);
        let total = (spent.busy() + spent.idle + spent.steal) as f64;
        if total <= 0.0 {
            return Cpu { threads, ..Cpu::default() };
        }
        Cpu {
            threads,
            busy: (spent.busy() + spent.steal) as f64 / total,
            others: ((spent.busy() as f64 - own) / total).max(0.0),
            steal: spent.steal as f64 / total,
        }
    }
}
