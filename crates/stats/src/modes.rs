//! Does a figure have modes: groups of launches at clearly different levels?
//!
//! Groups are cut at gaps between sorted logarithms of launch values that are wide against the spread of the groups on
//! both sides, the idea of single-linkage clustering (Hartigan, Clustering Algorithms, 1975) with the separation
//! index of Ashman, Bird and Zepf (Astronomical Journal 108, 1994) made robust. Each side must hold enough launches: a
//! few disturbed ones are outliers, not a mode. The thresholds hold the share of false alarms on unimodal noise of
//! heavy tails below 1%; `tests/modes.rs` proves it.

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
/// Most modes that are told apart.
const MOST_MODES: usize = 4;
/// So many of the widest gaps are candidates for a cut, which bounds the search however many launches there are.
const CANDIDATES: usize = 16;
/// A gap must be so many times the wider group's spread.
const SEPARATION: f64 = 4.0;
/// As [`SEPARATION`], where a group has only two or three launches: their closeness is weak evidence of a level of
/// their own.
const SEPARATION_OF_TWO: f64 = 20.0;
const SEPARATION_OF_THREE: f64 = 8.0;

/// The modes of positive launch values in any order, from low to high. One mode means that a single number describes
/// them; it is also the answer below four launches. Empty when there is no value or one is not finite and positive.
pub fn modes(values: &[f64]) -> Vec<Mode> {
    if values.iter().any(|v| !v.is_finite() || *v <= 0.0) {
        return Vec::new();
    }
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let logs: Vec<f64> = order.iter().map(|&i| values[i].ln()).collect();
    let smallest = ((SMALLEST_SHARE * values.len() as f64).ceil() as usize).max(2);
    let mut bounds = vec![0];
    bounds.extend(best_cuts(&logs, smallest));
    bounds.push(values.len());
    bounds.windows(2).filter(|w| w[0] < w[1]).map(|w| mode(values, &order[w[0]..w[1]])).collect()
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

/// Where to cut rising `logs`: as many cuts as hold, those of the clearest separation. Empty when none holds.
fn best_cuts(logs: &[f64], smallest: usize) -> Vec<usize> {
    let mut gaps: Vec<usize> = (1..logs.len()).collect();
    gaps.sort_by(|&a, &b| (logs[b] - logs[b - 1]).total_cmp(&(logs[a] - logs[a - 1])));
    gaps.truncate(CANDIDATES);
    gaps.sort_unstable();
    let mut best = (Vec::new(), 0.0);
    extend(logs, &gaps, smallest, &mut Vec::new(), f64::INFINITY, &mut best);
    best.0
}

/// Tries every further candidate behind `cuts`, whose weakest separation is `weakest`, and keeps the best whole set.
fn extend(
    logs: &[f64],
    candidates: &[usize],
    smallest: usize,
    cuts: &mut Vec<usize>,
    weakest: f64,
    best: &mut (Vec<usize>, f64),
) {
    let n = logs.len();
    let end = cuts.len();
    let before = if end >= 2 { cuts[end - 2] } else { 0 };
    if let Some(&last) = cuts.last() {
        let whole = weakest.min(separation(&logs[before..last], &logs[last..]));
        if whole >= 1.0 && (end, whole) > (best.0.len(), best.1) {
            *best = (cuts.clone(), whole);
        }
    }
    if end + 1 == MOST_MODES {
        return;
    }
    let start = cuts.last().copied().unwrap_or(0);
    for (i, &cut) in candidates.iter().enumerate() {
        if cut < start + smallest || cut + smallest > n {
            continue;
        }
        let weakest = match end {
            0 => weakest,
            _ => weakest.min(separation(&logs[before..start], &logs[start..cut])),
        };
        if weakest >= 1.0 {
            cuts.push(cut);
            extend(logs, &candidates[i + 1..], smallest, cuts, weakest, best);
            cuts.pop();
        }
    }
}

/// The gap between two neighbouring groups over the gap that is required; at least 1 when they are modes.
fn separation(low: &[f64], high: &[f64]) -> f64 {
    let gap = high[0] - low[low.len() - 1];
    let factor = match low.len().min(high.len()) {
        2 => SEPARATION_OF_TWO,
        3 => SEPARATION_OF_THREE,
        _ => SEPARATION,
    };
    let required = (factor * spread(low).max(spread(high))).max(SMALLEST_RATIO.ln());
    gap / required
}

/// Range of a group without its most extreme launch on either side where it has eight or more.
fn spread(sorted: &[f64]) -> f64 {
    let trim = sorted.len() / 8;
    sorted[sorted.len() - 1 - trim] - sorted[trim]
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
