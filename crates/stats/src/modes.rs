//! Modes of a figure: groups of launches at clearly different levels.
//!
//! Groups are separated at valleys between sorted logarithms of launch values that are wide compared with the spread of
//! the groups on both sides: valley seeking by gaps (Hartigan, Clustering Algorithms, 1975) with the separation index
//! of Ashman, Bird and Zepf (Astronomical Journal 108, 1994) made robust. Two groups of values are not enough evidence,
//! because a busy machine produces them too. A boundary between two groups is kept only if
//! - the groups are at least a factor of four apart, or of two if the batches of the launches are known: a neighbour on
//!   the core's other hyperthread costs 10 to 100%, and a competitor for the CPU made a pipe three times slower in some
//!   launches, in the same pattern as modes;
//! - both levels recur: launches of either group occur in at least two separate stretches of time, and change from
//!   level to level about as often as in random order (runs test of Wald and Wolfowitz, Annals of Mathematical
//!   Statistics 11, 1940). A level that persists over neighbouring launches is a regime of the machine;
//! - three in four launches of the slower group are slow throughout, if their batches are known: a preempted launch has
//!   batches at both levels.
//!
//! The thresholds keep the share of false alarms on recorded and simulated unimodal noise below 1%, which the tests
//! `modes`, `placements` and `recordings` check.

/// A group of launches at one level.
#[derive(Debug, Clone, PartialEq)]
pub struct ModeGroup {
    /// Median of its launch values, in their unit.
    pub centre: f64,
    /// Smallest launch value.
    pub low: f64,
    /// Largest launch value.
    pub high: f64,
    /// Share of the launches, 0 to 1.
    pub share: f64,
    /// Positions of its launches in the input, rising.
    pub launches: Vec<usize>,
}

/// Level of a launch's batches: nine in ten of them are at least this slow, in the unit of the launch values. That is
/// their 10% quantile for times and their 90% quantile for rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FastBatches {
    /// Value that one batch in ten is faster than.
    pub edge: f64,
    /// Whether larger values are slower, as times are.
    pub larger_is_slower: bool,
}

/// Smallest ratio of neighbouring modes: sharing the core explains up to a factor of two.
const SMALLEST_RATIO: f64 = 2.0;
/// Smallest ratio of the valley between modes if only launch values are known.
const SMALLEST_RATIO_OF_VALUES: f64 = 4.0;
/// Share of the slower group's launches that must be slow throughout.
const THROUGHOUT: f64 = 0.75;
/// Smallest share of the launches in a mode, unless the modes are [`FAR`] apart.
const SMALLEST_SHARE: f64 = 0.10;
/// Fewest launches in a mode.
const FEWEST: usize = 2;
/// Largest share of the launches that may be scattered in a valley as wide as [`FAR`].
const SCATTERED: f64 = 0.10;
/// The same if the valley is a decade wide or more: launches that changed their level half-way are in between, and an
/// eighth of the launches of a pipe between unpinned processes did.
const SCATTERED_FAR: f64 = 0.15;
/// A ratio of levels that no disturbance of a whole mode explains.
const DECADE: f64 = 10.0;
/// A valley this wide, as a ratio, is hardly ever caused by noise: preemption gave up to 5.6.
const FAR: f64 = 5.0;
/// A valley this wide, as a ratio, is seldom caused by noise.
const WIDE: f64 = 3.0;
/// Modes that are distinguished, at most.
const MAX_MODES: usize = 4;
/// Standard deviations below its mean at which the number of runs indicates regimes: one in 700 by chance.
const FEW_RUNS: f64 = 3.0;

/// Factor by which a valley must exceed the wider spread, by the number of distinct values in the smaller group of
/// `all` launches: closeness of a few is weak evidence of a level of their own, and so is that of a small share of
/// many, since some of many disturbed launches are always close to each other. `None` if no valley is wide enough.
fn required_separation(launches: usize, all: usize, width: f64) -> Option<f64> {
    let far = width >= FAR.ln();
    let share = launches as f64 / all.max(1) as f64;
    match launches {
        0..=1 => None,
        2 if far && share >= SMALLEST_SHARE => Some(25.0),
        2 => None,
        3 if far => Some(5.0),
        _ if far => Some(3.5),
        _ if share < SMALLEST_SHARE => None,
        3 => Some(10.0),
        _ if share < 0.15 => Some(25.0),
        _ if width >= WIDE.ln() => Some(3.5),
        4..=5 => Some(7.0),
        _ if share < 0.20 => Some(10.0),
        _ => Some(4.0),
    }
}

/// A place to cut sorted values: the group below ends before `end`, the group above begins at `start`, and launches
/// between them belong to neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Valley {
    end: usize,
    start: usize,
}

/// The modes of positive launch values in the order of time, from low to high. One mode means that a single number
/// describes them; it is also the result below four launches. Empty without values or with one that is not finite and
/// positive.
pub fn modes(values: &[f64]) -> Vec<ModeGroup> {
    modes_of_launches(values, &[])
}

/// Like [`modes`], with the batches of each launch; `batches` is empty or as long as `values`.
pub fn modes_of_launches(values: &[f64], batches: &[Option<FastBatches>]) -> Vec<ModeGroup> {
    if values.is_empty() || values.iter().any(|v| !v.is_finite() || *v <= 0.0) {
        return Vec::new();
    }
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let logs: Vec<f64> = order.iter().map(|&i| values[i].ln()).collect();
    let found = valleys(&logs);
    let ends = |bounds: Vec<usize>| -> Vec<usize> { std::iter::once(0).chain(bounds).chain([values.len()]).collect() };
    let bounds = ends(found.iter().map(|v| nearest_bound(&logs, v)).collect());
    let proved = bounds.windows(3).zip(&found).filter(|(w, valley)| {
        let wide = logs[valley.start] - logs[valley.end - 1] >= SMALLEST_RATIO_OF_VALUES.ln();
        let groups = [&order[w[0]..w[1]], &order[w[1]..w[2]]];
        recurs(&order, w[1]) && slow_throughout(values, batches, groups).unwrap_or(wide)
    });
    let bounds = ends(proved.map(|(w, _)| w[1]).collect());
    bounds.windows(2).map(|w| mode(values, &order[w[0]..w[1]])).collect()
}

/// Whether the launches below and above a bound of the sorted ones alternate in time as by chance, each in at least two
/// stretches.
fn recurs(order: &[usize], bound: usize) -> bool {
    let mut above = vec![false; order.len()];
    order[bound..].iter().for_each(|&at| above[at] = true);
    let stretches =
        |wanted: bool| (0..above.len()).filter(|&i| above[i] == wanted && (i == 0 || above[i - 1] != wanted)).count();
    let (up, down) = (stretches(true), stretches(false));
    let (n, high) = (order.len() as f64, (order.len() - bound) as f64);
    let pairs = 2.0 * high * (n - high);
    let mean = 1.0 + pairs / n;
    let variance = pairs * (pairs - n) / (n * n * (n - 1.0));
    up >= 2 && down >= 2 && (up + down) as f64 >= mean - FEW_RUNS * variance.max(0.0).sqrt()
}

/// Whether most of the slower group's launches, and at least two, are slow in nine of ten of their batches. `None` if
/// no batches are known.
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
    let throughout = slower.iter().filter(slow).count();
    Some(throughout >= FEWEST && throughout as f64 >= THROUGHOUT * slower.len() as f64)
}

fn mode(values: &[f64], members: &[usize]) -> ModeGroup {
    let sorted: Vec<f64> = members.iter().map(|&i| values[i]).collect();
    let mut launches = members.to_vec();
    launches.sort_unstable();
    ModeGroup {
        centre: crate::quantile::median_of_sorted(&sorted),
        low: sorted[0],
        high: sorted[sorted.len() - 1],
        share: members.len() as f64 / values.len() as f64,
        launches,
    }
}

/// Cuts `logs` at the best valley of any part, repeatedly, until there are as many parts as modes may be. After each
/// cut the least convincing valleys are removed until all remaining ones qualify; the largest number of cuts that ever
/// qualified is the result, because one cut too many weakens good ones beside it.
fn valleys(logs: &[f64]) -> Vec<Valley> {
    let n = logs.len();
    let scattered = [SCATTERED, SCATTERED_FAR].map(|share| (share * n as f64).floor() as usize);
    let (mut cuts, mut held): (Vec<Valley>, Vec<Valley>) = (Vec::new(), Vec::new());
    while cuts.len() + 1 < MAX_MODES {
        let best = cores(&cuts, n)
            .into_iter()
            .filter_map(|(from, to)| best_valley(logs, from, to, scattered))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((cut, _)) = best else { break };
        cuts.push(cut);
        cuts.sort_unstable_by_key(|v| v.end);
        let mut left = cuts.clone();
        while let Some((weakest, _)) = weakest(logs, &left).filter(|(_, score)| *score < 1.0) {
            left.remove(weakest);
        }
        if left.len() > held.len() {
            held = left;
        }
    }
    held
}

/// Half-open ranges of the groups between valleys.
fn cores(cuts: &[Valley], n: usize) -> Vec<(usize, usize)> {
    let starts = std::iter::once(0).chain(cuts.iter().map(|v| v.start));
    let ends = cuts.iter().map(|v| v.end).chain(std::iter::once(n));
    starts.zip(ends).collect()
}

/// The valley of `logs[from..to]` with the best separation, whether it qualifies or not.
fn best_valley(logs: &[f64], from: usize, to: usize, [scattered, far]: [usize; 2]) -> Option<(Valley, f64)> {
    let mut best: Option<(Valley, f64)> = None;
    for end in from + FEWEST..to {
        for start in end..=(end + far).min(to.saturating_sub(FEWEST)) {
            let width = logs[start] - logs[end - 1];
            if start > end && width < FAR.ln() || start > end + scattered && width < DECADE.ln() {
                continue;
            }
            // A few launches are no evidence when some are set aside as scattered.
            if start > end && (end - from).min(to - start) < 4 {
                continue;
            }
            let score = separation(&logs[from..end], &logs[start..to], logs.len());
            if best.is_none_or(|(_, most)| score > most) {
                best = Some((Valley { end, start }, score));
            }
        }
    }
    best
}

fn weakest(logs: &[f64], cuts: &[Valley]) -> Option<(usize, f64)> {
    let groups = cores(cuts, logs.len());
    groups
        .windows(2)
        .map(|g| separation(&logs[g[0].0..g[0].1], &logs[g[1].0..g[1].1], logs.len()))
        .enumerate()
        .min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Width of the valley between two groups over the required width; at least 1 for modes.
fn separation(low: &[f64], high: &[f64], all: usize) -> f64 {
    let width = high[0] - low[low.len() - 1];
    // Launches far out on the other side are outliers of their group and do not affect the valley.
    let outer = |group: &[f64]| if group.len() >= 4 { (group.len() / 5).max(1) } else { 0 };
    let low_spread = low[low.len() - 1] - low[outer(low)];
    let high_spread = high[high.len() - 1 - outer(high)] - high[0];
    // Equal launches far from most others are no further evidence of a level of their own.
    let evidence = |group: &[f64]| if 2 * group.len() >= all { group.len() } else { distinct(group) };
    let Some(factor) = required_separation(evidence(low).min(evidence(high)), all, width) else { return 0.0 };
    width / (factor * low_spread.max(high_spread)).max(SMALLEST_RATIO.ln())
}

/// Number of different values.
fn distinct(sorted: &[f64]) -> usize {
    1 + sorted.windows(2).filter(|pair| pair[0] < pair[1]).count()
}

/// Splits the valley's scattered launches: each goes to the nearer group.
fn nearest_bound(logs: &[f64], valley: &Valley) -> usize {
    let middle = logs[valley.end - 1].midpoint(logs[valley.start]);
    valley.end + logs[valley.end..valley.start].partition_point(|v| *v < middle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip_times_of_two_placements() {
        let values = [6.5, 70.0, 6.6, 71.0, 6.4, 6.5, 69.0, 72.0, 6.55, 70.5];
        let found = modes(&values);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].launches, [0, 2, 4, 5, 8]);
        assert_eq!((found[0].low, found[0].centre, found[0].high, found[0].share), (6.4, 6.5, 6.6, 0.5));
        assert_eq!(found[1].centre, 70.5);
    }

    #[test]
    fn launches_that_changed_level_half_way_do_not_hide_modes() {
        // A pipe between two processes that the scheduler places: microseconds of a round trip, launch by launch.
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
        let values = [1.0, 80.0, 7.5, 1.01, 81.0, 7.51, 1.02, 7.52, 80.5, 1.015];
        assert_eq!(modes(&values).iter().map(|m| m.launches.len()).collect::<Vec<_>>(), [4, 3, 3]);
    }

    /// Launches at two levels a decade apart, far closer to each other within a level.
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
    fn the_cost_of_sharing_a_core_is_no_mode() {
        let values: Vec<f64> =
            (0..20).map(|i| if i % 3 == 0 { 1.65 } else { 1.0 } * (1.0 + 0.0005 * i as f64)).collect();
        assert_eq!(modes(&values).len(), 1);
        let batches: Vec<Option<FastBatches>> =
            values.iter().map(|v| Some(FastBatches { edge: *v, larger_is_slower: true })).collect();
        assert_eq!(modes_of_launches(&values, &batches).len(), 1);
    }

    #[test]
    fn levels_a_factor_of_three_apart_need_batches_to_be_modes() {
        let values: Vec<f64> =
            (0..20).map(|i| if i % 3 == 0 { 3.1 } else { 1.0 } * (1.0 + 0.0005 * i as f64)).collect();
        let batches: Vec<Option<FastBatches>> =
            values.iter().map(|v| Some(FastBatches { edge: *v, larger_is_slower: true })).collect();
        assert_eq!((modes(&values).len(), modes_of_launches(&values, &batches).len()), (1, 2));
    }

    #[test]
    fn a_preempted_launch_is_no_mode() {
        let times = levels(&[0, 1, 0, 0, 1, 1, 0, 1, 1, 0, 0, 1]);
        let rates: Vec<f64> = times.iter().map(|v| 1.0 / v).collect();
        for (values, larger_is_slower, fast) in [(&times, true, 1.0), (&rates, false, 1.0)] {
            let found = |edge: &dyn Fn(f64) -> f64| {
                let batches: Vec<Option<FastBatches>> =
                    values.iter().map(|v| Some(FastBatches { edge: edge(*v), larger_is_slower })).collect();
                modes_of_launches(values, &batches).len()
            };
            assert_eq!(found(&|v| v), 2, "every batch at its launch's level");
            assert_eq!(found(&|_| fast), 1, "a tenth of the batches of every launch at the fast level");
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
