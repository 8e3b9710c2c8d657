//! Exclusion of samples by outside evidence, and its limits.
//!
//! Steal time is counted in ticks, and a sample is hardly longer than one tick. Shares are therefore evaluated over all
//! samples of a round, or of several rounds. Every exclusion is limited: if more than a fifth of the samples of a
//! result fail for one reason, that reason is a property of the machine, and all samples count raw.

use std::mem::discriminant;
use std::ops::RangeInclusive;

use model::{BenchmarkResult, Invalid, RULES, Sample, TakenTime};

/// Whether further samples of a result may be excluded for a reason; `first_checkpoint` is the least number of its
/// samples.
#[must_use]
pub fn may_exclude(result: &BenchmarkResult, reason: &Invalid, first_checkpoint: u32) -> bool {
    let excluded = result.samples.iter().filter_map(|sample| sample.invalid.as_ref());
    let excluded = excluded.filter(|known| discriminant(*known) == discriminant(reason)).count();
    excluded < (RULES.quality.excluded_share * result.samples.len().max(first_checkpoint as usize) as f64) as usize
}

/// Whether the hypervisor certainly took more of the watched time than is acceptable. A counter that moved by one tick
/// may have been moved by almost nothing, and fewer than `quality.steal_ticks` are too few to decide.
#[must_use]
pub fn stolen_too_much(stolen: &TakenTime) -> bool {
    let tick = tick();
    long_enough(stolen.of, tick) && taken_too_much(stolen.seconds - tick, stolen.of)
}

/// Whether a quota throttled more of the time than is acceptable.
#[must_use]
pub fn throttled_too_much(throttled: &TakenTime) -> bool {
    taken_too_much(throttled.seconds, throttled.of)
}

fn tick() -> f64 {
    os::usage::clock_tick().as_secs_f64()
}

fn long_enough(seconds: f64, tick: f64) -> bool {
    seconds >= f64::from(RULES.quality.steal_ticks) * tick
}

fn taken_too_much(seconds: f64, of: f64) -> bool {
    seconds > RULES.quality.taken_round * of
}

/// Reason that makes a sample invalid, if others took the CPU that was offered in a share of its batches that moves
/// the median of all.
pub(crate) fn handed_over(batches: u32, of: u32) -> Option<Invalid> {
    let much = f64::from(batches) >= RULES.quality.handed_over * f64::from(of.max(1));
    much.then_some(Invalid::HandedOver { batches, of })
}

/// Excludes the samples of a pinned result that other programs preempted while it ran clean in others. On a
/// machine where that is hardly ever so, all of them count as they are.
pub(crate) fn mark_preempted(result: &mut BenchmarkResult) {
    let rules = &RULES.quality;
    let ran = |sample: &Sample| {
        let cpu = sample.footprint.cpu_seconds.filter(|_| !sample.placement.asked.is_empty())?;
        let seconds = sample.nanos.iter().sum::<u64>() as f64 * 1e-9;
        (seconds > 0.0).then(|| cpu / seconds)
    };
    let usual = result.samples.iter().filter_map(ran).fold(0.0, f64::max);
    let preempted = |sample: &Sample| {
        let switches = sample.footprint.involuntary_switches.unwrap_or(0) as f64;
        let switched = switches >= rules.preempted_switches * sample.nanos.len() as f64;
        ran(sample).filter(|ran| switched && usual >= rules.busy && *ran < rules.preempted * usual)
    };
    let found: Vec<Option<f64>> = result.samples.iter().map(preempted).collect();
    let quiet = found.iter().filter(|ran| ran.is_none()).count();
    let throughout =
        found.len() >= rules.machine_samples as usize && (quiet as f64) < rules.machine_share * found.len() as f64;
    for (sample, ran) in result.samples.iter_mut().zip(found) {
        if matches!(sample.invalid, None | Some(Invalid::SharedCore { .. } | Invalid::Preempted { .. })) {
            let own = sample.invalid.take().filter(|reason| !matches!(reason, Invalid::Preempted { .. }));
            sample.invalid = ran.filter(|_| !throughout).map(|ran| Invalid::Preempted { ran, usual }).or(own);
        }
    }
}

/// Time taken from the samples of some rounds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct RoundEvidence {
    stolen: TakenTime,
    throttled: TakenTime,
}

impl RoundEvidence {
    /// Sums over all samples of these rounds, each process once: results that share a sample watched the same time.
    pub(crate) fn of(results: &[BenchmarkResult], rounds: &RangeInclusive<u32>) -> Self {
        let mut samples: Vec<&Sample> =
            results.iter().flat_map(|result| &result.samples).filter(|sample| rounds.contains(&sample.round)).collect();
        samples.sort_by(|a, b| a.began.total_cmp(&b.began));
        let mut sum = Self::default();
        for together in samples.chunk_by(|a, b| a.began == b.began) {
            let longest = |of: fn(&Sample) -> Option<TakenTime>| {
                together.iter().filter_map(|sample| of(sample)).max_by(|a, b| a.of.total_cmp(&b.of)).unwrap_or_default()
            };
            sum.stolen = sum.stolen.plus(&longest(|sample| sample.stolen));
            sum.throttled = sum.throttled.plus(&longest(|sample| sample.throttled));
        }
        sum
    }

    /// Whether enough time was watched for meaningful shares.
    pub(crate) fn suffices(&self) -> bool {
        long_enough(self.stolen.of.max(self.throttled.of), tick())
    }

    /// Reasons to exclude these rounds.
    pub(crate) fn reasons(&self) -> Vec<Invalid> {
        let mut reasons = Vec::new();
        if stolen_too_much(&self.stolen) {
            reasons.push(Invalid::Stolen(self.stolen));
        }
        if throttled_too_much(&self.throttled) {
            reasons.push(Invalid::Throttled(self.throttled));
        }
        reasons
    }
}

/// Excludes samples of a result in these rounds, within the limits; returns their number. Throttling is counted to the
/// nanosecond, so a sample whose counter did not change was not throttled.
pub(crate) fn exclude(
    result: &mut BenchmarkResult,
    rounds: &RangeInclusive<u32>,
    reason: &Invalid,
    first_checkpoint: u32,
) -> usize {
    let concerned = |sample: &Sample| {
        sample.invalid.is_none()
            && rounds.contains(&sample.round)
            && (!matches!(reason, Invalid::Throttled(_)) || sample.throttled.is_some_and(|taken| taken.seconds > 0.0))
    };
    let places: Vec<usize> = (0..result.samples.len()).filter(|at| concerned(&result.samples[*at])).collect();
    let mut excluded = 0;
    for at in places {
        if may_exclude(result, reason, first_checkpoint) {
            result.samples[at].invalid = Some(reason.clone());
            excluded += 1;
        }
    }
    excluded
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use model::{Class, Metric, Parameters, ResultKey, Unit};

    use super::*;

    fn result(samples: Vec<Sample>) -> BenchmarkResult {
        let metric = Metric::lower(Unit::Seconds, "operation");
        let result =
            BenchmarkResult::unmeasured(ResultKey::new("a.b", Parameters::none()), "a", metric, Class::Compute);
        BenchmarkResult { samples, ..result }
    }

    /// A sample of `watched` ticks with `stolen` stolen.
    fn sample(round: u32, began: f64, stolen: f64, watched: f64) -> Sample {
        let taken = TakenTime { seconds: stolen * tick(), of: watched * tick() };
        let throttled = Some(TakenTime { seconds: 0.0, ..taken });
        Sample { round, began, stolen: Some(taken), throttled, ..Sample::default() }
    }

    /// A sample of 24 batches that ran for `share` of its time, with this many context switches.
    fn ran(share: f64, switches: u64) -> Sample {
        let mut sample = Sample { nanos: vec![1_000_000; 24], ..Sample::default() };
        sample.placement.asked = vec![0, 0];
        sample.footprint.cpu_seconds = Some(share * 0.024);
        sample.footprint.involuntary_switches = Some(switches);
        sample
    }

    fn excluded(samples: Vec<Sample>) -> Vec<bool> {
        let mut result = result(samples);
        mark_preempted(&mut result);
        result.samples.iter().map(|sample| matches!(sample.invalid, Some(Invalid::Preempted { .. }))).collect()
    }

    #[test]
    fn samples_that_others_preempted_are_excluded_where_one_was_not() {
        // Three of four samples during other programs' work, as recorded: the fourth is the right one.
        assert_eq!(
            excluded(vec![ran(0.02, 20), ran(0.03, 15), ran(0.02, 12), ran(1.0, 12)]),
            [true, true, true, false]
        );
        // All alike: it is what this machine does.
        assert_eq!(excluded(vec![ran(0.02, 20); 3]), [false; 3]);
        // Waiting is the result's own: it ran less, and nothing took the CPU from it.
        assert_eq!(excluded(vec![ran(0.1, 1), ran(1.0, 0)]), [false; 2]);
        assert_eq!(excluded(vec![ran(0.1, 24), ran(0.4, 24)]), [false; 2]);
        // Switches between its own parties are no preemption.
        assert_eq!(excluded(vec![ran(0.97, 350), ran(1.0, 340)]), [false; 2]);
    }

    #[test]
    fn preemption_that_hardly_ever_stops_is_the_machine() {
        let of = |quiet: usize| {
            let rest = vec![ran(0.02, 20); 30 - quiet];
            excluded([vec![ran(1.0, 0); quiet], rest].concat()).iter().filter(|gone| **gone).count()
        };
        assert_eq!((of(2), of(3)), (0, 27));
    }

    #[test]
    fn nothing_is_judged_over_less_than_fifty_ticks_and_one_tick_is_forgiven() {
        let of = |samples: Vec<Sample>| RoundEvidence::of(&[result(samples)], &(0..=9));
        let many = |count: u32, stolen: f64| (0..count).map(|at| sample(at, f64::from(at), stolen, 3.0)).collect();
        assert!(
            !of(many(10, 1.0)).suffices() && of(many(10, 1.0)).reasons().is_empty(),
            "30 ticks, ten of them stolen"
        );
        let mut twenty: Vec<Sample> = many(20, 0.0);
        twenty.iter_mut().for_each(|sample| sample.round = 0);
        assert!(of(twenty.clone()).suffices() && of(twenty.clone()).reasons().is_empty());
        twenty[3].stolen.as_mut().unwrap().seconds = tick();
        assert!(of(twenty.clone()).reasons().is_empty(), "one tick of sixty may have been almost nothing");
        twenty[5].stolen.as_mut().unwrap().seconds = tick();
        assert!(of(twenty.clone()).reasons().is_empty(), "at least one of sixty: 1.7%");
        twenty[6].stolen.as_mut().unwrap().seconds = tick();
        let reasons = of(twenty).reasons();
        let [Invalid::Stolen(taken)] = &reasons[..] else { panic!("{reasons:?}") };
        assert!((taken.seconds - 3.0 * tick()).abs() < 1e-9 && (taken.of - 60.0 * tick()).abs() < 1e-9);
    }

    #[test]
    fn results_of_one_process_watched_the_same_time() {
        let shared: Vec<BenchmarkResult> = (0..10).map(|_| result(vec![sample(0, 1.0, 1.0, 8.0)])).collect();
        let seen = RoundEvidence::of(&shared, &(0..=0));
        assert!((seen.stolen.of - 8.0 * tick()).abs() < 1e-9 && !seen.suffices(), "{seen:?}");
    }

    #[test]
    fn a_fifth_of_the_samples_is_the_most_that_is_excluded_for_one_reason() {
        let mut result = result((0..40).map(|at| sample(at, f64::from(at), 2.0, 3.0)).collect());
        let stolen = Invalid::Stolen(TakenTime { seconds: 1.0, of: 3.0 });
        let excluded: usize = (0..40).map(|round| exclude(&mut result, &(round..=round), &stolen, 10)).sum();
        assert_eq!((excluded, result.values().len()), (8, 32));
        assert!(!may_exclude(&result, &stolen, 10));
        assert!(may_exclude(&result, &Invalid::Suspended(1.0), 10), "another reason has its own fifth");
        let few = BenchmarkResult { samples: Vec::new(), ..result.clone() };
        assert!(may_exclude(&few, &stolen, 10), "two of the first ten");
    }

    #[test]
    fn throttling_excludes_the_samples_that_it_stopped_and_no_other() {
        let mut samples: Vec<Sample> = (0..10).map(|at| sample(0, f64::from(at), 0.0, 10.0)).collect();
        for stopped in &mut samples[2..4] {
            stopped.throttled.as_mut().unwrap().seconds = 5.0 * tick();
        }
        let mut result = result(samples);
        let reasons = RoundEvidence::of(std::slice::from_ref(&result), &(0..=0)).reasons();
        let [reason @ Invalid::Throttled(taken)] = &reasons[..] else { panic!("{reasons:?}") };
        assert!((taken.share().unwrap().get() - 0.1).abs() < 1e-9);
        assert_eq!(exclude(&mut result, &(0..=0), reason, 10), 2);
        let places: Vec<usize> = (0..10).filter(|at| result.samples[*at].invalid.is_some()).collect();
        assert_eq!(places, [2, 3]);
    }
}
