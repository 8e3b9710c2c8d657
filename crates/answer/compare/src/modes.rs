//! Results in modes are compared mode by mode: nearest centres, and shares.

use model::{Estimate, EstimateMethod, Mode, Outcome};
use stats::Floor;

use super::result_view::ResultView;
use super::shares::fisher_exact;
use super::shift::{CompareShift, FEWEST, of_estimates, of_samples, ungrounded};

/// Most samples of both sides for testing shares: a document may state any number.
const MOST_SAMPLES: usize = 100_000;

/// Two modes that are nearest to each other, or one without a counterpart.
#[derive(Debug, Clone)]
pub(crate) struct ModePair {
    pub(crate) reference: Option<Mode>,
    pub(crate) other: Option<Mode>,
    pub(crate) shift: Option<CompareShift>,
    /// p-value of equal shares; NaN if not tested.
    pub(crate) share_p: f64,
    /// Whether the shares are so far apart, in whatever sessions, that they may not be called the same.
    pub(crate) shares_apart: bool,
}

/// Pairs of modes; `None` when neither result has modes, or one has no value.
///
/// Shares are tested within one session only: between sessions they vary by an unknown amount. But shares that differ
/// by more than samples alone explain are never the same, since a result then spends most of its time in another mode.
pub(crate) fn mode_pairs(
    reference: &ResultView,
    other: &ResultView,
    floor: Floor,
    level: f64,
    one_session: bool,
) -> Option<Vec<ModePair>> {
    let either = matches!(&*reference.outcome, Outcome::Modes(_)) || matches!(&*other.outcome, Outcome::Modes(_));
    let (mut a, mut b) = (modes_of(&reference.outcome)?, modes_of(&other.outcome)?);
    if !either || reference.metric.unit != other.metric.unit || reference.metric.better != other.metric.better {
        return None;
    }
    // No test finds all modes: the samples of a single value are those of the other side's modes that they are near.
    match (&*reference.outcome, &*other.outcome) {
        (Outcome::Measured(_), _) => a = near_modes(&reference.values, &b, level).unwrap_or(a),
        (_, Outcome::Measured(_)) => b = near_modes(&other.values, &a, level).unwrap_or(b),
        _ => {}
    }
    let (groups_a, groups_b) = (groups(&reference.values, &a), groups(&other.values, &b));
    let (total_a, total_b) = (samples(&a), samples(&b));
    let equal = |in_a: usize, in_b: usize| {
        let counted = total_a.min(total_b) >= FEWEST && total_a + total_b <= MOST_SAMPLES;
        if counted { fisher_exact(in_a, total_a, in_b, total_b) } else { f64::NAN }
    };
    let shares = |in_a: usize, in_b: usize| {
        let p = equal(in_a, in_b);
        (if one_session { p } else { f64::NAN }, p <= 1.0 - level)
    };
    let matched = nearest(&a, &b);
    let single = |known: stats::RatioEstimate| CompareShift {
        known: Some(known.clone()),
        method: super::result::RatioMethod::Samples,
        ..CompareShift::of(known.shift)
    };
    let pair = |x: Option<&Mode>, y: Option<&Mode>, shift: Option<CompareShift>| {
        let held = |mode: Option<&Mode>| mode.map_or(0, |mode| mode.estimate.samples as usize);
        let (share_p, shares_apart) = shares(held(x), held(y));
        ModePair { reference: x.cloned(), other: y.cloned(), shift, share_p, shares_apart }
    };
    let both = |&(i, j): &(usize, usize)| {
        let (x, y) = (&a[i].estimate, &b[j].estimate);
        let few = ungrounded(x, &groups_a[i]).or_else(|| ungrounded(y, &groups_b[j]));
        let shift = match few {
            Some(reason) => CompareShift::without_interval((y.value / x.value).ln(), &reason),
            None => of_samples(&groups_a[i], &groups_b[j], floor, level)
                .map_or_else(|| of_estimates(x, y, floor, level), single),
        };
        pair(Some(&a[i]), Some(&b[j]), Some(shift))
    };
    let mut pairs: Vec<ModePair> = matched.iter().map(both).collect();
    // Too few samples in each mode may be enough together.
    let decided = pairs.iter().any(|pair| pair.shift.as_ref().is_some_and(|shift| shift.known.is_some()));
    let all = of_samples(&reference.values, &other.values, floor, level).filter(|_| !decided);
    let whole = |view: &ResultView| mode_of(&view.values, view.values.len(), level);
    if let (Some(all), x @ Some(_), y @ Some(_)) = (all, whole(reference), whole(other)) {
        let shift = Some(single(all));
        return Some(vec![ModePair { reference: x, other: y, shift, share_p: f64::NAN, shares_apart: false }]);
    }
    pairs.extend((0..a.len()).filter(|i| matched.iter().all(|m| m.0 != *i)).map(|i| pair(Some(&a[i]), None, None)));
    pairs.extend((0..b.len()).filter(|j| matched.iter().all(|m| m.1 != *j)).map(|j| pair(None, Some(&b[j]), None)));
    Some(pairs)
}

fn samples(modes: &[Mode]) -> usize {
    modes.iter().map(|mode| mode.estimate.samples as usize).sum()
}

/// A single value counts as one mode that holds every sample.
fn modes_of(outcome: &Outcome) -> Option<Vec<Mode>> {
    match outcome {
        Outcome::Modes(modes) if modes.iter().all(|mode| mode.estimate.value > 0.0) => Some(modes.clone()),
        Outcome::Measured(estimate) if estimate.value > 0.0 => Some(vec![Mode { share: 1.0, estimate: *estimate }]),
        _ => None,
    }
}

/// Sample values by the mode with the nearest centre on the logarithmic scale.
fn groups(values: &[f64], modes: &[Mode]) -> Vec<Vec<f64>> {
    let mut groups = vec![Vec::new(); modes.len()];
    for &value in values.iter().filter(|value| **value > 0.0) {
        let distance = |mode: &Mode| (value / mode.estimate.value).ln().abs();
        let nearest = (0..modes.len()).min_by(|&i, &j| distance(&modes[i]).total_cmp(&distance(&modes[j])));
        if let Some(nearest) = nearest {
            groups[nearest].push(value);
        }
    }
    groups
}

/// Sample values as modes near those of another result. `None` without values.
fn near_modes(values: &[f64], modes: &[Mode], level: f64) -> Option<Vec<Mode>> {
    let near = groups(values, modes).into_iter().filter_map(|group| mode_of(&group, values.len(), level));
    Some(near.collect::<Vec<Mode>>()).filter(|near| !near.is_empty())
}

/// The mode of these sample values, out of `all`. `None` without values.
fn mode_of(group: &[f64], all: usize, level: f64) -> Option<Mode> {
    let value = stats::median(group)?;
    let found = stats::sample_median_interval(group, level).or_else(|| stats::sample_median_range(group));
    let samples = u32::try_from(group.len()).unwrap_or(u32::MAX);
    let estimate = found.map_or(Estimate { samples, ..Estimate::without_spread(value) }, |found| {
        found.estimate(group.len(), 1, EstimateMethod::OrderStatistic.at(found.interval.level))
    });
    Some(Mode { share: group.len() as f64 / all as f64, estimate })
}

/// Pairs of modes of both sides, nearest first, each mode once.
fn nearest(a: &[Mode], b: &[Mode]) -> Vec<(usize, usize)> {
    let mut all: Vec<(f64, usize, usize)> = Vec::new();
    for (i, x) in a.iter().enumerate() {
        all.extend(b.iter().enumerate().map(|(j, y)| ((y.estimate.value / x.estimate.value).ln().abs(), i, j)));
    }
    all.sort_by(|x, y| x.0.total_cmp(&y.0));
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (_, i, j) in all {
        if pairs.iter().all(|&(taken_i, taken_j)| taken_i != i && taken_j != j) {
            pairs.push((i, j));
        }
    }
    pairs.sort_unstable();
    pairs
}
