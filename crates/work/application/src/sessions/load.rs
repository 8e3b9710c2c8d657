//! Load of the machine during the sessions.

use std::time::Duration;

use model::Share;
use os::usage::{PressureResource, machine_times, pressure};

/// Counters of the machine at one moment.
#[derive(Debug)]
pub(super) struct LoadMoment {
    times: Option<os::usage::CpuTimes>,
    iowait: Option<(u64, u64)>,
    stalled: Option<Duration>,
    at: std::time::Instant,
}

impl LoadMoment {
    pub(super) fn now() -> Self {
        Self {
            times: machine_times().ok(),
            iowait: iowait(),
            stalled: pressure(PressureResource::Io).ok().map(|pressure| pressure.total),
            at: std::time::Instant::now(),
        }
    }

    /// Shares since an earlier moment: busy, waiting for devices, stalled by storage.
    pub(super) fn since(&self, before: &Self) -> (Option<f64>, Option<f64>, Option<f64>) {
        let busy =
            self.times.zip(before.times).and_then(|(after, before)| after.since(&before).busy_share().map(Share::get));
        let waited = self.iowait.zip(before.iowait).map(|(after, before)| {
            let ticks = |of: fn(&(u64, u64)) -> u64| of(&after).saturating_sub(of(&before)) as f64;
            Share::of(ticks(|counts| counts.0), ticks(|counts| counts.1).max(1.0)).map_or(0.0, Share::get)
        });
        let passed = self.at.duration_since(before.at).as_secs_f64();
        let stalled = self
            .stalled
            .zip(before.stalled)
            .and_then(|(after, before)| Share::of(after.saturating_sub(before).as_secs_f64(), passed).map(Share::get));
        (busy, waited, stalled)
    }
}

/// Ticks in which the machine was idle while waiting for devices, and all ticks (`/proc/stat`, proc(5)).
fn iowait() -> Option<(u64, u64)> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    let ticks: Vec<u64> =
        text.lines().next()?.strip_prefix("cpu ")?.split_whitespace().filter_map(|tick| tick.parse().ok()).collect();
    // Guest time, the last two, is included in user time.
    Some((*ticks.get(4)?, ticks.iter().take(8).sum()))
}
