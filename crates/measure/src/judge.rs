//! From the launches of a figure to its outcome.

use model::{
    Better, Estimate, EstimateMethod, Figure, Flag, Footprint, Launch, Mode, Outcome, Plan, TakenTime, ValueBasis,
};
use stats::order_statistic::{MedianInterval, launch_median_interval, launch_median_range};
use stats::{FastBatches, PairedDifference, difference, look_at_launches, look_at_undisturbed, modes_of_launches};

use crate::{references, tails};

/// A batch of more than this multiple of the median of its launch is disturbed.
const DISTURBED: f64 = 1.5;
/// Share of disturbed batches from which a figure is flagged noisy.
const MANY: f64 = 0.10;
/// Share of time taken from which a figure is flagged.
const TAKEN: f64 = 0.01;
/// Fewest batches of a launch that show whether it was slow throughout.
const FEWEST_BATCHES: usize = 4;
/// Sets the outcome, flags, quantiles and footprint of a figure from its launches. Returns whether it is finished:
/// within its target, or at the last look.
pub fn judge(figure: &mut Figure, plan: &Plan, target: f64, tick: u64) -> bool {
    let launches: Vec<&Launch> = figure.counted();
    let values: Vec<f64> = figure.values();
    let last = plan.looks.last().is_some_and(|look| values.len() >= *look as usize);
    let at_look = plan.looks.contains(&u32::try_from(values.len()).unwrap_or(u32::MAX));
    let nulls = null_differences(figure, &launches);
    let batches = launches.first().map_or(0, |launch| launch.nanos.len().max(launch.readings.len()));
    let batches = u32::try_from(batches).unwrap_or(u32::MAX) / if nulls.is_some() { 2 } else { 1 };

    let fast: Vec<Option<FastBatches>> = launches.iter().map(|launch| fast_batches(figure, launch)).collect();

    let verdict = match nulls {
        Some(nulls) => paired(&values, &fast, &nulls, plan, target, batches),
        None => single(figure, &values, &fast, plan, target, batches),
    };
    let finished = last || (at_look && verdict.within);
    let quantiles = tails::quantiles(figure, &launches, plan.level);
    let footprint = launches
        .iter()
        .map(|launch| &launch.footprint)
        .fold(None, |sum: Option<Footprint>, one| Some(sum.map_or_else(|| one.clone(), |sum| sum.plus(one))));
    let mut flags = evidence(figure, &launches, &values, plan, tick, &verdict.outcome);
    if matches!(verdict.outcome, Outcome::Modes(_)) {
        flags.push(Flag::Modes);
    } else if last && !verdict.within {
        flags.push(Flag::CannotConverge);
    }
    if !finished {
        flags.push(Flag::Unfinished);
    }
    flags.sort_unstable();
    figure.outcome = verdict.outcome;
    figure.resolution = verdict.resolution;
    figure.flags = flags;
    figure.quantiles = quantiles;
    figure.footprint = footprint.unwrap_or_default();
    finished
}

/// Ends a figure whose launches were made for another one: it is neither unfinished nor unable to reach its target. The
/// flag for that remains only if its interval is as narrow as the target but was not declared so.
pub fn end_follower(figure: &mut Figure, target: f64) {
    figure.flags.retain(|flag| !matches!(flag, Flag::Unfinished | Flag::CannotConverge));
    let by_luck = |one: &Estimate| one.relative_half_width() <= target && one.level < stats::CALLING_LEVEL;
    if figure.outcome.estimate().is_some_and(by_luck) {
        figure.flags.push(Flag::CannotConverge);
        figure.flags.sort_unstable();
    }
}

struct FigureVerdict {
    outcome: Outcome,
    within: bool,
    resolution: Option<f64>,
}

impl FigureVerdict {
    fn nothing(reason: &str) -> Self {
        Self { outcome: Outcome::Unfit(reason.to_owned()), within: false, resolution: None }
    }
}

fn single(
    figure: &Figure,
    values: &[f64],
    fast: &[Option<FastBatches>],
    plan: &Plan,
    target: f64,
    batches: u32,
) -> FigureVerdict {
    // Values in cycles of undisturbed batches do not drift with the host: few of them suffice where they agree well.
    let undisturbed = *figure.basis() == ValueBasis::Cycles;
    let look = if undisturbed { look_at_undisturbed } else { look_at_launches }(values, fast, target, plan.level);
    if look.modes.len() > 1 {
        return in_modes(&look.modes, values, plan.level, batches, None);
    }
    let Some(found) = look.interval.or_else(|| launch_median_range(values)) else {
        return FigureVerdict::nothing("the run ended before it had two launches, and one process has no interval");
    };
    let method = if look.early { EstimateMethod::WidenedExtremes } else { EstimateMethod::OrderStatistic };
    let estimate = estimate(&found, values.len(), batches, method);
    FigureVerdict { outcome: Outcome::Measured(estimate), within: look.converged, resolution: None }
}

fn in_modes(
    modes: &[stats::ModeGroup],
    values: &[f64],
    level: f64,
    batches: u32,
    resolution: Option<f64>,
) -> FigureVerdict {
    let modes = modes.iter().map(|mode| mode_of(mode, values, level, batches)).collect();
    FigureVerdict { outcome: Outcome::Modes(modes), within: false, resolution }
}

fn paired(
    values: &[f64],
    fast: &[Option<FastBatches>],
    nulls: &[f64],
    plan: &Plan,
    target: f64,
    batches: u32,
) -> FigureVerdict {
    // Without null pairs the resolution is unknown, which differs from 0.
    let resolution = difference::resolution(nulls, plan.level);
    let at = |level: f64| difference(values, resolution.unwrap_or(0.0), level);
    let measured = |above: stats::Estimated| Estimate {
        value: above.value,
        low: above.interval.low,
        high: above.interval.high,
        level: above.interval.level,
        launches: u32::try_from(values.len()).unwrap_or(u32::MAX),
        batches,
        method: EstimateMethod::PairedOrderStatistic.at(above.interval.level),
    };
    // As for every figure: an interval of a higher level declares it within its target, and that interval is printed.
    let called = match at(plan.level.max(stats::CALLING_LEVEL)) {
        Some(PairedDifference::Above(above)) => {
            let calls = |one: &Estimate| one.level >= stats::CALLING_LEVEL && one.relative_half_width() <= target;
            Some(measured(above)).filter(calls)
        }
        _ => None,
    };
    match at(plan.level) {
        Some(PairedDifference::Above(above)) => {
            let modes = modes_of_launches(values, fast);
            if modes.len() > 1 {
                return in_modes(&modes, values, plan.level, batches, resolution);
            }
            let estimate = called.unwrap_or_else(|| measured(above));
            FigureVerdict { outcome: Outcome::Measured(estimate), within: called.is_some(), resolution }
        }
        // Of the two ends of the interval only the upper one is a bound, so it is missed half as often.
        Some(PairedDifference::Below { bound, level }) if (1.0 + level) / 2.0 >= plan.level => {
            // Further looks could only narrow the bound of a difference that is not there.
            let within = values.len() >= 20;
            FigureVerdict { outcome: Outcome::Below { bound }, within, resolution }
        }
        _ => FigureVerdict::nothing("the run ended before its difference could be bounded"),
    }
}

/// Time per operation that nine in ten batches of a launch exceed, from which pre-empted launches are recognised.
/// `None` if the launch has too few batches, or its value does not come from them.
fn fast_batches(figure: &Figure, launch: &Launch) -> Option<FastBatches> {
    let batches = references::batch_values(figure, launch);
    let centre = stats::median(&batches)?;
    // Batches that do not correspond to the value have another size; the medians of few noisy pairs only vary.
    let own = (0.5..=2.0).contains(&(centre / figure.value_of(launch)?));
    let larger_is_slower = figure.metric.better == Better::Lower;
    let edge = stats::quantile::quantile(&batches, if larger_is_slower { 0.1 } else { 0.9 })?;
    (own && batches.len() >= FEWEST_BATCHES).then_some(FastBatches { edge, larger_is_slower })
}

fn estimate(found: &MedianInterval, launches: usize, batches: u32, method: EstimateMethod) -> Estimate {
    Estimate {
        value: found.median,
        low: found.interval.low,
        high: found.interval.high,
        level: found.interval.level,
        launches: u32::try_from(launches).unwrap_or(u32::MAX),
        batches,
        method: method.at(found.interval.level),
    }
}

fn mode_of(mode: &stats::ModeGroup, values: &[f64], level: f64, batches: u32) -> Mode {
    let members: Vec<f64> = mode.launches.iter().map(|at| values[*at]).collect();
    let found = launch_median_interval(&members, level).or_else(|| launch_median_range(&members));
    let estimate = found.map_or_else(
        || Estimate::without_spread(mode.centre),
        |found| estimate(&found, members.len(), batches, EstimateMethod::OrderStatistic),
    );
    Mode { share: mode.share, estimate }
}

fn is_paired(figure: &Figure) -> bool {
    probes::find(&figure.probe).is_some_and(|probe| probe.paired)
}

/// The result of the method for two equal kernels, by launch. `None` if the figure is not a difference.
fn null_differences(figure: &Figure, launches: &[&Launch]) -> Option<Vec<f64>> {
    let null = |launch: &&Launch| references::null_difference(figure, launch);
    is_paired(figure).then(|| launches.iter().filter_map(null).collect())
}

/// Flags that the launches support, independent of their values.
fn evidence(
    figure: &Figure,
    launches: &[&Launch],
    values: &[f64],
    plan: &Plan,
    tick: u64,
    outcome: &Outcome,
) -> Vec<Flag> {
    let mut flags = Vec::new();
    if figure.launches.iter().any(|launch| launch.invalid.is_some()) {
        flags.push(Flag::Repeated);
    }
    let times: Vec<f64> = launches.iter().map(|launch| launch.began).collect();
    let positive = values.iter().all(|value| *value > 0.0);
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    if positive && stats::drift::drifts(&times, &logs, plan.band) {
        flags.push(Flag::Drift);
    }
    let much = |taken: TakenTime| taken.share().is_some_and(|share| share.get() > TAKEN);
    if much(figure.stolen()) {
        flags.push(Flag::Steal);
    }
    if much(figure.throttled()) {
        flags.push(Flag::Throttled);
    }
    if 2 * launches.iter().filter(|launch| !launch.steady).count() > launches.len() {
        flags.push(Flag::NoSteadyState);
    }
    if disturbed_share(figure, launches) > MANY {
        flags.push(Flag::Noisy);
    }
    if figure.is_contended() {
        flags.push(Flag::Contended);
    }
    // The number of operations cancels for a rate: the length of the timed difference is decisive.
    let timed = match outcome {
        Outcome::Measured(estimate) if !figure.metric.unit.is_rate() && figure.ops > 0 => {
            estimate.value * figure.ops as f64 * figure.amount * 1e9
        }
        _ => f64::INFINITY,
    };
    if timed < 10.0 * tick as f64 && launches.iter().all(|launch| launch.readings.is_empty()) {
        flags.push(Flag::Floor);
    }
    flags
}

/// Share of batches, of those on which the value is based, that took far longer than the others of their launch.
fn disturbed_share(figure: &Figure, launches: &[&Launch]) -> f64 {
    let (mut disturbed, mut all) = (0_usize, 0_usize);
    for launch in launches {
        let nanos = references::kept_nanos(figure, launch);
        // Work and overhead of a pair differ by design: each is compared with its own median.
        let sides = if is_paired(figure) { model::split_pairs(&nanos) } else { (nanos, Vec::new()) };
        for side in [sides.0, sides.1] {
            let side: Vec<f64> = side.into_iter().flatten().collect();
            let Some(median) = stats::median(&side) else { continue };
            disturbed += side.iter().filter(|nanos| **nanos > DISTURBED * median).count();
            all += side.len();
        }
    }
    if all == 0 { 0.0 } else { disturbed as f64 / all as f64 }
}
