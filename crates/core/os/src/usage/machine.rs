//! Activity of the whole machine, from `/proc/stat` and `/proc/loadavg` (proc(5)).

use std::path::Path;
use std::time::Duration;

use kernels::text;
use model::Share;

use crate::error::{Error, Result};
use crate::usage::{of_ticks, ticks_per_second};

/// Time that one CPU, or all together, has spent; the kernel counts it in steps of [`crate::usage::clock_tick`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CpuTimes {
    /// User mode, at any priority.
    pub user: Duration,
    /// Kernel mode, for programs and interrupts.
    pub system: Duration,
    /// Idle, or only waiting for devices.
    pub idle: Duration,
    /// Ready to run while the host ran something else.
    pub steal: Duration,
}

impl CpuTimes {
    /// User and system time together.
    #[must_use]
    pub fn busy(&self) -> Duration {
        self.user + self.system
    }

    /// All time: used, idle and stolen.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.busy() + self.idle + self.steal
    }

    /// The share of all time that was used in user and kernel mode; `None` if no time passed.
    #[must_use]
    pub fn busy_share(&self) -> Option<Share> {
        Share::of(self.busy().as_secs_f64(), self.total().as_secs_f64())
    }

    /// Difference to `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            user: self.user.saturating_sub(before.user),
            system: self.system.saturating_sub(before.system),
            idle: self.idle.saturating_sub(before.idle),
            steal: self.steal.saturating_sub(before.steal),
        }
    }
}

/// All CPUs together.
pub fn machine_times() -> Result<CpuTimes> {
    let (all, _) = read(Path::new("/"))?;
    Ok(all)
}

/// Every online CPU with its number.
pub fn per_cpu_times() -> Result<Vec<(usize, CpuTimes)>> {
    per_cpu_times_under(Path::new("/"))
}

/// The same from a copy of a machine's `/proc`.
pub fn per_cpu_times_under(root: &Path) -> Result<Vec<(usize, CpuTimes)>> {
    let (_, each) = read(root)?;
    Ok(each)
}

/// Time that every online CPU spent in soft interrupts, which carry the work of the network (`/proc/stat`).
pub fn soft_interrupt_times() -> Result<Vec<Duration>> {
    let text = text::read("/proc/stat")?;
    let each = |line: &str| {
        let (name, rest) = line.strip_prefix("cpu")?.split_once(' ')?;
        name.parse::<usize>().ok()?;
        Some(of_ticks(rest.split_whitespace().nth(6)?.parse().ok()?, ticks_per_second()))
    };
    Ok(text.lines().filter_map(each).collect())
}

fn read(root: &Path) -> Result<All> {
    parse(&text::read(root.join("proc/stat"))?, ticks_per_second())
}

/// Mean number of runnable and uninterruptible tasks over 1, 5 and 15 minutes.
pub fn load_average() -> Result<[f64; 3]> {
    let text = text::read("/proc/loadavg")?;
    let numbers: Vec<f64> = text.split(' ').filter_map(|word| word.parse().ok()).take(3).collect();
    numbers.try_into().map_err(|_| Error::refused("read /proc/loadavg", "it does not begin with three numbers"))
}

type All = (CpuTimes, Vec<(usize, CpuTimes)>);

fn parse(text: &str, ticks: u64) -> Result<All> {
    let mut all = None;
    let mut each = Vec::new();
    for line in text.lines() {
        let Some((name, rest)) = line.strip_prefix("cpu").and_then(|rest| rest.split_once(' ')) else { continue };
        let counts: Vec<u64> = rest.split_whitespace().map_while(|word| word.parse().ok()).collect();
        let at = |index: usize| of_ticks(counts.get(index).copied().unwrap_or(0), ticks);
        // user nice system idle iowait irq softirq steal guest guest_nice; guest time is already within user.
        let times = CpuTimes { user: at(0) + at(1), system: at(2) + at(5) + at(6), idle: at(3) + at(4), steal: at(7) };
        match name.parse() {
            Ok(number) => each.push((number, times)),
            Err(_) => all = Some(times),
        }
    }
    all.map(|all| (all, each)).ok_or_else(|| Error::refused("read /proc/stat", "it has no line for all CPUs"))
}

/// Physical memory available without swapping, in bytes (`MemAvailable` of `/proc/meminfo`).
pub fn available_bytes() -> Result<u64> {
    let kib: u64 = text::field_number(&text::read("/proc/meminfo")?, "MemAvailable")
        .ok_or_else(|| Error::refused("learn the available memory", "/proc/meminfo has no MemAvailable"))?;
    Ok((kib * 1024).min(crate::cgroup::memory_left().unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_proc_stat() {
        let text = "cpu  10 1 5 100 3 1 2 7 0 0\ncpu0 4 0 2 50 1 0 1 3 0 0\ncpu12 6 1 3 50 2 1 1 4 0 0\nintr 5\nprocesses 77\n";
        let (all, each) = parse(text, 100).unwrap();
        let ms = Duration::from_millis;
        assert_eq!(all, CpuTimes { user: ms(110), system: ms(80), idle: ms(1030), steal: ms(70) });
        let share = Share::of(all.steal.as_secs_f64(), all.total().as_secs_f64()).map_or(0.0, Share::get);
        assert!((share - 70.0 / 1290.0).abs() < 1e-12, "of all time, what was stolen included: {share}");
        // A clock tick that does not divide a second must not be rounded off.
        assert_eq!(parse("cpu 1024 0 0 0\n", 1024).unwrap().0.user, Duration::from_secs(1));
        assert_eq!(each.iter().map(|(cpu, _)| *cpu).collect::<Vec<_>>(), [0, 12]);
        assert_eq!(all.since(&each[0].1).steal, ms(40));
        assert!(parse("nothing", 100).is_err());
        // Kernels before 2.6.11 do not report steal.
        assert_eq!(parse("cpu 1 2 3 4\n", 100).unwrap().0.steal, Duration::ZERO);
    }

    #[test]
    fn this_machine_counts() {
        assert!(!per_cpu_times().unwrap().is_empty());
        assert!(machine_times().unwrap().busy() > Duration::ZERO);
        assert!(load_average().unwrap().iter().all(|load| *load >= 0.0));
    }
}
