//! Other use of the CPUs while nothing is measured.

use std::collections::HashMap;
use std::time::Duration;

use model::{Share, TakenTime};
use os::process::own_pid;
use os::usage::{self, Stat};

/// CPU time per time from which a process is named.
const LEAST: f64 = 0.02;

/// A process that used CPU time in the window.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct BusyProcess {
    pub(super) pid: i32,
    /// At most 15 bytes.
    pub(super) name: String,
    /// CPU time over wall time: 1 is one CPU.
    pub(super) cpus: f64,
}

/// Activity of the machine in the window.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Activity {
    /// Other processes, busiest first. Processes of other containers are invisible.
    pub(super) busy: Vec<BusyProcess>,
    /// CPU time per time of all work except this process, visible or not.
    pub(super) others: f64,
    /// CPU time that the host took, relative to the whole CPU time.
    pub(super) stolen: TakenTime,
    /// CPUs online.
    pub(super) cpus: usize,
}

impl Activity {
    /// The share of the whole CPU time that others used.
    pub(super) fn others_share(&self) -> Share {
        Share::of(self.others, self.cpus as f64).unwrap_or_default()
    }

    /// The busiest other processes by name.
    pub(super) fn names(&self) -> String {
        let name = |busy: &BusyProcess| format!("{} ({}) {:.2}", busy.name, busy.pid, busy.cpus);
        self.busy.iter().take(3).map(name).collect::<Vec<_>>().join(", ")
    }
}

/// Watches the machine for a time. The kernel counts CPU time in ticks of about 10 ms, so half a second resolves 2%.
pub(super) fn activity(window: Duration) -> kernels::Result<Activity> {
    let (start, own) = (kernels::clock::now(), kernels::clock::process_cpu()?);
    let (machine, before) = (usage::machine_times()?, processes());
    kernels::timer::sleep(window);
    let after = processes();
    let machine = usage::machine_times()?.since(&machine);
    let own = kernels::clock::process_cpu()?.saturating_sub(own);
    let wall = Duration::from_nanos(kernels::clock::now().saturating_sub(start)).max(window).as_secs_f64();
    let mut busy: Vec<BusyProcess> = after
        .into_iter()
        .filter(|(key, _)| key.0 != own_pid())
        .filter_map(|(key, (name, used))| {
            // A process that started in the window used its time for starting, and is soon gone.
            let cpus = used.saturating_sub(before.get(&key)?.1).as_secs_f64() / wall;
            (cpus >= LEAST).then_some(BusyProcess { pid: key.0, name, cpus })
        })
        .collect();
    busy.sort_by(|a, b| b.cpus.total_cmp(&a.cpus));
    Ok(Activity {
        busy,
        others: machine.busy().saturating_sub(own).as_secs_f64() / wall,
        stolen: TakenTime { seconds: machine.steal.as_secs_f64(), of: machine.total().as_secs_f64() },
        cpus: usage::per_cpu_times()?.len(),
    })
}

/// Name and CPU time of every visible process, by number and start time.
fn processes() -> HashMap<(i32, u64), (String, Duration)> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten();
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    // A process may end between the listing and the reading.
    let stats = numbers.filter_map(|pid: i32| Stat::of(pid).ok());
    stats.map(|stat| ((stat.pid, stat.started_ticks), (stat.name, stat.user + stat.system))).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
    use super::*;

    #[test]
    fn watching_takes_the_time_it_was_given() {
        let start = kernels::clock::now();
        let seen = activity(Duration::from_millis(30)).unwrap();
        assert!(kernels::clock::now() - start >= 30_000_000);
        assert!(seen.cpus >= 1 && seen.others >= 0.0 && seen.stolen.seconds <= seen.stolen.of);
        assert!(seen.busy.iter().all(|busy| busy.pid != own_pid() && busy.cpus >= LEAST));
        assert!(seen.busy.is_sorted_by(|a, b| a.cpus >= b.cpus));
    }
}
