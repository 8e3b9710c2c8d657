//! Modes of a result: groups of samples at different levels.
//!
//! The dip test decides whether there is more than one (Hartigan and Hartigan, Annals of Statistics 13, 1985): the dip
//! is the distance between the empirical distribution and the nearest one with a single mode. It is computed as by P.
//! M. Hartigan (Applied Statistics 34, 1985, algorithm AS 217), and its limit is that of uniform values, for which the
//! dip is largest among the distributions with one mode. The sorted logarithms are then cut at the widest gap, and both
//! parts are tested again.
//!
//! The test takes samples for independent. A level that persists over neighbouring samples is a regime of the machine,
//! not a mode. The levels on both sides of a cut must therefore change about as often as in random order (runs test of
//! Wald and Wolfowitz, Annals of Mathematical Statistics 11, 1940). A preempted sample has batches at both levels, so
//! the samples of the slower level must be slow throughout, where their batches are known.
//!
//! The tests `modes`, `placements` and `recordings` check false alarms and sensitivity.

use model::RULES;

use crate::quantile::median_of_sorted;

/// A group of samples at one level.
#[derive(Debug, Clone, PartialEq)]
pub struct ModeGroup {
    /// Median of its sample values, in their unit.
    pub centre: f64,
    /// Smallest sample value.
    pub low: f64,
    /// Largest sample value.
    pub high: f64,
    /// Share of the samples, 0 to 1.
    pub share: f64,
    /// Positions of its samples in the input, rising.
    pub samples: Vec<usize>,
}

/// Level of a sample's batches: nine in ten of them are at least this slow, in the unit of the sample values. That is
/// their 10% quantile for times and their 90% quantile for rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FastBatches {
    /// Value that one batch in ten is faster than.
    pub edge: f64,
    /// Whether larger values are slower, as times are.
    pub larger_is_slower: bool,
}

/// The modes of positive sample values in the order of time, from low to high. One mode means that a single number
/// describes them. Samples too few for an estimate also give one mode. Empty without values or with one that is not
/// finite and positive.
pub fn modes(values: &[f64]) -> Vec<ModeGroup> {
    modes_of_samples(values, &[])
}

/// Like [`modes`], with the batches of each sample; `batches` is empty or as long as `values`.
pub fn modes_of_samples(values: &[f64], batches: &[Option<FastBatches>]) -> Vec<ModeGroup> {
    if values.is_empty() || values.iter().any(|v| !v.is_finite() || *v <= 0.0) {
        return Vec::new();
    }
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut groups = Vec::new();
    split(values, batches, &order, &mut groups);
    groups
}

/// Adds the modes of these samples, which are in the order of their values.
fn split(values: &[f64], batches: &[Option<FastBatches>], order: &[usize], groups: &mut Vec<ModeGroup>) {
    match cut(values, batches, order) {
        Some(bound) => {
            split(values, batches, &order[..bound], groups);
            split(values, batches, &order[bound..], groups);
        }
        None => groups.push(mode(values, order)),
    }
}

/// The cut between two levels of these samples, if there are two.
fn cut(values: &[f64], batches: &[Option<FastBatches>], order: &[usize]) -> Option<usize> {
    let logs: Vec<f64> = order.iter().map(|&at| values[at].ln()).collect();
    let n = logs.len();
    if n < RULES.estimate.fewest_samples as usize || dip(&logs) <= limit(n) {
        return None;
    }
    let fewest = ((values.len() as f64 * RULES.modes.least_share).ceil() as usize).max(2);
    let gap = |at: &usize| logs[*at] - logs[*at - 1];
    let bound = (fewest..(n + 1).saturating_sub(fewest)).max_by(|a, b| gap(a).total_cmp(&gap(b)))?;
    let apart = median_of_sorted(&logs[bound..]) - median_of_sorted(&logs[..bound]);
    let (low, high) = order.split_at(bound);
    let proved = apart >= RULES.modes.least_ratio.ln()
        && recurs(order, bound)
        && slow_throughout(values, batches, [low, high]).unwrap_or(true);
    proved.then_some(bound)
}

/// Largest dip that one mode explains: the 95% quantile of the dip of this many uniform values, by its asymptotic form.
fn limit(n: usize) -> f64 {
    let root = (n as f64).sqrt();
    (RULES.modes.dip - RULES.modes.dip_of_few / root) / root
}

/// Largest distance between the distribution of sorted values and the nearest one with a single mode.
fn dip(sorted: &[f64]) -> f64 {
    // Different values, with the number of values below them and up to them.
    let mut below: Vec<(f64, f64)> = Vec::new();
    let mut upto: Vec<(f64, f64)> = Vec::new();
    for (at, &value) in (0_u32..).zip(sorted) {
        if below.last().is_none_or(|last| last.0 < value) {
            below.push((value, f64::from(at)));
            upto.push((value, 0.0));
        }
        if let Some(last) = upto.last_mut() {
            last.1 = f64::from(at) + 1.0;
        }
    }
    // The interval that holds the mode shrinks until the two hulls are nowhere further apart than outside it.
    let (mut from, mut to, mut found) = (0, below.len(), 1.0_f64);
    while from < to {
        let (low, high) = (&below[from..to], &upto[from..to]);
        let (minorant, majorant) = (hull(low, 1.0), hull(high, -1.0));
        let between = |at: usize| (on(&majorant, low[at].0) - on(&minorant, low[at].0), at);
        let touching = |hull: &[(f64, f64)]| -> Vec<usize> {
            hull.iter().map(|point| low.partition_point(|step| step.0 < point.0)).collect()
        };
        let (touch_low, touch_high) = (touching(&minorant), touching(&majorant));
        // Of equal distances the outer one counts: the first below and the last above.
        let wider = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0);
        let at_low = touch_low.iter().rev().map(|&at| between(at)).max_by(wider).unwrap_or((0.0, 0));
        let at_high = touch_high.iter().map(|&at| between(at)).max_by(wider).unwrap_or((0.0, 0));
        let (apart, start, end) = if at_low.0 > at_high.0 {
            let end = touch_high.iter().find(|&&at| at >= at_low.1);
            (at_low.0, at_low.1, end.copied().unwrap_or(low.len() - 1))
        } else {
            let start = touch_low.iter().rfind(|&&at| at <= at_high.1);
            (at_high.0, start.copied().unwrap_or(0), at_high.1)
        };
        if apart <= found {
            break;
        }
        // The steps at both ends may be the mode.
        let left = (0..start).map(|at| high[at].1 - on(&minorant, high[at].0));
        let right = (end + 1..low.len()).map(|at| on(&majorant, low[at].0) - low[at].1);
        found = left.chain(right).fold(found, f64::max);
        if end - start + 1 == low.len() {
            break;
        }
        (from, to) = (from + start, from + end + 1);
    }
    found / 2.0 / sorted.len().max(1) as f64
}

/// The points of the greatest convex minorant (`side` 1) or of the least concave majorant (-1) of points in rising
/// order (Andrew, Information Processing Letters 9, 1979).
fn hull(points: &[(f64, f64)], side: f64) -> Vec<(f64, f64)> {
    let mut hull: Vec<(f64, f64)> = Vec::new();
    for &point in points {
        while let [.., a, b] = hull[..] {
            if side * ((b.1 - a.1) * (point.0 - a.0) - (point.1 - a.1) * (b.0 - a.0)) < 0.0 {
                break;
            }
            hull.pop();
        }
        hull.push(point);
    }
    hull
}

/// Height at `x` of a line through points in rising order.
fn on(line: &[(f64, f64)], x: f64) -> f64 {
    let after = line.partition_point(|point| point.0 <= x);
    match (line.get(after.wrapping_sub(1)), line.get(after)) {
        (Some(a), Some(b)) => a.1 + (b.1 - a.1) * (x - a.0) / (b.0 - a.0),
        (Some(end), None) | (None, Some(end)) => end.1,
        (None, None) => 0.0,
    }
}

/// Whether the samples below and above a bound of the sorted ones alternate in time as by chance, each in at least two
/// stretches.
fn recurs(order: &[usize], bound: usize) -> bool {
    let mut in_time: Vec<(usize, bool)> = order.iter().enumerate().map(|(at, sample)| (*sample, at >= bound)).collect();
    in_time.sort_unstable();
    let above: Vec<bool> = in_time.into_iter().map(|(_, above)| above).collect();
    let stretches =
        |wanted: bool| (0..above.len()).filter(|&i| above[i] == wanted && (i == 0 || above[i - 1] != wanted)).count();
    let (up, down) = (stretches(true), stretches(false));
    let (n, high) = (order.len() as f64, (order.len() - bound) as f64);
    let pairs = 2.0 * high * (n - high);
    let mean = 1.0 + pairs / n;
    let variance = pairs * (pairs - n) / (n * n * (n - 1.0));
    up >= 2 && down >= 2 && (up + down) as f64 >= mean - RULES.modes.few_runs * variance.max(0.0).sqrt()
}

/// Whether most of the slower group's samples are slow in nine of ten of their batches. `None` if no batches are known.
fn slow_throughout(values: &[f64], batches: &[Option<FastBatches>], groups: [&[usize]; 2]) -> Option<bool> {
    let known = |group: &[usize]| -> Vec<FastBatches> {
        group.iter().filter_map(|&at| batches.get(at).copied().flatten()).collect()
    };
    let all = [known(groups[0]), known(groups[1])];
    let first = all.iter().flatten().next()?;
    let centre = |group: &[usize]| values[group[group.len() / 2]];
    let middle = (centre(groups[0]) * centre(groups[1])).sqrt();
    let slower = &all[usize::from(first.larger_is_slower)];
    let slow = |one: &&FastBatches| if one.larger_is_slower { one.edge > middle } else { one.edge < middle };
    Some(slower.iter().filter(slow).count() as f64 >= RULES.modes.throughout * slower.len().max(1) as f64)
}

fn mode(values: &[f64], members: &[usize]) -> ModeGroup {
    let sorted: Vec<f64> = members.iter().map(|&i| values[i]).collect();
    let mut samples = members.to_vec();
    samples.sort_unstable();
    ModeGroup {
        centre: median_of_sorted(&sorted),
        low: sorted[0],
        high: sorted[sorted.len() - 1],
        share: members.len() as f64 / values.len() as f64,
        samples,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Dips by the package diptest 0.12 of Python, which is AS 217 with its published corrections.
    #[test]
    fn dips_are_those_of_the_published_algorithm() {
        let sorted = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            values
        };
        let waves = |n: i32, power: i32| sorted((0..n).map(|i| f64::from(i * i).sin().powi(power)).collect());
        let rounded = [
            30, 33, 35, 36, 37, 37, 39, 39, 39, 39, 39, 40, 40, 40, 40, 41, 42, 43, 43, 43, 44, 44, 45, 45, 46, 47, 47,
            48, 48, 48, 49, 50, 50, 51, 52, 52, 53, 53, 53, 53, 53, 54, 54, 57, 57, 59, 60, 60, 60, 61, 61, 61, 61, 62,
            62, 62, 62, 63, 66, 70, 72, 72,
        ];
        let placements = vec![6.5, 70.0, 6.6, 71.0, 6.4, 6.5, 69.0, 72.0, 6.55, 70.5];
        for (values, expected) in [
            (rounded.map(f64::from).to_vec(), 0.060_483_870_967_741_94),
            (vec![1.0, 1.01, 1.02, 1.03, 1.5, 1.51, 1.52], 0.205_539_358_600_583_1),
            (sorted(placements), 0.238_532_110_091_743_1),
            (waves(20, 1), 0.076_370_368_209_110_68),
            (waves(50, 3), 0.063_488_081_064_044_08),
        ] {
            assert!((dip(&values) - expected).abs() < 1e-9, "{} is not {expected}", dip(&values));
        }
        let tied = |counts: [usize; 3]| {
            let values = [1.0, 2.0, 3.0].into_iter().zip(counts);
            dip(&values.flat_map(|(value, count)| vec![value; count]).collect::<Vec<_>>())
        };
        let dips = [[7, 3, 0], [5, 3, 2], [2, 6, 2], [4, 1, 5], [10, 0, 0]].map(tied);
        for (found, expected) in dips.into_iter().zip([0.15, 0.15, 0.1, 0.2, 0.05]) {
            assert!((found - expected).abs() < 1e-9, "{dips:?}");
        }
    }

    #[test]
    fn round_trip_times_of_two_placements() {
        let values = [6.5, 70.0, 6.6, 71.0, 6.4, 6.5, 69.0, 72.0, 6.55, 70.5];
        let found = modes(&values);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].samples, [0, 2, 4, 5, 8]);
        assert_eq!((found[0].low, found[0].centre, found[0].high, found[0].share), (6.4, 6.5, 6.6, 0.5));
        assert_eq!(found[1].centre, 70.5);
    }

    #[test]
    fn samples_that_changed_level_half_way_do_not_hide_modes() {
        // A pipe between two processes that the scheduler places: microseconds of a round trip, sample by sample.
        let values = [
            2.1, 57.07, 2.1, 53.38, 54.91, 2.11, 10.33, 55.08, 2.13, 57.86, 2.13, 2.19, 12.69, 56.75, 2.1, 57.87,
            58.07, 2.24, 24.16, 2.21, 60.61, 59.45, 61.24,
        ];
        let found = modes(&values);
        assert_eq!(found.len(), 2);
        assert!(found[0].centre < 2.3 && found[1].centre > 50.0, "{found:?}");
    }

    #[test]
    fn three_levels_are_three_modes() {
        let values: Vec<f64> =
            (0..45).map(|i| [1.0, 80.0, 7.5][i * 7 % 11 % 3] * (1.0 + 0.001 * (i * 5 % 13) as f64)).collect();
        let found = modes(&values);
        assert_eq!(found.iter().map(|m| m.centre.round()).collect::<Vec<_>>(), [1.0, 8.0, 80.0], "{found:?}");
    }

    /// Samples at two levels a decade apart, far closer to each other within a level.
    fn levels(order: &[u8]) -> Vec<f64> {
        order
            .iter()
            .enumerate()
            .map(|(i, level)| (1.0 + 0.01 * (i % 7) as f64) * 10f64.powi(i32::from(*level)))
            .collect()
    }

    #[test]
    fn a_persistent_level_is_a_regime_and_no_mode() {
        assert_eq!(modes(&levels(&[0, 1, 0, 0, 1, 1, 0, 1, 1, 0, 0, 1])).len(), 2);
        assert_eq!(modes(&levels(&[0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1])).len(), 1, "a shift of level");
        assert_eq!(modes(&levels(&[0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0])).len(), 1, "one disturbed stretch");
        let twice: Vec<u8> = (0..40).map(|i| u8::from((i / 10) % 2 == 1)).collect();
        assert_eq!(modes(&levels(&twice)).len(), 1, "a neighbour that comes and goes");
    }

    #[test]
    fn levels_that_hardly_differ_are_one_number() {
        let apart = |ratio: f64| -> Vec<f64> {
            (0..20).map(|i| if i * 7 % 5 < 2 { ratio } else { 1.0 } * (1.0 + 0.0001 * i as f64)).collect()
        };
        assert_eq!([1.02, 1.10].map(|ratio| modes(&apart(ratio)).len()), [1, 2]);
    }

    #[test]
    fn a_preempted_sample_is_no_mode() {
        let times = levels(&[0, 1, 0, 0, 1, 1, 0, 1, 1, 0, 0, 1]);
        let rates: Vec<f64> = times.iter().map(|v| 1.0 / v).collect();
        for (values, larger_is_slower, fast) in [(&times, true, 1.0), (&rates, false, 1.0)] {
            let found = |edge: &dyn Fn(f64) -> f64| {
                let batches: Vec<Option<FastBatches>> =
                    values.iter().map(|v| Some(FastBatches { edge: edge(*v), larger_is_slower })).collect();
                modes_of_samples(values, &batches).len()
            };
            assert_eq!(found(&|v| v), 2, "every batch at its sample's level");
            assert_eq!(found(&|_| fast), 1, "a tenth of the batches of every sample at the fast level");
        }
    }

    #[test]
    fn outliers_and_spread_are_not_modes() {
        assert_eq!(modes(&[1.0, 1.01, 1.02, 0.99, 1.0, 1.01, 0.98, 1.02, 1.0, 9.0]).len(), 1);
        assert_eq!(modes(&[1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9]).len(), 1);
        assert_eq!(modes(&[3.0; 12]).len(), 1);
        assert_eq!(modes(&[3.0]).len(), 1);
        assert!(modes(&[]).is_empty());
        assert!(modes(&[1.0, -1.0]).is_empty());
    }
}
