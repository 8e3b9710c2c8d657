//! Exclusion of launches by outside evidence, and its limits.
//!
//! Time taken by a hypervisor is counted in ticks, and a launch is hardly longer than one: shares are judged over all
//! launches of a round, or of several rounds. Every exclusion is limited: if more than a fifth of the launches of a
//! result fail for one reason, that reason is a property of the machine, and the launches are used as observed.

use std::mem::discriminant;
use std::ops::RangeInclusive;

use model::{BenchmarkResult, Invalid, Launch, RULES, TakenTime};

/// Whether further launches of a result may be excluded for a reason; `first_look` is the fewest launches that it will
/// have.
#[must_use]
pub fn may_exclude(result: &BenchmarkResult, reason: &Invalid, first_look: u32) -> bool {
    let excluded = result.launches.iter().filter_map(|launch| launch.invalid.as_ref());
    let excluded = excluded.filter(|known| discriminant(*known) == discriminant(reason)).count();
    excluded < (RULES.quality.excluded_share * result.launches.len().max(first_look as usize) as f64) as usize
}

/// Whether the hypervisor certainly took more of the watched time than is acceptable. A counter that moved by one tick
/// may have been moved by almost nothing, and fewer than `quality.steal_ticks` are too few to judge.
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

/// Reason that makes a launch invalid, if others took the CPU that was offered in a share of its batches that moves
/// the median of all.
pub(crate) fn handed_over(batches: u32, of: u32) -> Option<Invalid> {
    let much = f64::from(batches) >= RULES.quality.handed_over * f64::from(of.max(1));
    much.then_some(Invalid::HandedOver { batches, of })
}

/// Excludes the launches of a pinned result that other programs preempted while it ran undisturbed in others. On a
/// machine where that is hardly ever so, all of them count as they are.
pub(crate) fn mark_preempted(result: &mut BenchmarkResult) {
    let rules = &RULES.quality;
    let ran = |launch: &Launch| {
        let cpu = launch.footprint.cpu_seconds.filter(|_| !launch.placement.asked.is_empty())?;
        let seconds = launch.nanos.iter().sum::<u64>() as f64 * 1e-9;
        (seconds > 0.0).then(|| cpu / seconds)
    };
    let usual = result.launches.iter().filter_map(ran).fold(0.0, f64::max);
    let preempted = |launch: &Launch| {
        let switches = launch.footprint.involuntary_switches.unwrap_or(0) as f64;
        let switched = switches >= rules.preempted_switches * launch.nanos.len() as f64;
        ran(launch).filter(|ran| switched && usual >= rules.busy && *ran < rules.preempted * usual)
    };
    let found: Vec<Option<f64>> = result.launches.iter().map(preempted).collect();
    let quiet = found.iter().filter(|ran| ran.is_none()).count();
    let throughout =
        found.len() >= rules.machine_launches as usize && (quiet as f64) < rules.machine_share * found.len() as f64;
    for (launch, ran) in result.launches.iter_mut().zip(found) {
        if matches!(launch.invalid, None | Some(Invalid::Contended { .. } | Invalid::Preempted { .. })) {
            let own = launch.invalid.take().filter(|reason| !matches!(reason, Invalid::Preempted { .. }));
            launch.invalid = ran.filter(|_| !throughout).map(|ran| Invalid::Preempted { ran, usual }).or(own);
        }
    }
}

/// Time taken from the launches of some rounds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct RoundEvidence {
    stolen: TakenTime,
    throttled: TakenTime,
}

impl RoundEvidence {
    /// Of all launches of these rounds, each process counted once: results that share a launch watched the same time.
    pub(crate) fn of(results: &[BenchmarkResult], rounds: &RangeInclusive<u32>) -> Self {
        let mut launches: Vec<&Launch> = results
            .iter()
            .flat_map(|result| &result.launches)
            .filter(|launch| rounds.contains(&launch.round))
            .collect();
        launches.sort_by(|a, b| a.began.total_cmp(&b.began));
        let mut sum = Self::default();
        for together in launches.chunk_by(|a, b| a.began == b.began) {
            let longest = |of: fn(&Launch) -> Option<TakenTime>| {
                together.iter().filter_map(|launch| of(launch)).max_by(|a, b| a.of.total_cmp(&b.of)).unwrap_or_default()
            };
            sum.stolen = sum.stolen.plus(&longest(|launch| launch.stolen));
            sum.throttled = sum.throttled.plus(&longest(|launch| launch.throttled));
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

/// Excludes launches of a result in these rounds, within the limits; returns their number. Throttling is counted to the
/// nanosecond, so a launch whose counter did not change was not throttled.
pub(crate) fn exclude(
    result: &mut BenchmarkResult,
    rounds: &RangeInclusive<u32>,
    reason: &Invalid,
    first_look: u32,
) -> usize {
    let concerned = |launch: &Launch| {
        launch.invalid.is_none()
            && rounds.contains(&launch.round)
            && (!matches!(reason, Invalid::Throttled(_)) || launch.throttled.is_some_and(|taken| taken.seconds > 0.0))
    };
    let places: Vec<usize> = (0..result.launches.len()).filter(|at| concerned(&result.launches[*at])).collect();
    let mut excluded = 0;
    for at in places {
        if may_exclude(result, reason, first_look) {
            result.launches[at].invalid = Some(reason.clone());
            excluded += 1;
        }
    }
    excluded
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use model::{Class, Metric, Point, ResultKey, Unit};

    use super::*;

    fn result(launches: Vec<Launch>) -> BenchmarkResult {
        let metric = Metric::lower(Unit::Seconds, "operation");
        let result = BenchmarkResult::unmeasured(ResultKey::new("a.b", Point::origin()), "a", metric, Class::Compute);
        BenchmarkResult { launches, ..result }
    }

    /// A launch of `of` ticks of which some were stolen.
    fn launch(round: u32, began: f64, stolen: f64, watched: f64) -> Launch {
        let taken = TakenTime { seconds: stolen * tick(), of: watched * tick() };
        let throttled = Some(TakenTime { seconds: 0.0, ..taken });
        Launch { round, began, stolen: Some(taken), throttled, ..Launch::default() }
    }

    /// A launch of 24 batches that ran for a part of its time, and was switched away from so many times.
    fn ran(share: f64, switches: u64) -> Launch {
        let mut launch = Launch { nanos: vec![1_000_000; 24], ..Launch::default() };
        launch.placement.asked = vec![0, 0];
        launch.footprint.cpu_seconds = Some(share * 0.024);
        launch.footprint.involuntary_switches = Some(switches);
        launch
    }

    fn excluded(launches: Vec<Launch>) -> Vec<bool> {
        let mut result = result(launches);
        mark_preempted(&mut result);
        result.launches.iter().map(|launch| matches!(launch.invalid, Some(Invalid::Preempted { .. }))).collect()
    }

    #[test]
    fn launches_that_others_preempted_are_excluded_where_one_was_not() {
        // Three of four beside busy programs, as recorded: the fourth is the right one.
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
        let of = |launches: Vec<Launch>| RoundEvidence::of(&[result(launches)], &(0..=9));
        let many = |count: u32, stolen: f64| (0..count).map(|at| launch(at, f64::from(at), stolen, 3.0)).collect();
        assert!(
            !of(many(10, 1.0)).suffices() && of(many(10, 1.0)).reasons().is_empty(),
            "30 ticks, ten of them stolen"
        );
        let mut twenty: Vec<Launch> = many(20, 0.0);
        twenty.iter_mut().for_each(|launch| launch.round = 0);
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
        let shared: Vec<BenchmarkResult> = (0..10).map(|_| result(vec![launch(0, 1.0, 1.0, 8.0)])).collect();
        let seen = RoundEvidence::of(&shared, &(0..=0));
        assert!((seen.stolen.of - 8.0 * tick()).abs() < 1e-9 && !seen.suffices(), "{seen:?}");
    }

    #[test]
    fn a_fifth_of_the_launches_is_the_most_that_is_excluded_for_one_reason() {
        let mut result = result((0..40).map(|at| launch(at, f64::from(at), 2.0, 3.0)).collect());
        let stolen = Invalid::Stolen(TakenTime { seconds: 1.0, of: 3.0 });
        let excluded: usize = (0..40).map(|round| exclude(&mut result, &(round..=round), &stolen, 10)).sum();
        assert_eq!((excluded, result.values().len()), (8, 32));
        assert!(!may_exclude(&result, &stolen, 10));
        assert!(may_exclude(&result, &Invalid::Suspended(1.0), 10), "another reason has its own fifth");
        let few = BenchmarkResult { launches: Vec::new(), ..result.clone() };
        assert!(may_exclude(&few, &stolen, 10), "two of the first ten");
    }

    #[test]
    fn throttling_excludes_the_launches_that_it_stopped_and_no_other() {
        let mut launches: Vec<Launch> = (0..10).map(|at| launch(0, f64::from(at), 0.0, 10.0)).collect();
        for stopped in &mut launches[2..4] {
            stopped.throttled.as_mut().unwrap().seconds = 5.0 * tick();
        }
        let mut result = result(launches);
        let reasons = RoundEvidence::of(std::slice::from_ref(&result), &(0..=0)).reasons();
        let [reason @ Invalid::Throttled(taken)] = &reasons[..] else { panic!("{reasons:?}") };
        assert!((taken.share().unwrap().get() - 0.1).abs() < 1e-9);
        assert_eq!(exclude(&mut result, &(0..=0), reason, 10), 2);
        let places: Vec<usize> = (0..10).filter(|at| result.launches[*at].invalid.is_some()).collect();
        assert_eq!(places, [2, 3]);
    }
}
