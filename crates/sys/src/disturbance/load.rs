//! Who else uses the CPUs.

use std::collections::HashMap;
use std::fs;
use std::thread;
use std::time::Duration;

use crate::clock;
use crate::disturbance::{Disturbance, note, warning};
use crate::error::{Error, Result};
use crate::process::own_pid;
use crate::usage::{self, Pressure, Resource, Stat, ticks_per_second};

/// A process that used CPU time while we watched.
#[derive(Debug, Clone, PartialEq)]
pub struct Busy {
    /// Its number.
    pub pid: i32,
    /// Its name, at most 15 bytes.
    pub name: String,
    /// CPU time over wall time: 1 is one CPU.
    pub cpus: f64,
}

/// What the machine did while we watched.
#[derive(Debug, Clone, PartialEq)]
pub struct Activity {
    /// Other processes that used at least a fiftieth of a CPU, busiest first.
    pub busy: Vec<Busy>,
    /// CPUs' worth of work of everybody but this process, seen or not (other containers are not).
    pub others: f64,
    /// CPUs' worth of time that the host gave to somebody else.
    pub steal: f64,
    /// CPUs online.
    pub cpus: usize,
}

const LEAST: f64 = 0.02;

/// Watches the machine for a while. The kernel counts CPU time in ticks of about 10 ms, so a window of half a second
/// resolves 2%.
pub fn activity(window: Duration) -> Result<Activity> {
    let tick = 1.0 / ticks_per_second()? as f64;
    let (start, own, machine, before) = (clock::now(), clock::process_cpu()?, usage::machine_times()?, processes()?);
    thread::sleep(window);
    let after = processes()?;
    let machine = usage::machine_times()?.since(&machine);
    let own = (clock::process_cpu()? - own) as f64 * 1e-9;
    let wall = (clock::now() - start) as f64 * 1e-9;
    if wall <= 0.0 {
        return Err(Error::refused("watch the load", "no time passed"));
    }
    let mut busy: Vec<Busy> = after
        .into_iter()
        .filter(|(key, _)| key.0 != own_pid())
        .filter_map(|(key, (name, ticks))| {
            let used = ticks.saturating_sub(before.get(&key).map_or(0, |(_, ticks)| *ticks));
            let cpus = used as f64 * tick / wall;
            (cpus >= LEAST && before.contains_key(&key)).then_some(Busy { pid: key.0, name, cpus })
        })
        .collect();
    busy.sort_by(|a, b| b.cpus.total_cmp(&a.cpus));
    Ok(Activity {
        busy,
        others: ((machine.busy() as f64 * 1e-9 - own) / wall).max(0.0),
        steal: machine.steal as f64 * 1e-9 / wall,
        cpus: usage::per_cpu_times()?.len(),
    })
}

/// CPU ticks of every process that can be seen, by number and start.
fn processes() -> Result<HashMap<(i32, u64), (String, u64)>> {
    let entries = fs::read_dir("/proc").map_err(|e| Error::os("list the processes", e))?;
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    // A process may end between the listing and the reading: it is then nobody.
    let stats = numbers.filter_map(|pid: i32| Stat::of(pid).ok());
    Ok(stats.map(|stat| ((stat.pid, stat.started_ticks), (stat.name, stat.user_ticks + stat.system_ticks))).collect())
}

pub(super) fn look(found: &mut Vec<Disturbance>, window: Duration) {
    if let Ok(seen) = activity(window) {
        judge(found, &seen);
    }
    if let Ok([minute, ..]) = usage::load_average()
        && minute >= 0.5
    {
        let seen = format!("The load average of the last minute is {minute:.2}.");
        found.push(note("load", "getloadavg", seen, Some("Wait until it has fallen.")));
    }
    for (resource, name) in [(Resource::Cpu, "a CPU"), (Resource::Memory, "memory"), (Resource::Io, "storage")] {
        if let Ok(Pressure { last_ten_seconds, .. }) = usage::pressure(resource)
            && last_ten_seconds >= 5.0
        {
            let seen = format!("Tasks waited for {name} during {last_ten_seconds:.0}% of the last ten seconds.");
            found.push(warning("pressure", "/proc/pressure", seen, None));
        }
    }
}

fn judge(found: &mut Vec<Disturbance>, seen: &Activity) {
    if seen.others >= 0.05 {
        let mut text = format!("Others use {:.2} of {} CPUs", seen.others, seen.cpus);
        let names: Vec<String> =
            seen.busy.iter().take(5).map(|busy| format!("{} ({}) {:.2}", busy.name, busy.pid, busy.cpus)).collect();
        if names.is_empty() {
            text.push_str(", and nobody that can be seen from here does it.");
        } else {
            text.push_str(&format!(": {}.", names.join(", ")));
        }
        found.push(warning(
            "load",
            "/proc/stat, /proc/*/stat",
            text,
            Some("Stop them, or measure when they are done."),
        ));
    }
    if seen.steal >= 0.01 * seen.cpus as f64 {
        let share = 100.0 * seen.steal / seen.cpus as f64;
        let remedy = "Nothing on this machine helps; launches that lose more than 2% to it are repeated.";
        found.push(warning(
            "steal",
            "/proc/stat",
            format!("The host keeps {share:.1}% of the CPU time to itself."),
            Some(remedy),
        ));
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn watching_takes_the_time_it_was_given() {
        let start = clock::now();
        let seen = activity(Duration::from_millis(30)).unwrap();
        assert!(clock::now() - start >= 30_000_000);
        assert!(seen.cpus >= 1 && seen.others >= 0.0 && seen.steal >= 0.0);
        assert!(seen.busy.iter().all(|busy| busy.pid != own_pid() && busy.cpus >= LEAST));
        assert!(seen.busy.is_sorted_by(|a, b| a.cpus >= b.cpus));
    }

    #[test]
    fn a_quiet_machine_has_no_findings_and_a_loaded_one_names_who() {
        let mut found = Vec::new();
        judge(&mut found, &Activity { busy: vec![], others: 0.01, steal: 0.0, cpus: 4 });
        assert!(found.is_empty());
        let busy = vec![Busy { pid: 7, name: "cc1".into(), cpus: 0.9 }];
        judge(&mut found, &Activity { busy, others: 0.95, steal: 0.2, cpus: 4 });
        assert_eq!(found.len(), 2);
        assert!(found[0].seen.contains("cc1 (7) 0.90"));
        assert!(found[1].seen.contains("5.0%"));
        found.clear();
        judge(&mut found, &Activity { busy: vec![], others: 1.0, steal: 0.0, cpus: 4 });
        assert!(found[0].seen.contains("nobody that can be seen"));
    }
}
