//! Watching the host for a while: the clock, contention and stolen time on the CPUs of this process, and which of these
//! CPUs are threads of one core.

mod pairs;
mod separate;

use std::time::Duration;

use model::{HostRecord, Machine, Run, SessionReferences, Share, UnsharedCore};
use sys::kernel::core_reference::CoreReferences;
use sys::usage::CpuTimes;

pub use self::separate::separate_cores;
use crate::engine::Stopper;
use crate::helper::ReferenceHelper;
use crate::references::{
    KnownRatio, RatioHistogram, from_issue, from_runs, from_table, issue_width, learn, median_clock, shared_throughout,
};
use crate::{Error, facts};

/// Most CPUs that are watched: all are read one after the other, so that many would be read rarely.
const MOST_CPUS: usize = 8;
/// Time between two rows of readings of one CPU. Contention that comes and goes faster is seen as its share only.
const EVERY: Duration = Duration::from_millis(20);
/// Readings per row: their middle is not affected by one interrupt.
const ROW: usize = 3;
/// Time between two readings of the counters of stolen time, milliseconds.
const COUNTERS_EVERY: u32 = 200;
/// Share of the time that is kept for the test of pairs.
const FOR_PAIRS: f64 = 0.2;

/// A watch of the host that goes on.
struct HostWatch<'a> {
    allowed: Vec<usize>,
    cpus: Vec<usize>,
    references: CoreReferences,
    record: HostRecord,
    began: u64,
    stopper: &'a Stopper,
}

/// Watches the host for `time`, on at most eight CPUs of this process. `earlier` runs of this machine tell the ratio of
/// its unshared core where the watch itself sees one mode only; `progress` is told the seconds so far.
///
/// # Errors
/// When this machine has no references, or the CPUs of this process cannot be read or set.
pub fn watch_host<'a>(
    machine: &Machine,
    earlier: impl Iterator<Item = &'a Run>,
    time: Duration,
    stopper: &Stopper,
    progress: &mut dyn FnMut(f64),
) -> Result<HostRecord, Error> {
    let allowed = sys::affinity::allowed()?;
    let cpus = spread(&allowed, MOST_CPUS);
    sys::affinity::pin(&cpus[..1])?;
    let found = CoreReferences::calibrate();
    sys::affinity::pin(&allowed)?;
    let references = found?;
    let record = HostRecord {
        references: SessionReferences { lengths: references.lengths(), ..SessionReferences::default() },
        ..HostRecord::default()
    };
    let mut watch = HostWatch { allowed: allowed.clone(), cpus, references, record, began: sys::clock::now(), stopper };
    let watched = watch.watch(time, progress);
    sys::affinity::pin(&allowed)?;
    watched?;
    let known =
        from_runs(machine, earlier).map(|ratio| KnownRatio { ratio, source: model::UnsharedSource::EarlierRuns });
    let known: Vec<KnownRatio> = known.into_iter().chain(from_table(machine)).collect();
    watch.learn(machine, &known);
    Ok(watch.record)
}

/// At most so many of these CPUs, evenly spread.
fn spread(cpus: &[usize], most: usize) -> Vec<usize> {
    let count = cpus.len().min(most);
    (0..count).map(|at| cpus[at * cpus.len() / count]).collect()
}

impl HostWatch<'_> {
    fn elapsed(&self) -> f64 {
        (sys::clock::now() - self.began) as f64 * 1e-9
    }

    fn watch(&mut self, time: Duration, progress: &mut dyn FnMut(f64)) -> Result<(), Error> {
        let seconds = time.as_secs_f64();
        let for_pairs = pairs::seconds(self.cpus.len()).min(FOR_PAIRS * seconds);
        let mut counters = counters();
        // Where no thread can be started, no distance is told.
        let other = |cpu: &usize| ReferenceHelper::start(*cpu, self.references).ok();
        let others: Vec<ReferenceHelper> = self.cpus.iter().skip(1).filter_map(other).collect();
        let (first, own) = (sys::usage::machine_times().ok(), sys::clock::process_cpu().ok());
        let mut counted = 0;
        while self.elapsed() < seconds - for_pairs && !self.stopper.asked() {
            let next =
                self.began + (((self.elapsed() / EVERY.as_secs_f64()).floor() + 1.0) * EVERY.as_nanos() as f64) as u64;
            for cpu in self.cpus.clone() {
                self.read(cpu)?;
            }
            let now = (self.elapsed() * 1e3) as u32;
            if now - counted >= COUNTERS_EVERY {
                counted = now;
                counters = self.note_stolen(now, &counters);
                self.note_distances(now, &others)?;
                progress(self.elapsed());
            }
            sys::timer::sleep(Duration::from_nanos(next.saturating_sub(sys::clock::now())));
        }
        self.record.seconds = self.elapsed();
        self.note_stolen((self.record.seconds * 1e3) as u32, &counters);
        self.record.own_load = own_load(first, own);
        self.record.pairs = pairs::test(&self.cpus, self.references, for_pairs, self.stopper)?;
        Ok(())
    }

    fn read(&mut self, cpu: usize) -> Result<(), Error> {
        sys::affinity::pin(&[cpu])?;
        let (millis, number) = ((self.elapsed() * 1e3) as u32, u32::try_from(cpu).unwrap_or(u32::MAX));
        for _ in 0..ROW {
            self.record.references.samples.push(millis, number, self.references.read_all()?);
        }
        Ok(())
    }

    /// Adds what a cache line takes between the first CPU and each other one.
    fn note_distances(&mut self, millis: u32, others: &[ReferenceHelper]) -> Result<(), Error> {
        let Some(first) = self.cpus.first().filter(|_| !others.is_empty()) else { return Ok(()) };
        sys::affinity::pin(&[*first])?;
        for other in others {
            let Some(picos) = other.distance() else { continue };
            let distances = &mut self.record.distances;
            distances.millis.0.push(millis);
            distances.cpu.0.push(u32::try_from(other.cpu()).unwrap_or(u32::MAX));
            distances.picos.0.push(picos);
        }
        Ok(())
    }

    /// Adds the time stolen from each watched CPU since `before`; returns the counters as they are now.
    fn note_stolen(&mut self, millis: u32, before: &[(usize, CpuTimes)]) -> Vec<(usize, CpuTimes)> {
        let now = counters();
        for cpu in &self.cpus {
            let of =
                |all: &[(usize, CpuTimes)]| all.iter().find(|(number, _)| number == cpu).map(|(_, times)| times.steal);
            if let (Some(before), Some(now)) = (of(before), of(&now)) {
                let stolen = &mut self.record.stolen;
                stolen.millis.0.push(millis);
                stolen.cpu.0.push(u32::try_from(*cpu).unwrap_or(u32::MAX));
                stolen.micros.0.push(u32::try_from(now.saturating_sub(before).as_micros()).unwrap_or(u32::MAX));
            }
        }
        now
    }

    /// Determines the unshared core of each class, the clock and the share of time in which the core was shared.
    fn learn(&mut self, machine: &Machine, known: &[KnownRatio]) {
        let alone = facts::cores_are_alone(machine, &self.allowed);
        let topology = machine.topology.as_ref();
        let class = |cpu: usize| topology.map_or(0, |topology| topology.class(cpu));
        let mut classes: Vec<usize> = self.cpus.iter().map(|cpu| class(*cpu)).collect();
        classes.sort_unstable();
        classes.dedup();
        // Known ratios apply to machines with one class of cores.
        let known = if classes.len() == 1 { known } else { &[] };
        let width = issue_width(machine);
        let references = &mut self.record.references;
        for number in classes {
            let cpus: Vec<u32> = self
                .cpus
                .iter()
                .filter(|cpu| class(**cpu) == number)
                .map(|cpu| u32::try_from(*cpu).unwrap_or(u32::MAX))
                .collect();
            let mut ratios = RatioHistogram::default();
            for (cpu, reading) in references.samples.readings() {
                if cpus.contains(&cpu) {
                    ratios.add(references.lengths.ratio(reading.clock, reading.contention));
                }
            }
            let known: Vec<KnownRatio> = known.iter().copied().chain(from_issue(width, references, &cpus)).collect();
            let learnt = learn(&ratios, &known, alone);
            let learnt =
                if learnt.ratio.is_none() { shared_throughout(&ratios, &known).unwrap_or(learnt) } else { learnt };
            references.unshared.push(UnsharedCore { cpus, ..learnt });
        }
        let moments = references.moments(self.record.seconds);
        let known = || moments.iter().filter(|moment| moment.shared.is_some());
        let shared: f64 = known().filter(|moment| moment.shared == Some(true)).map(|moment| moment.seconds).sum();
        references.core_shared = Share::of(shared, known().map(|moment| moment.seconds).sum());
        references.clock = median_clock(references, self.record.seconds);
    }
}

fn counters() -> Vec<(usize, CpuTimes)> {
    sys::usage::per_cpu_times().unwrap_or_default()
}

/// Share of all CPU time that other processes of this system used since.
fn own_load(first: Option<CpuTimes>, own: Option<Duration>) -> Option<Share> {
    let since = sys::usage::machine_times().ok()?.since(&first?);
    let own = sys::clock::process_cpu().ok()?.saturating_sub(own?);
    Share::of(since.busy().saturating_sub(own).as_secs_f64(), since.total().as_secs_f64())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
    use super::*;

    #[test]
    fn watched_cpus_are_few_and_spread() {
        let all: Vec<usize> = (0..32).collect();
        assert_eq!(spread(&all, 8), [0, 4, 8, 12, 16, 20, 24, 28]);
        assert_eq!(spread(&[3, 5], 8), [3, 5]);
    }

    #[test]
    fn a_short_watch_sees_every_cpu_and_restores_them() {
        let before = sys::affinity::allowed().unwrap();
        let machine = Machine::default();
        let watched =
            watch_host(&machine, std::iter::empty(), Duration::from_millis(400), &Stopper::default(), &mut |_| {});
        assert_eq!(sys::affinity::allowed().unwrap(), before);
        let record = match watched {
            Ok(record) => record,
            Err(why) => return testing::lacks!("{why}"),
        };
        let samples = &record.references.samples;
        for cpu in spread(&before, MOST_CPUS) {
            assert!(samples.cpu.0.contains(&u32::try_from(cpu).unwrap()), "CPU {cpu} was not read");
        }
        assert_eq!(samples.clock.0.len(), samples.millis.0.len());
        let distances = &record.distances;
        assert!(
            distances.millis.0.len() == distances.picos.0.len() && distances.cpu.0.len() == distances.picos.0.len()
        );
        for cpu in spread(&before, MOST_CPUS).into_iter().skip(1) {
            assert!(distances.cpu.0.contains(&u32::try_from(cpu).unwrap()), "no distance to CPU {cpu}");
        }
        assert!(record.seconds > 0.0 && record.references.clock.is_some_and(|clock| clock > 1e8));
        let moments = record.references.moments(record.seconds);
        assert!(moments.iter().all(|moment| moment.seconds >= 0.0 && moment.began <= record.seconds));
        let pairs = before.len().min(MOST_CPUS);
        assert_eq!(record.pairs.len(), pairs * (pairs - 1) / 2);
    }
}
