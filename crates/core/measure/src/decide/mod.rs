//! From the samples of a result to a verdict: converged, continue, cannot converge, or modes. Pure. The width of an
//! interval is compared with a target here and in [`stats::stop`], always by [`Estimate::is_narrow`].

mod expected;
pub(crate) mod pairs;
pub(crate) mod tails;

use model::{
    BenchmarkResult, Better, Estimate, EstimateMethod, Flag, Footprint, Mode, Outcome, Plan, QuantileEstimate, RULES,
    Sample, ValueBasis,
};
use stats::order_statistic::{sample_median_interval, sample_median_range};
use stats::{CALLING_LEVEL, FastBatches, Interval, PairedDifference, difference, modes_of_samples};

pub(crate) use self::expected::expected;

/// A sample that counts, as a verdict sees it.
#[derive(Debug)]
pub(crate) struct Classified<'a> {
    pub(crate) sample: &'a Sample,
    /// Its value on the basis of the result's.
    pub(crate) value: f64,
    /// Values of the batches (of a difference: pairs) on which it is based.
    pub(crate) batches: Vec<f64>,
    /// Nanoseconds of these batches; of pairs those of the work, then those of the overhead.
    pub(crate) kept_nanos: [Vec<f64>; 2],
    /// Result of the method of a difference for two equal kernels.
    pub(crate) null: Option<f64>,
}

/// Goal of a result: its target and level.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Goal<'a> {
    pub(crate) plan: &'a Plan,
    /// Half-width at which it has converged.
    pub(crate) target: f64,
    /// Whether it is the difference of pairs.
    pub(crate) paired: bool,
    /// Smallest step of the clock that times batches, nanoseconds.
    pub(crate) tick: u64,
}

/// The verdict on the samples of a result.
#[derive(Debug)]
pub(crate) struct Verdict {
    outcome: Outcome,
    resolution: Option<f64>,
    flags: Vec<Flag>,
    quantiles: Vec<QuantileEstimate>,
    footprint: Footprint,
    /// Whether it needs no further sample: it is within its target, or at the last checkpoint.
    finished: bool,
}

impl Verdict {
    /// The verdict on these samples; `flags` come from the quality of their measurement.
    pub(crate) fn of(
        result: &BenchmarkResult,
        samples: &[Classified<'_>],
        mut flags: Vec<Flag>,
        goal: Goal<'_>,
    ) -> Self {
        let values: Vec<f64> = samples.iter().map(|sample| sample.value).collect();
        let checkpoints = &goal.plan.checkpoints;
        let last = checkpoints.last().is_some_and(|checkpoint| values.len() >= *checkpoint as usize);
        let at_checkpoint = checkpoints.contains(&count(values.len()));
        let Value { outcome, within, resolution } = if goal.paired {
            difference_of(result, samples, &values, goal)
        } else {
            single(result, samples, &values, goal)
        };
        let finished = last || (at_checkpoint && within);
        let samples: Vec<&Sample> = samples.iter().map(|sample| sample.sample).collect();
        let positive = values.iter().all(|value| *value > 0.0);
        let times: Vec<f64> = samples.iter().map(|sample| sample.began).collect();
        let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        let modes = matches!(outcome, Outcome::Modes(_));
        let found = [
            (Flag::Drift, positive && stats::drift::drifts(&times, &logs, goal.plan.band)),
            (Flag::Floor, near_the_tick(result, &samples, &outcome, goal.tick)),
            (Flag::Modes, modes),
            (Flag::CannotConverge, last && !within && !modes),
            (Flag::Unfinished, !finished),
        ];
        flags.extend(found.into_iter().filter(|(_, found)| *found).map(|(flag, _)| flag));
        flags.sort_unstable();
        let sum = |sum: Option<Footprint>, sample: &&Sample| {
            Some(sum.map_or_else(|| sample.footprint.clone(), |sum| sum.plus(&sample.footprint)))
        };
        let quantiles = tails::quantiles(result, &samples, goal.plan.level);
        let footprint = samples.iter().fold(None, sum).unwrap_or_default();
        Self { outcome, resolution, flags, quantiles, footprint, finished }
    }

    /// Writes the verdict into its result. Returns whether it needs no further sample.
    pub(crate) fn apply(self, result: &mut BenchmarkResult) -> bool {
        result.outcome = self.outcome;
        result.resolution = self.resolution;
        result.flags = self.flags;
        result.quantiles = self.quantiles;
        result.footprint = self.footprint;
        self.finished
    }
}

/// Ends a result whose samples were made for another one: it is neither unfinished nor unable to reach its target. The
/// flag for that remains only if its interval is as narrow as the target but was not declared so.
pub fn end_follower(result: &mut BenchmarkResult, target: f64) {
    result.flags.retain(|flag| !matches!(flag, Flag::Unfinished | Flag::CannotConverge));
    let by_luck = |one: &Estimate| one.is_narrow(target) && one.level < CALLING_LEVEL;
    if result.outcome.estimate().is_some_and(by_luck) {
        result.flags.push(Flag::CannotConverge);
        result.flags.sort_unstable();
    }
}

/// Whether the interval of a result calls it within a target, whatever its flags say.
pub(crate) fn is_called(result: &BenchmarkResult, target: f64) -> bool {
    result.outcome.estimate().is_some_and(|one| one.is_within(target, CALLING_LEVEL))
}

/// The interval of some values, or their range if they are too few for one.
pub(crate) fn interval_or_range(values: &[f64], level: f64, batches: u32) -> Option<Estimate> {
    let found = sample_median_interval(values, level).or_else(|| sample_median_range(values))?;
    Some(estimate(found.median, found.interval, values.len(), batches, EstimateMethod::OrderStatistic))
}

/// The value of a result, and whether it is within its target.
struct Value {
    outcome: Outcome,
    within: bool,
    resolution: Option<f64>,
}

impl Value {
    fn nothing(reason: &str) -> Self {
        Self { outcome: Outcome::NotMeasured(reason.to_owned()), within: false, resolution: None }
    }

    fn modes(modes: &[stats::ModeGroup], values: &[f64], level: f64, batches: u32) -> Self {
        let modes = modes.iter().map(|mode| mode_of(mode, values, level, batches)).collect();
        Self { outcome: Outcome::Modes(modes), within: false, resolution: None }
    }
}

fn single(result: &BenchmarkResult, samples: &[Classified<'_>], values: &[f64], goal: Goal<'_>) -> Value {
    let batches = samples.first().map_or(0, |first| first.sample.nanos.len().max(first.sample.readings.len()));
    let (batches, level) = (count(batches), goal.plan.level);
    // Values in cycles of clean batches do not drift with the host: few of them suffice where they agree well.
    let rule = if *result.basis() == ValueBasis::Cycles { stats::decide_on_clean } else { stats::decide_at_checkpoint };
    let seen = rule(values, &fast_batches(result, samples), goal.target, level);
    if seen.modes.len() > 1 {
        return Value::modes(&seen.modes, values, level, batches);
    }
    let method = if seen.early { EstimateMethod::WidenedExtremes } else { EstimateMethod::OrderStatistic };
    match seen.interval.or_else(|| sample_median_range(values)) {
        Some(found) => {
            let estimate = estimate(found.median, found.interval, values.len(), batches, method);
            Value { outcome: Outcome::Measured(estimate), within: seen.converged, resolution: None }
        }
        None => Value::nothing("the run ended before it had two samples, and one process has no interval"),
    }
}

fn difference_of(result: &BenchmarkResult, samples: &[Classified<'_>], values: &[f64], goal: Goal<'_>) -> Value {
    let level = goal.plan.level;
    let nulls: Vec<f64> = samples.iter().filter_map(|sample| sample.null).collect();
    // Without null pairs the resolution is unknown, which differs from 0.
    let resolution = difference::resolution(&nulls, level);
    let at = |level: f64| difference(values, resolution.unwrap_or(0.0), level);
    let batches = samples.first().map_or(0, |first| first.sample.nanos.len().max(first.sample.readings.len()) / 2);
    let measured = |above: stats::Estimated| {
        let method = EstimateMethod::PairedOrderStatistic;
        estimate(above.value, above.interval, values.len(), count(batches), method)
    };
    let called = match at(level.max(CALLING_LEVEL)) {
        Some(PairedDifference::Above(above)) => {
            Some(measured(above)).filter(|one| one.is_within(goal.target, CALLING_LEVEL))
        }
        _ => None,
    };
    match at(level) {
        Some(PairedDifference::Above(above)) => {
            let modes = modes_of_samples(values, &fast_batches(result, samples));
            if modes.len() > 1 {
                return Value { resolution, ..Value::modes(&modes, values, level, count(batches)) };
            }
            let estimate = called.unwrap_or_else(|| measured(above));
            Value { outcome: Outcome::Measured(estimate), within: called.is_some(), resolution }
        }
        // Only the upper end of the interval is a bound, so it is missed half as often.
        Some(PairedDifference::Below { bound, level: reached }) if (1.0 + reached) / 2.0 >= level => {
            // Further checkpoints could only narrow the bound of a difference that is not there.
            let within = values.len() >= RULES.decide.bound_samples as usize;
            Value { outcome: Outcome::Below { bound }, within, resolution }
        }
        _ => Value::nothing("the run ended before its difference could be bounded"),
    }
}

/// Time per operation that nine in ten batches of each sample exceed, from which pre-empted samples are recognised.
/// `None` if a sample has too few batches, or its value does not come from them.
fn fast_batches(result: &BenchmarkResult, samples: &[Classified<'_>]) -> Vec<Option<FastBatches>> {
    let larger_is_slower = result.metric.better == Better::Lower;
    let of = |sample: &Classified<'_>| {
        let centre = stats::median(&sample.batches)?;
        // Batches that do not correspond to the value have another size; the medians of few noisy pairs only vary.
        let own = (0.5..=2.0).contains(&(centre / sample.value));
        let edge = stats::quantile::quantile(&sample.batches, if larger_is_slower { 0.1 } else { 0.9 })?;
        let enough = sample.batches.len() >= RULES.decide.edge_batches as usize;
        (own && enough).then_some(FastBatches { edge, larger_is_slower })
    };
    samples.iter().map(of).collect()
}

fn estimate(value: f64, interval: Interval, samples: usize, batches: u32, method: EstimateMethod) -> Estimate {
    let Interval { low, high, level } = interval;
    Estimate { value, low, high, level, samples: count(samples), batches, method: method.at(level) }
}

fn mode_of(mode: &stats::ModeGroup, values: &[f64], level: f64, batches: u32) -> Mode {
    let members: Vec<f64> = mode.samples.iter().map(|at| values[*at]).collect();
    let found = interval_or_range(&members, level, batches);
    Mode { share: mode.share, estimate: found.unwrap_or_else(|| Estimate::without_spread(mode.centre)) }
}

/// Whether the timed difference is near a step of the clock. The number of operations cancels for a rate.
fn near_the_tick(result: &BenchmarkResult, samples: &[&Sample], outcome: &Outcome, tick: u64) -> bool {
    let Outcome::Measured(estimate) = outcome else { return false };
    let timed = estimate.value * result.ops as f64 * result.amount * 1e9;
    let counted = !result.metric.unit.is_rate() && result.ops > 0;
    counted && timed < RULES.decide.clock_steps * tick as f64 && samples.iter().all(|sample| sample.readings.is_empty())
}

fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
