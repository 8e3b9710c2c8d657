//! Limits of this process's control group, version 1 and 2, and how often they throttled it.
//!
//! Sources: `Documentation/admin-guide/cgroup-v2.rst` and `Documentation/scheduler/sched-bwc.rst` of the Linux kernel.

use std::path::{Path, PathBuf};
use std::time::Duration;

use kernels::text;

use crate::error::{Error, Result};
use crate::file::{Mount, mounts_under};

/// CPU time that a control group may use per period. A group that has used it is throttled until the next period.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quota {
    /// CPU time per time.
    pub cpus: f64,
    /// Length of a period.
    pub period: Duration,
}

/// Limits of this process. `None` means no limit, or none that could be read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CgroupLimits {
    /// Hierarchy version that controls the CPU: 1 or 2.
    pub version: u32,
    /// The least quota of CPU time over the group and its parents.
    pub quota: Option<Quota>,
    /// CPUs that the cpuset of the group permits, ascending.
    pub cpuset: Option<Vec<usize>>,
    /// Bytes of memory, the least over the group and its parents.
    pub memory_bytes: Option<u64>,
    /// Processes and threads, the least over the group and its parents.
    pub processes: Option<u64>,
    /// Disks with a limit on bytes or operations a second, as `major:minor`.
    pub disks: Vec<String>,
}

/// Throttling by a quota so far, of the group and its parents together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Throttled {
    /// Periods in which the group ran.
    pub periods: u64,
    /// Periods in which the group was throttled.
    pub throttled: u64,
    /// Time throttled, summed over CPUs.
    pub time: Duration,
}

/// Folder of this process's group for one controller, and the mount that contains it.
#[derive(Debug, PartialEq, Eq)]
struct CgroupFolder {
    version: u32,
    top: PathBuf,
    group: PathBuf,
}

impl CgroupFolder {
    /// The group and its parents, as far as the mount shows them.
    fn levels(&self) -> impl Iterator<Item = &Path> {
        self.group.ancestors().take_while(|dir| dir.starts_with(&self.top))
    }
}

/// Version and folder of this process's control group for a controller; `None` where none is mounted.
#[must_use]
pub fn own_folder(controller: &str) -> Option<(u32, PathBuf)> {
    let (groups, mounts) = seen_from(Path::new("/")).ok()?;
    place(&groups, &mounts, controller).map(|found| (found.version, found.group))
}

/// Files of version 1 with limits on disks.
const DISK_LIMITS: &[&str] = &[
    "blkio.throttle.read_bps_device",
    "blkio.throttle.write_bps_device",
    "blkio.throttle.read_iops_device",
    "blkio.throttle.write_iops_device",
];

/// Limits of this process.
pub fn limits() -> Result<CgroupLimits> {
    limits_under(Path::new("/"))
}

/// The same from a copy of a machine's `/proc` and `/sys`.
pub fn limits_under(root: &Path) -> Result<CgroupLimits> {
    let (groups, mounts) = seen_from(root)?;
    let cpu = place(&groups, &mounts, "cpu").ok_or_else(no_group)?;
    let mut found = CgroupLimits { version: cpu.version, quota: least_quota(&cpu), ..CgroupLimits::default() };
    if let Some(cpuset) = place(&groups, &mounts, "cpuset") {
        let name = if cpuset.version == 2 { "cpuset.cpus.effective" } else { "cpuset.effective_cpus" };
        let list = text::read(cpuset.group.join(name)).ok().and_then(|text| text::list(&text));
        found.cpuset = list.filter(|cpus| !cpus.is_empty());
    }
    if let Some(memory) = place(&groups, &mounts, "memory") {
        let name = if memory.version == 2 { "memory.max" } else { "memory.limit_in_bytes" };
        // Version 1 represents "none" by the largest multiple of a page below 2^63.
        found.memory_bytes = least(&memory, |dir| text::number(dir.join(name)).ok().filter(|&n: &u64| n < 1 << 62));
    }
    if let Some(pids) = place(&groups, &mounts, "pids") {
        found.processes = least(&pids, |dir| text::number(dir.join("pids.max")).ok());
    }
    if let Some(io) = place(&groups, &mounts, "blkio") {
        // A line is `8:16 rbps=2097152 wiops=120`, of version 1 `8:16 120`; a disk without a limit has none.
        let files: &[&str] = if io.version == 2 { &["io.max"] } else { DISK_LIMITS };
        let read = |dir: &Path| files.iter().filter_map(|file| text::read(dir.join(file)).ok()).collect::<Vec<_>>();
        let texts: Vec<String> = io.levels().flat_map(read).collect();
        let limited = texts.iter().flat_map(|text| text.lines()).filter_map(|line| Some(line.split_once(' ')?.0));
        found.disks = limited.map(str::to_owned).collect();
        found.disks.sort_unstable();
        found.disks.dedup();
    }
    Ok(found)
}

/// Bytes that this process's group and its parents may still take; `None` where nothing limits them.
#[must_use]
pub fn memory_left() -> Option<u64> {
    memory_left_under(Path::new("/")).ok().flatten()
}

/// Bytes that this process's group and its parents may still use before one of them is at its limit. Reclaimable file
/// pages (`inactive_file`) count as free. `None` without a limit. `None` where nothing limits it.
pub fn memory_left_under(root: &Path) -> Result<Option<u64>> {
    let (groups, mounts) = seen_from(root)?;
    let Some(memory) = place(&groups, &mounts, "memory") else { return Ok(None) };
    let (limit, used, files) = if memory.version == 2 {
        ("memory.max", "memory.current", "inactive_file")
    } else {
        ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
    };
    Ok(least(&memory, |dir| {
        let limit = text::number(dir.join(limit)).ok().filter(|&n: &u64| n < 1 << 62)?;
        let used: u64 = text::number(dir.join(used)).ok()?;
        let stat = text::read(dir.join("memory.stat")).unwrap_or_default();
        let files = text::keyed_number(&stat, files).unwrap_or(0);
        Some(limit.saturating_sub(used.saturating_sub(files)))
    }))
}

/// Processes and threads that a control group permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskRoom {
    /// The least limit over the group and its parents.
    pub limit: u64,
    /// How many more may start before one of them is at its limit.
    pub left: u64,
    /// Starts that they have refused so far.
    pub refused: u64,
}

/// Room for processes and threads in this process's group and its parents; `None` where nothing limits them.
fn task_room() -> Option<TaskRoom> {
    task_room_under(Path::new("/")).ok().flatten()
}

/// The same from a copy of a machine's `/proc` and `/sys`.
pub fn task_room_under(root: &Path) -> Result<Option<TaskRoom>> {
    let (groups, mounts) = seen_from(root)?;
    let Some(pids) = place(&groups, &mounts, "pids") else { return Ok(None) };
    let room = |dir: &Path| {
        let limit: u64 = text::number(dir.join("pids.max")).ok()?;
        let used: u64 = text::number(dir.join("pids.current")).unwrap_or(0);
        let events = text::read(dir.join("pids.events")).unwrap_or_default();
        let refused = text::keyed_number(&events, "max").unwrap_or(0);
        Some(TaskRoom { limit, left: limit.saturating_sub(used), refused })
    };
    Ok(pids.levels().filter_map(room).reduce(|a, b| TaskRoom {
        limit: a.limit.min(b.limit),
        left: a.left.min(b.left),
        refused: a.refused.saturating_add(b.refused),
    }))
}

/// An addition to the error of a failed process or thread, if a control group has refused some.
pub(crate) fn why_not_started() -> Option<String> {
    let room = task_room().filter(|room| room.refused > 0)?;
    Some(format!("a control group permits {} processes and threads", room.limit))
}

/// Throttling of this process's group and its parents so far. An error if none of them counts it.
pub fn throttled() -> Result<Throttled> {
    throttled_under(Path::new("/"))
}

/// The same from a copy of a machine's `/proc` and `/sys`.
pub fn throttled_under(root: &Path) -> Result<Throttled> {
    let (groups, mounts) = seen_from(root)?;
    let place = place(&groups, &mounts, "cpu").ok_or_else(no_group)?;
    // Each group counts throttling by its own quota: a quota of a parent throttles this process as well.
    let levels = place.levels().filter_map(|dir| parse_stat(&text::read(dir.join("cpu.stat")).ok()?));
    levels
        .reduce(|sum, level| Throttled {
            periods: sum.periods.saturating_add(level.periods),
            throttled: sum.throttled.saturating_add(level.throttled),
            time: sum.time.saturating_add(level.time),
        })
        .ok_or_else(|| Error::refused("read cpu.stat", "this group counts no throttling"))
}

/// The groups of this process, and the mounts that show them, with paths below `root`.
fn seen_from(root: &Path) -> Result<(String, Vec<Mount>)> {
    let mut mounts = mounts_under(root)?;
    for mount in &mut mounts {
        mount.point = root.join(mount.point.strip_prefix("/").unwrap_or(&mount.point));
    }
    Ok((text::read(root.join("proc/self/cgroup"))?, mounts))
}

fn parse_stat(text: &str) -> Option<Throttled> {
    let nanos = text::keyed_number(text, "throttled_time").map(Duration::from_nanos);
    let micros = || text::keyed_number(text, "throttled_usec").map(Duration::from_micros);
    Some(Throttled {
        periods: text::keyed_number(text, "nr_periods")?,
        throttled: text::keyed_number(text, "nr_throttled")?,
        time: nanos.or_else(micros)?,
    })
}

fn no_group() -> Error {
    Error::refused("find the control group", "none that controls the CPU is mounted")
}

/// Finds this process's group for a controller. A version 1 hierarchy with the controller comes before version 2,
/// because a controller is in one hierarchy only.
fn place(groups: &str, mounts: &[Mount], controller: &str) -> Option<CgroupFolder> {
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
        Some(CgroupFolder { version, top: mount.point.clone(), group })
    };
    hierarchy(1).or_else(|| hierarchy(2))
}

/// The least value from the group up to the top of its mount.
fn least<T: PartialOrd>(place: &CgroupFolder, read: impl Fn(&Path) -> Option<T>) -> Option<T> {
    place.levels().filter_map(read).reduce(|a, b| if b < a { b } else { a })
}

fn least_quota(place: &CgroupFolder) -> Option<Quota> {
    let levels = place.levels().filter_map(|dir| quota(dir, place.version));
    levels.reduce(|a, b| if b.cpus < a.cpus { b } else { a })
}

fn quota(dir: &Path, version: u32) -> Option<Quota> {
    let (quota, period): (f64, f64) = if version == 2 {
        let text = text::read(dir.join("cpu.max")).ok()?;
        let (quota, period) = text.split_once(' ')?;
        (quota.parse().ok()?, period.parse().ok()?)
    } else {
        (text::number(dir.join("cpu.cfs_quota_us")).ok()?, text::number(dir.join("cpu.cfs_period_us")).ok()?)
    };
    let cpus = quota / period;
    let period = Duration::try_from_secs_f64(period * 1e-6).ok()?;
    (quota > 0.0 && cpus.is_finite()).then_some(Quota { cpus, period })
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
        assert_eq!(least_quota(&place), Some(Quota { cpus: 1.5, period: Duration::from_millis(100) }));
    }

    #[test]
    fn version_1_by_controller_and_a_container_that_sees_a_part() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("cpu.cfs_quota_us"), "50000\n").unwrap();
        fs::write(dir.path().join("cpu.cfs_period_us"), "100000\n").unwrap();
        let mounts = [mount("cgroup", dir.path(), "/docker/x", "rw,cpu,cpuacct")];
        let groups = "5:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n0::/\n";
        let place = place(groups, &mounts, "cpu").unwrap();
        assert_eq!((place.version, least_quota(&place).map(|quota| quota.cpus)), (1, Some(0.5)));
        assert!(super::place(groups, &mounts, "memory").is_none());
    }

    #[test]
    fn a_copied_tree_tells_quota_cpuset_and_the_throttling_of_parents() {
        let root = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("proc/self/cgroup", "0::/pod/box\n");
        put("proc/self/mountinfo", "30 24 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n");
        put("sys/fs/cgroup/pod/cpu.max", "50000 100000\n");
        put("sys/fs/cgroup/pod/cpu.stat", "usage_usec 9\nnr_periods 10\nnr_throttled 4\nthrottled_usec 200000\n");
        put("sys/fs/cgroup/pod/box/cpu.max", "max 100000\n");
        put("sys/fs/cgroup/pod/box/cpu.stat", "usage_usec 9\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n");
        put("sys/fs/cgroup/pod/box/cpuset.cpus.effective", "0,2-3\n");
        let limits = limits_under(root.path()).unwrap();
        assert_eq!(limits.quota.map(|quota| quota.cpus), Some(0.5), "the parent's");
        assert_eq!(limits.cpuset, Some(vec![0, 2, 3]));
        assert_eq!(memory_left_under(root.path()).unwrap(), None);
        assert_eq!(task_room_under(root.path()).unwrap(), None);
        put("sys/fs/cgroup/pod/pids.max", "100\n");
        put("sys/fs/cgroup/pod/pids.current", "90\n");
        put("sys/fs/cgroup/pod/pids.events", "max 3\n");
        put("sys/fs/cgroup/pod/box/pids.max", "max\n");
        let room = TaskRoom { limit: 100, left: 10, refused: 3 };
        assert_eq!(task_room_under(root.path()).unwrap(), Some(room), "the parent's");
        put("sys/fs/cgroup/pod/memory.max", "1000000\n");
        put("sys/fs/cgroup/pod/memory.current", "900000\n");
        put("sys/fs/cgroup/pod/memory.stat", "anon 1\ninactive_file 300000\n");
        put("sys/fs/cgroup/pod/box/memory.max", "max\n");
        assert_eq!(memory_left_under(root.path()).unwrap(), Some(400_000), "the parent's, with what files hold");
        let throttled = throttled_under(root.path()).unwrap();
        assert_eq!((throttled.throttled, throttled.time), (4, Duration::from_millis(200)), "the parent's");
    }

    #[test]
    fn throttling_counters_of_both_versions() {
        let two = parse_stat("usage_usec 9\nnr_periods 10\nnr_throttled 2\nthrottled_usec 30\n");
        let one = parse_stat("nr_periods 10\nnr_throttled 2\nthrottled_time 30000\n");
        assert_eq!(two, Some(Throttled { periods: 10, throttled: 2, time: Duration::from_micros(30) }));
        assert_eq!(one, two);
        assert_eq!(parse_stat("usage_usec 9\n"), None);
    }

    #[test]
    fn limits_of_this_process() {
        match limits() {
            Ok(found) => assert!(found.quota.is_none_or(|quota| quota.cpus > 0.0)),
            Err(reason) => eprintln!("no control group here: {reason}"),
        }
    }
}
