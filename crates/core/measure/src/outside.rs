//! CPU time that the hypervisor, a control group's quota and other work took from this machine.

use std::path::Path;
use std::time::Duration;

use model::{BenchmarkResult, Conditions, Run, TakenTime};
use os::usage::{CpuTimes, Usage, Who};

/// Counters of the outside at one moment. `None` where a counter is unreadable.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OutsideCounters {
    /// The batch clock.
    pub at: Duration,
    /// How many CPUs the counters are of.
    pub cpus: u32,
    /// CPU time that the hypervisor took from these CPUs so far.
    pub stolen: Option<Duration>,
    /// For how long quotas of this process's control groups have stopped them so far, summed over CPUs.
    pub throttled: Option<Duration>,
    /// CPU time of this process and of the children that it waited for.
    pub used: Option<Duration>,
    /// CPU time that anything used on these CPUs so far.
    pub busy: Option<Duration>,
    /// Runnable tasks, averaged over a minute.
    pub load: Option<f64>,
    /// CPUs that are online.
    pub online: Option<u32>,
    /// The period of the quota, where one gives less time than these CPUs have.
    pub quota_period: Option<Duration>,
}

impl OutsideCounters {
    /// The counters of the CPUs under test, now.
    #[must_use]
    pub fn now(cpus: &[usize]) -> Self {
        Self::under(Path::new("/"), cpus)
    }

    /// The same from a copy of a machine's `/proc` and `/sys`; the clock, the time used and the load are this
    /// process's.
    pub(crate) fn under(root: &Path, cpus: &[usize]) -> Self {
        let used = |who| Usage::of(who).ok().map(|used| used.cpu());
        let online = os::topology::online_under(root);
        let quota = os::cgroup::limits_under(root).ok().and_then(|limits| limits.quota);
        let quota = quota.filter(|quota| quota.cpus < cpus.len() as f64);
        Self {
            busy: summed(root, cpus, CpuTimes::busy),
            used: used(Who::Process).zip(used(Who::Children)).map(|(own, children)| own + children),
            load: os::usage::load_average().ok().map(|[minute, ..]| minute),
            online: online.ok().map(|online| u32::try_from(online.len()).unwrap_or(u32::MAX)),
            quota_period: quota.map(|quota| quota.period),
            ..Self::taken_under(root, cpus)
        }
    }

    /// Only the counters of steal and throttling, which a sample reads right before and after its batches.
    pub(crate) fn taken_under(root: &Path, cpus: &[usize]) -> Self {
        let mut cpus = cpus.to_vec();
        cpus.sort_unstable();
        cpus.dedup();
        Self {
            at: Duration::from_nanos(kernels::clock::now()),
            cpus: u32::try_from(cpus.len()).unwrap_or(u32::MAX),
            stolen: summed(root, &cpus, |times| times.steal),
            throttled: os::cgroup::throttled_under(root).ok().map(|throttled| throttled.time),
            ..Self::default()
        }
    }

    /// Time that the hypervisor took from these CPUs since `before`.
    #[must_use]
    pub fn stolen_since(&self, before: &Self) -> Option<TakenTime> {
        Some(self.taken(self.stolen?, before.stolen?, before))
    }

    /// For how long quotas stopped these CPUs since.
    #[must_use]
    pub fn throttled_since(&self, before: &Self) -> Option<TakenTime> {
        Some(self.taken(self.throttled?, before.throttled?, before))
    }

    /// How long quotas stopped this process and its children since, as a share of the time that they wanted to run.
    #[must_use]
    pub fn kept_waiting_since(&self, before: &Self) -> Option<TakenTime> {
        let seconds = self.throttled?.saturating_sub(before.throttled?).as_secs_f64();
        let used = self.used?.saturating_sub(before.used?).as_secs_f64();
        Some(TakenTime { seconds, of: used + seconds })
    }

    /// CPU time that other processes used on these CPUs since. The kernel counts CPU time in ticks, and a process's
    /// time more finely, so a few hundredths of the time are no evidence.
    #[must_use]
    pub fn others_since(&self, before: &Self) -> Option<TakenTime> {
        let own = self.used?.saturating_sub(before.used?);
        Some(self.taken(self.busy?.saturating_sub(own), before.busy?, before))
    }

    /// Relative to the whole time of these CPUs in this period.
    fn taken(&self, now: Duration, then: Duration, before: &Self) -> TakenTime {
        let passed = self.at.saturating_sub(before.at).as_secs_f64();
        TakenTime { seconds: now.saturating_sub(then).as_secs_f64(), of: passed * f64::from(self.cpus) }
    }
}

/// `None` where one of the CPUs is not counted: the sum over the others would go back.
fn summed(root: &Path, cpus: &[usize], of: impl Fn(&CpuTimes) -> Duration) -> Option<Duration> {
    let times = os::usage::per_cpu_times_under(root).ok()?;
    cpus.iter().map(|wanted| times.iter().find(|(cpu, _)| cpu == wanted).map(|(_, times)| of(times))).sum()
}

/// Keeps what disturbs a run while it is measured.
#[derive(Debug, Clone)]
pub struct ConditionsWatch {
    cpus: Vec<usize>,
    before: OutsideCounters,
    /// Records of earlier parts of the run.
    earlier: Conditions,
}

impl ConditionsWatch {
    /// Watches the CPUs that a run may use from now on; `earlier` is what earlier parts of the run recorded.
    #[must_use]
    pub fn begin(earlier: &Conditions, cpus: &[usize]) -> Self {
        Self::from(earlier, cpus, OutsideCounters::now(cpus))
    }

    pub(crate) fn from(earlier: &Conditions, cpus: &[usize], before: OutsideCounters) -> Self {
        Self { cpus: cpus.to_vec(), before, earlier: earlier.clone() }
    }

    /// Writes into the run what disturbed it so far.
    pub fn record(&self, run: &mut Run) {
        self.record_until(run, &OutsideCounters::now(&self.cpus));
    }

    pub(crate) fn record_until(&self, run: &mut Run, now: &OutsideCounters) {
        let (before, earlier) = (&self.before, &self.earlier);
        run.session.conditions = Conditions {
            load: most(earlier.load, before.load),
            others: together(earlier.others, now.others_since(before)),
            cpus: Some(before.cpus).filter(|cpus| *cpus > 0).or(earlier.cpus),
            online: before.online.or(earlier.online),
            steal: together(earlier.steal, now.stolen_since(before)),
            throttled: together(earlier.throttled, now.kept_waiting_since(before)),
            beside: run.session.conditions.beside.take(),
            clock: clock(&run.results),
        };
    }
}

fn most(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    a.zip(b).map(|(a, b)| a.max(b)).or(a).or(b)
}

fn together(a: Option<TakenTime>, b: Option<TakenTime>) -> Option<TakenTime> {
    a.zip(b).map(|(a, b)| a.plus(&b)).or(a).or(b)
}

/// Lowest and highest clock that samples saw, where they could read it.
fn clock(results: &[BenchmarkResult]) -> Option<(f64, f64)> {
    let seen = results.iter().flat_map(|result| &result.samples).filter_map(|sample| sample.frequency);
    seen.reduce(|a, b| (a.0.min(b.0).min(b.1), a.1.max(b.0).max(b.1))).map(|(low, high)| (low.min(high), low.max(high)))
}

#[cfg(test)]
#[path = "outside_tests.rs"]
pub(crate) mod tests;
