//! What the machine did meanwhile.

use sys::usage::{Resource, machine_times, pressure};

/// Counters of the machine at one moment.
#[derive(Debug)]
pub(super) struct Moment {
    times: Option<sys::usage::CpuTimes>,
    iowait: Option<(u64, u64)>,
    stalled: Option<u64>,
    at: std::time::Instant,
}

impl Moment {
    pub(super) fn now() -> Self {
        Self {
            times: machine_times().ok(),
            iowait: iowait(),
            stalled: pressure(Resource::Io).ok().map(|pressure| pressure.total_nanos),
            at: std::time::Instant::now(),
        }
    }

    /// Shares since a moment before: busy, waiting for devices, stalled by storage.
    pub(super) fn since(&self, before: &Self) -> (f64, Option<f64>, Option<f64>) {
        let busy = self.times.zip(before.times).map_or(f64::NAN, |(after, before)| {
            let spent = after.since(&before);
            spent.busy() as f64 / (spent.busy() + spent.idle + spent.steal).max(1) as f64
        });
        let waited = self.iowait.zip(before.iowait).map(|(after, before)| {
            after.0.saturating_sub(before.0) as f64 / after.1.saturating_sub(before.1).max(1) as f64
        });
        let passed = self.at.duration_since(before.at).as_nanos().max(1) as f64;
        let stalled =
            self.stalled.zip(before.stalled).map(|(after, before)| after.saturating_sub(before) as f64 / passed);
        (busy, waited, stalled)
    }
}

/// Ticks in which the machine only waited for devices, and all ticks (`/proc/stat`, proc(5)).
fn iowait() -> Option<(u64, u64)> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    let ticks: Vec<u64> =
        text.lines().next()?.strip_prefix("cpu ")?.split_whitespace().filter_map(|tick| tick.parse().ok()).collect();
    // Guest time, the last two, stands in user time already.
    Some((*ticks.get(4)?, ticks.iter().take(8).sum()))
}
