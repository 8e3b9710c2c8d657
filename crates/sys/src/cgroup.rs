//! The limits that the control group of this process sets, version 1 and 2, and how often they took the CPU away.
//!
//! Sources: `Documentation/admin-guide/cgroup-v2.rst` and `Documentation/scheduler/sched-bwc.rst` of the Linux kernel.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::file::{Mount, mounts};
use crate::text;

/// What limits this process. `None` is no limit, or none that can be read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Limits {
    /// Hierarchy version that controls the CPU: 1 or 2.
    pub version: u32,
    /// CPUs' worth of time in a period, the least over the group and its parents.
    pub cpus: Option<f64>,
    /// Bytes of memory, the least over the group and its parents.
    pub memory_bytes: Option<u64>,
    /// Processes and threads, the least over the group and its parents.
    pub processes: Option<u64>,
}

/// How often a CPU limit took the CPU away, so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Throttled {
    /// Periods in which the group ran.
    pub periods: u64,
    /// Of these, periods in which it was stopped.
    pub throttled: u64,
    /// Nanoseconds it was stopped, summed over CPUs.
    pub nanos: u64,
}

/// Folder of this process's group for one controller, and the mount it lies in.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    version: u32,
    top: PathBuf,
    group: PathBuf,
}

/// Limits of this process.
pub fn limits() -> Result<Limits> {
    let (groups, mounts) = (text::read("/proc/self/cgroup")?, mounts()?);
    let cpu = place(&groups, &mounts, "cpu").ok_or_else(no_group)?;
    let mut found = Limits { version: cpu.version, cpus: least(&cpu, cpu_limit), ..Limits::default() };
    if let Some(memory) = place(&groups, &mounts, "memory") {
        let name = if memory.version == 2 { "memory.max" } else { "memory.limit_in_bytes" };
        // Version 1 says "none" by the largest multiple of a page below 2^63.
        found.memory_bytes = least(&memory, |dir, _| text::number(dir.join(name)).ok().filter(|&n: &u64| n < 1 << 62));
    }
    if let Some(pids) = place(&groups, &mounts, "pids") {
        found.processes = least(&pids, |dir, _| text::number(dir.join("pids.max")).ok());
    }
    Ok(found)
}

/// Throttling of this process's group so far. An error where the group has no CPU controller.
pub fn throttled() -> Result<Throttled> {
    let (groups, mounts) = (text::read("/proc/self/cgroup")?, mounts()?);
    let place = place(&groups, &mounts, "cpu").ok_or_else(no_group)?;
    let file = place.group.join("cpu.stat");
    parse_stat(&text::read(&file)?)
        .ok_or_else(|| Error::refused(format!("read {}", file.display()), "this group counts no throttling"))
}

fn parse_stat(text: &str) -> Option<Throttled> {
    Some(Throttled {
        periods: text::keyed_number(text, "nr_periods")?,
        throttled: text::keyed_number(text, "nr_throttled")?,
        nanos: text::keyed_number(text, "throttled_time")
            .or_else(|| text::keyed_number::<u64>(text, "throttled_usec").map(|micros| micros.saturating_mul(1_000)))?,
    })
}

fn no_group() -> Error {
    Error::refused("find the control group", "none that controls the CPU is mounted")
}

/// Where this process's group for a controller lies. A version 1 hierarchy that has the controller comes before
/// version 2, because a controller lives in one hierarchy only.
fn place(groups: &str, mounts: &[Mount], controller: &str) -> Option<Place> {
    let own = |version: u32| {
        groups.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':');
            let (_, names, path) = (parts.next()?, parts.next()?, parts.next()?);
            let meant = if version == 2 { names.is_empty() } else { names.split(',').any(|name| name == controller) };
            meant.then_some(path)
        })
    };
    let hierarchy = |version: u32| {
        let path = own(version)?;
        let mount = mounts.iter().find(|mount| match version {
            2 => mount.kind == "cgroup2",
            _ => mount.kind == "cgroup" && mount.super_options.split(',').any(|option| option == controller),
        })?;
        // Inside a container the mount may show a part of the hierarchy as its root.
        let below = Path::new(path).strip_prefix(&mount.root).unwrap_or(Path::new(""));
        let group = mount.point.join(below.strip_prefix("/").unwrap_or(below));
        let group = if group.is_dir() { group } else { mount.point.clone() };
        Some(Place { version, top: mount.point.clone(), group })
    };
    hierarchy(1).or_else(|| hierarchy(2))
}

/// The least value from the group up to the top of its mount.
fn least<T: PartialOrd>(place: &Place, read: impl Fn(&Path, u32) -> Option<T>) -> Option<T> {
    let up = place.group.ancestors().take_while(|dir| dir.starts_with(&place.top));
    up.filter_map(|dir| read(dir, place.version)).reduce(|a, b| if b < a { b } else { a })
}

fn cpu_limit(dir: &Path, version: u32) -> Option<f64> {
    let (quota, period): (f64, f64) = if version == 2 {
        let text = text::read(dir.join("cpu.max")).ok()?;
        let (quota, period) = text.split_once(' ')?;
        (quota.parse().ok()?, period.parse().ok()?)
    } else {
        (text::number(dir.join("cpu.cfs_quota_us")).ok()?, text::number(dir.join("cpu.cfs_period_us")).ok()?)
    };
    (quota > 0.0 && period > 0.0).then_some(quota / period)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn mount(kind: &str, point: &Path, root: &str, options: &str) -> Mount {
        Mount {
            device: (0, 1),
            root: root.into(),
            point: point.to_owned(),
            options: String::new(),
            kind: kind.to_owned(),
            source: String::new(),
            super_options: options.to_owned(),
        }
    }

    #[test]
    fn version_2_takes_the_least_of_all_parents() {
        let dir = tempfile::tempdir().unwrap();
        let group = dir.path().join("a/b");
        fs::create_dir_all(&group).unwrap();
        fs::write(group.join("cpu.max"), "max 100000\n").unwrap();
        fs::write(dir.path().join("a/cpu.max"), "150000 100000\n").unwrap();
        let mounts = [mount("cgroup2", dir.path(), "/", "rw")];
        let place = place("0::/a/b\n", &mounts, "cpu").unwrap();
        assert_eq!((place.version, place.group.as_path()), (2, group.as_path()));
        assert_eq!(least(&place, cpu_limit), Some(1.5));
    }

    #[test]
    fn version_1_by_controller_and_a_container_that_sees_a_part() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("cpu.cfs_quota_us"), "50000\n").unwrap();
        fs::write(dir.path().join("cpu.cfs_period_us"), "100000\n").unwrap();
        let mounts = [mount("cgroup", dir.path(), "/docker/x", "rw,cpu,cpuacct")];
        let groups = "5:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n0::/\n";
        let place = place(groups, &mounts, "cpu").unwrap();
        assert_eq!((place.version, least(&place, cpu_limit)), (1, Some(0.5)));
        assert!(super::place(groups, &mounts, "memory").is_none());
    }

    #[test]
    fn throttling_counters_of_both_versions() {
        let two = parse_stat("usage_usec 9\nnr_periods 10\nnr_throttled 2\nthrottled_usec 30\n");
        let one = parse_stat("nr_periods 10\nnr_throttled 2\nthrottled_time 30000\n");
        assert_eq!(two, Some(Throttled { periods: 10, throttled: 2, nanos: 30_000 }));
        assert_eq!(one, two);
        assert_eq!(parse_stat("usage_usec 9\n"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn limits_of_this_process() {
        match limits() {
            Ok(found) => assert!(found.cpus.is_none_or(|cpus| cpus > 0.0)),
            Err(reason) => eprintln!("no control group here: {reason}"),
        }
    }
}
