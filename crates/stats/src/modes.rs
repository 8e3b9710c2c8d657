//! Does a figure have modes: groups of launches at clearly different levels?
//!
//! Groups are cut at valleys between sorted logarithms of launch values that are wide against the spread of the groups
//! on both sides: valley seeking by gaps (Hartigan, Clustering Algorithms, 1975) with the separation index of Ashman,
//! Bird and Zepf (Astronomical Journal 108, 1994) made robust. Each side must hold enough launches: a few disturbed ones
//! are outliers, not a mode, and a few may lie scattered in the valley. The thresholds hold the share of false alarms on
//! unimodal noise of heavy tails below 1%; `tests/it/modes.rs` proves it.

/// A group of launches at one level.
#[derive(Debug, Clone, PartialEq)]
pub struct Mode {
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

/// Smallest ratio of neighbouring modes that matters: 10%.
const SMALLEST_RATIO: f64 = 1.10;
/// Smallest share of the launches in a mode.
const SMALLEST_SHARE: f64 = 0.10;
/// Largest share of the launches that may lie scattered in the valley between two modes.
const SCATTERED: f64 = 0.10;
/// The same where the modes are a decade or more apart: launches that changed from one level to the other half-way lie
/// between, and of launches of a pipe between unpinned processes an eighth did.
const SCATTERED_FAR: f64 = 0.15;
/// A ratio of levels that no disturbance of a whole mode explains.
const FAR: f64 = 10.0;
/// Most modes that are told apart.
const MOST_MODES: usize = 4;

/// A valley so wide, as a ratio, is seldom made by noise.
const WIDE: f64 = 3.0;

/// How many times the wider spread a valley must be, by the launches of the smaller group of `all` launches: the
/// closeness of a few is weak evidence of a level of their own, and so is that of a small share of many, since some
/// of many disturbed launches are always close to each other.
fn required_separation(launches: usize, all: usize, width: f64) -> f64 {
    match launches.min(20 * launches / all.max(1)) {
        0..=2 => 25.0,
        _ if width >= WIDE.ln() => 3.5,
        3 => 10.0,
        4..=5 => 7.0,
        _ => 4.0,
    }
}

/// A place to cut sorted values: the group below ends before `end`, the group above begins at `start`, and scattered
/// launches between them belong to neither core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Valley {
    end: usize,
    start: usize,
}

/// The modes of positive launch values in any order, from low to high. One mode means that a single number describes
/// them; it is also the answer below four launches. Empty when there is no value or one is not finite and positive.
pub fn modes(values: &[f64]) -> Vec<Mode> {
    if values.is_empty() || values.iter().any(|v| !v.is_finite() || *v <= 0.0) {
        return Vec::new();
    }
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let logs: Vec<f64> = order.iter().map(|&i| values[i].ln()).collect();
    let mut bounds = vec![0];
    bounds.extend(valleys(&logs).iter().map(|v| nearest_bound(&logs, v)));
    bounds.push(values.len());
    bounds.windows(2).map(|w| mode(values, &order[w[0]..w[1]])).collect()
}

fn mode(values: &[f64], members: &[usize]) -> Mode {
    let sorted: Vec<f64> = members.iter().map(|&i| values[i]).collect();
    let mut launches = members.to_vec();
    launches.sort_unstable();
    Mode {
        centre: crate::quantile::median_of_sorted(&sorted),
        low: sorted[0],
        high: sorted[sorted.len() - 1],
        share: members.len() as f64 / values.len() as f64,
        launches,
    }
}

/// Cuts `logs` at the best valley of any part until there are as many parts as modes may be, then closes the least
/// convincing valley again and again until all that are left hold between their neighbours.
fn valleys(logs: &[f64]) -> Vec<Valley> {
    let n = logs.len();
    let smallest = ((SMALLEST_SHARE * n as f64).ceil() as usize).max(2);
    let [scattered, far] = [SCATTERED, SCATTERED_FAR].map(|share| (share * n as f64).floor() as usize);
    let mut cuts: Vec<Valley> = Vec::new();
    while cuts.len() + 1 < MOST_MODES {
        let best = cores(&cuts, n)
            .into_iter()
            .filter_map(|(from, to)| best_valley(logs, from, to, smallest, (scattered, far)))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((cut, _)) = best else { break };
        cuts.push(cut);
        cuts.sort_unstable_by_key(|v| v.end);
    }
    while let Some((weakest, score)) = weakest(logs, &cuts) {
        if score >= 1.0 {
            break;
        }
        cuts.remove(weakest);
    }
    cuts
}

/// Half-open ranges of the groups between valleys.
fn cores(cuts: &[Valley], n: usize) -> Vec<(usize, usize)> {
    let starts = std::iter::once(0).chain(cuts.iter().map(|v| v.start));
    let ends = cuts.iter().map(|v| v.end).chain(std::iter::once(n));
    starts.zip(ends).collect()
}

/// The valley of `logs[from..to]` with the best separation, whether or not it holds.
fn best_valley(
    logs: &[f64],
    from: usize,
    to: usize,
    smallest: usize,
    (scattered, far): (usize, usize),
) -> Option<(Valley, f64)> {
    let mut best: Option<(Valley, f64)> = None;
    for end in from + smallest..to {
        for start in end..=(end + far).min(to.saturating_sub(smallest)) {
            if start > end + scattered && logs[start] - logs[end - 1] < FAR.ln() {
                continue;
            }
            // Few launches prove nothing when some are set aside as scattered.
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

/// Width of the valley between two groups over the width that is required; at least 1 when they are modes.
fn separation(low: &[f64], high: &[f64], all: usize) -> f64 {
    let width = high[0] - low[low.len() - 1];
    // Launches far out on the other side are outliers of their group and say nothing about the valley.
    let outer = |group: &[f64]| if group.len() >= 4 { (group.len() / 5).max(1) } else { 0 };
    let low_spread = low[low.len() - 1] - low[outer(low)];
    let high_spread = high[high.len() - 1 - outer(high)] - high[0];
    let factor = required_separation(low.len().min(high.len()), all, width);
    width / (factor * low_spread.max(high_spread)).max(SMALLEST_RATIO.ln())
}

/// Where the valley's scattered launches part: each goes to the nearer group.
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
    fn launches_that_changed_level_half_way_hide_no_modes() {
        // A pipe between two processes that the scheduler places: microseconds of a round trip, launch by launch.
        let values = [
            2.1, 2.1, 2.1, 2.11, 2.13, 2.13, 2.19, 2.21, 2.24, 10.33, 12.69, 24.16, 53.38, 54.91, 55.08, 56.75, 57.07,
            57.86, 57.87, 58.07, 59.45, 60.61, 61.24,
        ];
        let found = modes(&values);
        assert_eq!(found.len(), 2);
        assert!(found[0].centre < 2.3 && found[1].centre > 50.0, "{found:?}");
    }

    #[test]
    fn three_levels_are_three_modes() {
        let values = [1.0, 1.01, 1.02, 2.0, 2.01, 2.02, 8.0, 8.1, 8.05, 1.015];
        assert_eq!(modes(&values).iter().map(|m| m.launches.len()).collect::<Vec<_>>(), [4, 3, 3]);
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
