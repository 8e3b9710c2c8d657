//! From the launches of a figure to what may be said of it.

use model::{Estimate, Figure, Flag, Footprint, Launch, Method, Mode, Outcome, Plan, QuantileEstimate, TakenTime};
use stats::order_statistic::{MedianInterval, median_range, serial_median_interval};
use stats::{Difference, difference};

use crate::pairs;

/// A batch of more than this many times its launch's median is disturbed.
const DISTURBED: f64 = 1.5;
/// Share of disturbed batches from which a figure is called noisy.
const MANY: f64 = 0.10;
/// Share of time taken that a reader should know of.
const TAKEN: f64 = 0.01;
/// How unlikely a trend must be by chance before it is called drift.
const DRIFT_P: f64 = 0.01;
/// Share of pairs in the order of time, less those against it, from which values go one way whatever the p-value says: a
/// curved trend leaves residuals so alike that the correction for autocorrelation takes the trend for them.
const ONE_WAY: f64 = 0.9;

/// Sets a figure's outcome, flags, quantiles and footprint from its launches. Says whether it is settled: within its target, or
/// at the last look.
pub fn judge(figure: &mut Figure, plan: &Plan, target: f64, tick: u64) -> bool {
    let launches: Vec<&Launch> = figure.launches.iter().filter(|launch| launch.invalid.is_none()).collect();
    let values: Vec<f64> = launches.iter().map(|launch| launch.value).collect();
    let last = plan.looks.last().is_some_and(|look| values.len() >= *look as usize);
    let at_look = plan.looks.contains(&u32::try_from(values.len()).unwrap_or(u32::MAX));
    let nulls = null_differences(figure, &launches);
    let batches = launches.first().map_or(0, |launch| launch.nanos.len().max(launch.readings.len()));
    let batches = u32::try_from(batches).unwrap_or(u32::MAX) / if nulls.is_some() { 2 } else { 1 };

    let verdict = match nulls {
        Some(nulls) => paired(&values, &nulls, plan, target, batches),
        None => single(&values, plan, target, batches),
    };
    let settled = last || (at_look && verdict.within);
    let quantiles = quantiles(&launches, plan.level);
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
    if !settled {
        flags.push(Flag::Unfinished);
    }
    flags.sort_unstable();
    figure.outcome = verdict.outcome;
    figure.resolution = verdict.resolution;
    figure.flags = flags;
    figure.quantiles = quantiles;
    figure.footprint = footprint.unwrap_or_default();
    settled
}

struct Verdict {
    outcome: Outcome,
    within: bool,
    resolution: Option<f64>,
}

impl Verdict {
    fn nothing(reason: &str) -> Self {
        Self { outcome: Outcome::Unfit(reason.to_owned()), within: false, resolution: None }
    }
}

fn single(values: &[f64], plan: &Plan, target: f64, batches: u32) -> Verdict {
    let look = stats::look(values, target, plan.level);
    if look.modes.len() > 1 {
        let modes = look.modes.iter().map(|mode| mode_of(mode, values, plan.level, batches)).collect();
        return Verdict { outcome: Outcome::Modes(modes), within: false, resolution: None };
    }
    let Some(found) = look.interval.or_else(|| median_range(values)) else {
        return Verdict::nothing("the run ended before it had two launches, and one process makes no interval");
    };
    let estimate = estimate(&found, values.len(), batches, Method::OrderStatistic);
    Verdict { outcome: Outcome::Measured(estimate), within: look.converged, resolution: None }
}

fn paired(values: &[f64], nulls: &[f64], plan: &Plan, target: f64, batches: u32) -> Verdict {
    let resolution = difference::resolution(nulls, plan.level).unwrap_or(0.0);
    match difference(values, resolution, plan.level) {
        Some(Difference::Above(above)) => {
            let modes = stats::modes(values);
            if modes.len() > 1 {
                let modes = modes.iter().map(|mode| mode_of(mode, values, plan.level, batches)).collect();
                return Verdict { outcome: Outcome::Modes(modes), within: false, resolution: Some(resolution) };
            }
            let estimate = Estimate {
                value: above.value,
                low: above.interval.low,
                high: above.interval.high,
                level: above.interval.level,
                launches: u32::try_from(values.len()).unwrap_or(u32::MAX),
                batches,
                method: Method::PairedOrderStatistic,
            };
            let within = estimate.relative_half_width() <= target;
            Verdict { outcome: Outcome::Measured(estimate), within, resolution: Some(resolution) }
        }
        Some(Difference::Below { bound, .. }) => {
            // Every further look could only narrow the bound of something that is not there.
            let within = values.len() >= 20;
            Verdict { outcome: Outcome::Below { bound }, within, resolution: Some(resolution) }
        }
        None => Verdict::nothing("the run ended before its difference could be bounded"),
    }
}

fn estimate(found: &MedianInterval, launches: usize, batches: u32, method: Method) -> Estimate {
    Estimate {
        value: found.median,
        low: found.interval.low,
        high: found.interval.high,
        level: found.interval.level,
        launches: u32::try_from(launches).unwrap_or(u32::MAX),
        batches,
        method,
    }
}

fn mode_of(mode: &stats::Mode, values: &[f64], level: f64, batches: u32) -> Mode {
    let members: Vec<f64> = mode.launches.iter().map(|at| values[*at]).collect();
    let found = serial_median_interval(&members, level).or_else(|| median_range(&members));
    let estimate = found.map_or_else(
        || Estimate::without_spread(mode.centre),
        |found| estimate(&found, members.len(), batches, Method::OrderStatistic),
    );
    Mode { share: mode.share, estimate }
}

fn is_paired(figure: &Figure) -> bool {
    probes::find(&figure.probe).is_some_and(|probe| probe.paired)
}

/// Per launch, what the method makes of two equal things. `None` where the figure is no difference.
fn null_differences(figure: &Figure, launches: &[&Launch]) -> Option<Vec<f64>> {
    let null = |launch: &&Launch| pairs::null_difference(launch, &figure.metric, figure.ops, figure.amount);
    is_paired(figure).then(|| launches.iter().filter_map(null).collect())
}

/// Quantiles that every distribution has; 1 is the maximum.
const QUANTILES: [f64; 4] = [0.5, 0.99, 0.999, 1.0];

fn quantiles(launches: &[&Launch], level: f64) -> Vec<QuantileEstimate> {
    let own = |launch: &&Launch| launch.quantiles.iter().map(|(quantile, _)| *quantile).collect::<Vec<_>>();
    let mut wanted: Vec<f64> = launches.iter().flat_map(own).collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    wanted.extend(QUANTILES);
    wanted.sort_by(f64::total_cmp);
    wanted.dedup();
    let of = |quantile: f64| -> Option<QuantileEstimate> {
        let kept = |launch: &&Launch| launch.quantiles.iter().find(|(q, _)| *q == quantile).map(|(_, value)| *value);
        let mut values: Vec<f64> = launches.iter().filter_map(kept).collect();
        if values.is_empty() {
            values = together(launches, quantile);
        }
        // Few launches that hang together support no interval of the wanted level: then the widest one, with the level it has.
        let found = serial_median_interval(&values, level).or_else(|| median_range(&values))?;
        Some(QuantileEstimate { quantile, estimate: estimate(&found, values.len(), 1, Method::OrderStatistic) })
    };
    wanted.into_iter().filter_map(of).collect()
}

/// A quantile too rare for one launch's readings, of as many launches in a row as have enough of them together.
fn together(launches: &[&Launch], quantile: f64) -> Vec<f64> {
    let fewest = launches.iter().map(|launch| launch.readings.len()).min().unwrap_or(0);
    if fewest == 0 {
        return Vec::new();
    }
    let needed = (1.0 / (1.0 - quantile).max(1e-9)).round();
    let launches_each = (needed / fewest as f64).ceil().max(1.0) as usize;
    let of = |part: &[&Launch]| {
        let readings: Vec<f64> = part.iter().flat_map(|launch| launch.readings.iter().copied()).collect();
        stats::quantile::quantile(&readings, quantile)
    };
    launches.chunks_exact(launches_each).filter_map(of).collect()
}

/// Flags that the launches support, whatever their values are.
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
    let moves = |t: stats::drift::Trend| (t.p_value < DRIFT_P || t.tau.abs() >= ONE_WAY) && t.change.abs() > plan.band;
    if positive && stats::drift::trend(&times, &logs).is_some_and(moves) {
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
    if disturbed_share(launches, is_paired(figure)) > MANY {
        flags.push(Flag::Noisy);
    }
    // The number of operations cancels for a rate: what matters is how long the timed difference is.
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

fn disturbed_share(launches: &[&Launch], paired: bool) -> f64 {
    let (mut disturbed, mut all) = (0_usize, 0_usize);
    for launch in launches {
        // Work and overhead of a pair differ by design: each is held to its own median.
        let sides = if paired { launch.sides(1) } else { (launch.batches(1), Vec::new()) };
        for side in [sides.0, sides.1] {
            let side: Vec<f64> = side.iter().map(|(_, nanos)| *nanos as f64).collect();
            let Some(median) = stats::median(&side) else { continue };
            disturbed += side.iter().filter(|nanos| **nanos > DISTURBED * median).count();
            all += side.len();
        }
    }
    if all == 0 { 0.0 } else { disturbed as f64 / all as f64 }
}
