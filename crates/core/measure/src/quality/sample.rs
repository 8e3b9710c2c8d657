//! Decides which batches and samples of a result count, and the basis of its value.

use model::{
    BenchmarkResult, CleanBatches, CpuDistance, Invalid, RULES, RawReason, ResultSensors, Sample, SampleSensors,
    SessionSensors, Share, ValueBasis,
};

use super::batch::{BatchPlace, CleanRule};
use super::distance::moved;
use super::domain::follows;
use super::taken::mark_preempted;
use crate::decide::{Classified, pairs};
use crate::subject::Description;

/// Sensor evidence about the batches of one sample.
#[derive(Debug, Clone, Default)]
struct SampleClass {
    /// The clock of each batch, hertz; `None` if it was disturbed. Empty without readings.
    clocks: Vec<Option<f64>>,
    /// Null batches that are clean, and all of them.
    null: (usize, usize),
}

/// The classes of the samples of a result. Each sample is classified once, when it arrives, and again if the ratio of
/// the exclusive core changes.
#[derive(Debug, Clone, Default)]
pub(crate) struct ResultClasses {
    /// Ratio of the exclusive core on each track; empty if it is not known.
    exclusive: Vec<f64>,
    samples: Vec<SampleClass>,
}

impl ResultClasses {
    /// The classes of a result outside a session, from its document.
    pub(crate) fn of(result: &BenchmarkResult, asked: &Description) -> Self {
        let exclusive = result.sensors.as_ref().map(|sensors| sensors.exclusive.clone()).unwrap_or_default();
        let mut classes = Self { exclusive, samples: Vec::new() };
        classes.classify(result, asked);
        classes
    }

    /// Applies new samples and the session's present evidence: sets which samples count, and the basis of the value.
    pub(crate) fn update(
        &mut self,
        result: &mut BenchmarkResult,
        session: Option<&SessionSensors>,
        asked: &Description,
    ) {
        mark_preempted(result);
        let Some(session) = session else { return };
        let Some(read) = result.samples.iter().find_map(|sample| sample.sensors.as_ref()) else {
            result.sensors = None;
            return;
        };
        let exclusive = exclusive_on(read, session);
        let obstacle = obstacle(result, read, exclusive.is_empty());
        if exclusive != self.exclusive {
            *self = Self { exclusive: exclusive.clone(), samples: Vec::new() };
        }
        let known = self.samples.len().min(result.samples.len());
        self.classify(result, asked);
        for (sample, class) in (0..).zip(&self.samples).skip(known) {
            result.samples[sample].clean = class.clean(result, &result.samples[sample], asked.paired);
        }
        let before = result.sensors.take().unwrap_or_default();
        result.sensors = Some(ResultSensors { domain: asked.domain, exclusive, clock: session.clock, ..before });
        exclude(result, obstacle.is_none(), &session.distances);
        let follows = follows(result);
        let basis = match obstacle.or_else(|| shared_core(result)).or_else(|| self.own_work(result)) {
            Some(reason) => ValueBasis::Raw(reason),
            None if follows.domain == model::Domain::Core && session.clock.is_some() => ValueBasis::Cycles,
            None => ValueBasis::Clean,
        };
        let kept = kept_share(result);
        if let Some(sensors) = &mut result.sensors {
            (sensors.domain, sensors.slope, sensors.basis, sensors.kept) = (follows.domain, follows.slope, basis, kept);
            sensors.clock = session.clock.filter(|_| sensors.basis == ValueBasis::Cycles);
        }
    }

    /// Classifies the samples that are not yet.
    fn classify(&mut self, result: &BenchmarkResult, asked: &Description) {
        let rule = (!self.exclusive.is_empty()).then(|| CleanRule::new(self.exclusive.clone()));
        for sample in result.samples.iter().skip(self.samples.len()) {
            let class = rule.as_ref().map(|rule| SampleClass::of(rule, result, sample, asked.paired));
            self.samples.push(class.unwrap_or_default());
        }
    }

    /// Why the readings are affected by the work itself: far fewer of its batches are clean than of the null
    /// batches.
    fn own_work(&self, result: &BenchmarkResult) -> Option<RawReason> {
        let rules = &RULES.quality;
        let ((mut kept, mut null), (mut own, mut of)) = ((0, 0), (0, 0));
        // Samples that tighten an interval have none, and may be of other minutes.
        for (sample, class) in result.samples.iter().zip(&self.samples).filter(|(_, class)| class.null.1 > 0) {
            let clean = sample.clean.unwrap_or_default();
            (own, of) = (own + clean.batches, of + clean.of);
            (kept, null) = (kept + class.null.0, null + class.null.1);
        }
        let alone = kept as f64 / null.max(1) as f64;
        let own = Share::of(f64::from(own), f64::from(of))?.get();
        let known = null >= rules.null_batches as usize && alone >= rules.null_share;
        (known && own < rules.own_work * alone).then_some(RawReason::OwnWork)
    }

    /// The samples that count, on the basis of the result's value.
    pub(crate) fn samples<'a>(&self, result: &'a BenchmarkResult, asked: &Description) -> Vec<Classified<'a>> {
        let counted = result.samples.iter().enumerate().filter(|(_, sample)| result.counts(sample));
        counted.filter_map(|(at, sample)| self.sample(result, at, sample, asked)).collect()
    }

    fn sample<'a>(
        &self,
        result: &'a BenchmarkResult,
        at: usize,
        sample: &'a Sample,
        asked: &Description,
    ) -> Option<Classified<'a>> {
        let class = self.samples.get(at);
        let batches = class.map_or_else(|| raw(result, sample), |class| class.values(result, sample));
        let nanos: Vec<Option<f64>> =
            sample.nanos.iter().zip(&batches).map(|(nanos, value)| value.map(|_| *nanos as f64)).collect();
        // Work and overhead of a pair differ by design: each is compared with its own median.
        let sides = if asked.paired { model::split_pairs(&nanos) } else { (nanos, Vec::new()) };
        let null = if asked.paired { pairs::null_difference_of(&batches) } else { None };
        let values = if !sample.readings.is_empty() {
            sample.readings.clone()
        } else if asked.paired {
            let (work, overhead) = model::split_pairs(&batches);
            work.iter().zip(&overhead).filter_map(|(work, overhead)| Some((*work)? - (*overhead)?)).collect()
        } else {
            batches.into_iter().flatten().collect()
        };
        let kept = [sides.0, sides.1].map(|side| side.into_iter().flatten().collect());
        Some(Classified { sample, value: result.value_of(sample)?, batches: values, kept_nanos: kept, null })
    }
}

impl SampleClass {
    fn of(rule: &CleanRule, result: &BenchmarkResult, sample: &Sample, paired: bool) -> Self {
        let Some(sensors) = &sample.sensors else { return Self::default() };
        Self { clocks: clocks(rule, sensors, &sample.batches(result.ops), paired), null: null(rule, sensors) }
    }

    /// The clean batches of a sample; `None` without readings.
    fn clean(&self, result: &BenchmarkResult, sample: &Sample, paired: bool) -> Option<CleanBatches> {
        (!self.clocks.is_empty()).then(|| clean_batches(&self.clocks, result, sample, paired))
    }

    /// Every batch of a sample in the order of time in the unit of the result, on the basis of its value: `None` for
    /// batches that do not count.
    fn values(&self, result: &BenchmarkResult, sample: &Sample) -> Vec<Option<f64>> {
        let clock = result.sensors.as_ref().and_then(|sensors| sensors.clock);
        let batches = sample.batches(result.ops);
        let each = |of: &dyn Fn(f64, f64, f64) -> Option<f64>| -> Vec<Option<f64>> {
            let of = |((ops, nanos), clock): (&(u64, u64), &Option<f64>)| {
                of(*ops as f64 * result.amount, *nanos as f64, (*clock)?)
            };
            batches.iter().zip(&self.clocks).map(of).collect()
        };
        match result.basis() {
            ValueBasis::Cycles => each(&|amount, nanos, own| {
                Some(result.metric.at_clock(result.metric.value(amount, nanos * own), clock?))
            }),
            ValueBasis::Clean => each(&|amount, nanos, _| Some(result.metric.value(amount, nanos))),
            ValueBasis::Raw(_) | ValueBasis::All => raw(result, sample),
        }
    }
}

/// Every batch of a sample, raw.
fn raw(result: &BenchmarkResult, sample: &Sample) -> Vec<Option<f64>> {
    let value = |(ops, nanos): &(u64, u64)| Some(result.metric.value(*ops as f64 * result.amount, *nanos as f64));
    sample.batches(result.ops).iter().map(value).collect()
}

/// The clock of each batch of a sample in the order of time, `None` for those that are disturbed.
pub(super) fn clocks(
    rule: &CleanRule,
    sensors: &SampleSensors,
    batches: &[(u64, u64)],
    paired: bool,
) -> Vec<Option<f64>> {
    let side = |at: usize| paired && model::work_first(at / 2) != at.is_multiple_of(2);
    let mut last = [None, None];
    let mut clock = |(at, (_, nanos)): (usize, &(u64, u64))| {
        let like = last[usize::from(side(at))].replace(at);
        rule.clock_of(sensors, BatchPlace { at, of: batches.len(), like, nanos: *nanos })
    };
    batches.iter().enumerate().map(&mut clock).collect()
}

/// Null batches of a sample that are clean, and all of them.
fn null(rule: &CleanRule, sensors: &SampleSensors) -> (usize, usize) {
    let Some(first) = sensors.null.first() else { return (0, 0) };
    let of = first.clock.0.len().saturating_sub(1);
    let tracks = sensors.null.clone();
    let alone = SampleSensors { lengths: sensors.lengths, tracks, ..SampleSensors::default() };
    let clean = |at: &usize| rule.clock_of(&alone, BatchPlace { at: *at, of, like: None, nanos: 0 }).is_some();
    ((0..of).filter(clean).count(), of)
}

/// The common value of the clean batches of a sample with a clock.
pub(super) fn clean_batches(
    clocks: &[Option<f64>],
    result: &BenchmarkResult,
    sample: &Sample,
    paired: bool,
) -> CleanBatches {
    let batches = sample.batches(result.ops);
    let each = |of: &dyn Fn(f64, f64, f64) -> f64| -> Vec<Option<f64>> {
        let of = |((ops, nanos), clock): (&(u64, u64), &Option<f64>)| {
            Some(of(*ops as f64 * result.amount, *nanos as f64, (*clock)?))
        };
        batches.iter().zip(clocks).map(of).collect()
    };
    let values = each(&|amount, nanos, _| result.metric.value(amount, nanos));
    // In nanoseconds of a CPU of 1 Hz a cycle is a second.
    let cycles = each(&|amount, nanos, clock| result.metric.value(amount, nanos * clock));
    let clock = stats::median(&clocks.iter().flatten().copied().collect::<Vec<_>>());
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    if paired {
        let (pairs, of) = pairs::complete(&values);
        let [value, cycles] = [values, cycles].map(|all| pairs::difference_of(&all));
        return CleanBatches { batches: pairs, of, value, cycles, clock };
    }
    let [value, cycles] = [values, cycles].map(|all| stats::median(&all.into_iter().flatten().collect::<Vec<_>>()));
    let kept = count(clocks.iter().flatten().count());
    CleanBatches { batches: kept, of: count(clocks.len()), value, cycles, clock }
}

/// Ratio of the exclusive core on each track; empty if it is not known on all.
fn exclusive_on(read: &SampleSensors, session: &SessionSensors) -> Vec<f64> {
    let of = |cpu: u32| session.exclusive.iter().find(|core| core.cpus.contains(&cpu)).and_then(|core| core.ratio);
    read.tracks.iter().map(|track| of(track.cpu)).collect::<Option<_>>().unwrap_or_default()
}

/// Why batches of this result are not filtered, whatever the readings are.
fn obstacle(result: &BenchmarkResult, read: &SampleSensors, unknown: bool) -> Option<RawReason> {
    let placed = result.samples.iter().find(|sample| sample.sensors.is_some()).map(|sample| &sample.placement.asked);
    let mut cpus = placed.cloned().unwrap_or_default();
    cpus.sort_unstable();
    cpus.dedup();
    if result.samples.iter().any(|sample| !sample.readings.is_empty()) {
        Some(RawReason::OwnReadings)
    } else if is_long(result) {
        Some(RawReason::LongOperation)
    } else if cpus.len() > read.tracks.len().min(RULES.quality.most_parties as usize) {
        Some(RawReason::ManyCpus)
    } else {
        unknown.then_some(RawReason::ExclusiveNeverSeen)
    }
}

/// Whether batches are longer than those that are filtered: by the shortest batch of each sample, which contention does
/// not lengthen.
fn is_long(result: &BenchmarkResult) -> bool {
    let shortest: Vec<f64> =
        result.samples.iter().filter_map(|sample| sample.nanos.iter().min()).map(|nanos| *nanos as f64).collect();
    stats::median(&shortest).is_some_and(|nanos| nanos > RULES.quality.longest_batch)
}

/// Excludes samples with few clean batches, if batches are filtered, and those whose CPUs the host had moved.
fn exclude(result: &mut BenchmarkResult, filtered: bool, usual: &[CpuDistance]) {
    for sample in &mut result.samples {
        if !matches!(sample.invalid, None | Some(Invalid::SharedCore { .. } | Invalid::Moved { .. })) {
            continue;
        }
        let few = sample.clean.filter(|found| filtered && found.batches < RULES.quality.fewest_batches);
        let shared_core = few.map(|found| Invalid::SharedCore { batches: found.batches, of: found.of });
        sample.invalid = sample.sensors.as_ref().and_then(|read| moved(read, usual)).or(shared_core);
    }
}

fn is_shared_core(sample: &Sample) -> bool {
    matches!(sample.invalid, Some(Invalid::SharedCore { .. }))
}

/// Why contention is a property of the machine: hardly any sample has an exclusive core.
fn shared_core(result: &BenchmarkResult) -> Option<RawReason> {
    let rules = &RULES.quality;
    let (clean, shared_core) = clean_samples(result);
    let all = shared_core + clean;
    let hardly_any = (clean as f64) < rules.machine_share * all as f64;
    (all >= rules.machine_samples as usize && hardly_any).then(|| few_clean(clean, all))
}

/// The reason that too few samples are clean.
pub(super) fn few_clean(samples: usize, of: usize) -> RawReason {
    let count = |samples| u32::try_from(samples).unwrap_or(u32::MAX);
    RawReason::FewClean { samples: count(samples), of: count(of) }
}

/// Number of valid samples, and of shared ones.
pub(super) fn clean_samples(result: &BenchmarkResult) -> (usize, usize) {
    let shared_core = result.samples.iter().filter(|sample| is_shared_core(sample)).count();
    let clean = result.samples.iter().filter(|sample| sample.invalid.is_none()).count();
    (clean, shared_core)
}

/// Share of the batches that are clean, of samples that did not wait for it.
fn kept_share(result: &BenchmarkResult) -> Option<Share> {
    let counts = result.samples.iter().filter(|sample| !sample.waited_for_core).filter_map(|sample| sample.clean);
    let (kept, of) = counts.fold((0, 0), |(kept, of), one| (kept + one.batches, of + one.of));
    Share::of(f64::from(kept), f64::from(of))
}

#[cfg(test)]
#[path = "sample_tests.rs"]
pub(super) mod tests;
