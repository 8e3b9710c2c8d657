//! Intervals between two order statistics: no assumption on the shape of the distribution, exact coverage.
//!
//! Coverage of `[x(l), x(u)]` for the median is `P(l <= B < u)` with B binomial(n, 1/2): David and Nagaraja, Order
//! Statistics, 3rd ed. 2003, section 7.1; recommended for run times by Le Boudec, Performance Evaluation of Computer
//! and Communication Systems, 2010, section 2.2.

use model::{Estimate, EstimateMethod};

use crate::autocorrelation::{sample_inflation, variance_inflation};
use crate::distribution::{beta_binomial_cdf, beta_binomial_mass};
use crate::interval::Interval;
use crate::quantile::{median_of_sorted, sorted};

/// The two order statistics that bound a median, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranks {
    /// Rank of the lower bound.
    pub low: usize,
    /// Rank of the upper bound.
    pub high: usize,
    /// Exact coverage of the interval between them.
    pub coverage: f64,
}

/// A median with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MedianInterval {
    /// The sample median.
    pub median: f64,
    /// Interval of the median; its level is the exact coverage.
    pub interval: Interval,
    /// The order statistics that bound it.
    pub ranks: Ranks,
    /// Factor by which autocorrelation was taken to inflate the variance; 1 for values taken as independent.
    pub inflation: f64,
}

impl MedianInterval {
    /// As documents state it: of this many samples, with this many batches each.
    #[must_use]
    pub fn estimate(&self, samples: usize, batches: u32, method: EstimateMethod) -> Estimate {
        let Interval { low, high, level } = self.interval;
        Estimate {
            value: self.median,
            low,
            high,
            level,
            samples: samples.try_into().unwrap_or(u32::MAX),
            batches,
            method,
        }
    }
}

/// The narrowest symmetric pair of order statistics that covers the median of `n` independent values with at least
/// `level`, such as 2 and 9 of 10 at 95%. `None` when even the extremes do not (fewer than six values at 95%).
pub fn median_ranks(n: usize, level: f64) -> Option<Ranks> {
    inflated_median_ranks(n, level, 1.0)
}

/// Like [`median_ranks`], for values whose autocorrelation inflates the variance of the count below the median by
/// `inflation` (at least 1): that count is taken as beta-binomial. `None` when even the extremes do not cover it.
pub fn inflated_median_ranks(n: usize, level: f64, inflation: f64) -> Option<Ranks> {
    if inflation <= 1.0 {
        let coverage = |k: usize| 1.0 - 2.0 * beta_binomial_cdf(k - 1, n, 0.5, inflation);
        let k = (1..=n / 2).take_while(|&k| coverage(k) >= level).last()?;
        return Some(Ranks { low: k, high: n + 1 - k, coverage: coverage(k) });
    }
    let mass = beta_binomial_mass(n, 0.5, inflation);
    let mut below = 0.0;
    let mut found = None;
    for k in 1..=n / 2 {
        below += mass(k - 1);
        let coverage = 1.0 - 2.0 * below;
        if coverage < level {
            break;
        }
        found = Some(Ranks { low: k, high: n + 1 - k, coverage });
    }
    found
}

/// Interval of the median of independent values. `None` with too few values for `level`, or with one that is not
/// finite.
pub fn median_interval(values: &[f64], level: f64) -> Option<MedianInterval> {
    median_between(values, median_ranks(values.len(), level)?, 1.0)
}

/// Interval of the median of values in the order of time, widened for their lag-1 autocorrelation.
///
/// `None` with too few values for `level` at that autocorrelation: more are needed, or [`median_range`] gives the
/// coverage of the extremes.
pub fn serial_median_interval(values: &[f64], level: f64) -> Option<MedianInterval> {
    let inflation = variance_inflation(values);
    median_between(values, inflated_median_ranks(values.len(), level, inflation)?, inflation)
}

/// The widest interval that values in the order of time can support: their extremes with their coverage, which may be
/// below any wanted level. `None` below two values or with one that is not finite.
pub fn median_range(values: &[f64]) -> Option<MedianInterval> {
    range_at(values, variance_inflation(values))
}

fn range_at(values: &[f64], inflation: f64) -> Option<MedianInterval> {
    median_between(values, extremes(values.len(), inflation)?, inflation)
}

/// The first and the last of `n` values, with their coverage.
fn extremes(n: usize, inflation: f64) -> Option<Ranks> {
    let coverage = || (1.0 - 2.0 * beta_binomial_cdf(0, n, 0.5, inflation)).max(0.0);
    (n >= 2).then(|| Ranks { low: 1, high: n, coverage: coverage() })
}

/// Interval of the median of sample values in the order of time, widened for their persistence, which is estimated from
/// them and from what samples usually show.
///
/// `None` with too few samples for `level`; [`sample_median_range`] then gives the coverage of the extremes.
pub fn sample_median_interval(values: &[f64], level: f64) -> Option<MedianInterval> {
    let inflation = sample_inflation(values);
    median_between(values, inflated_median_ranks(values.len(), level, inflation)?, inflation)
}

/// Like [`median_range`], for sample values in the order of time.
pub fn sample_median_range(values: &[f64]) -> Option<MedianInterval> {
    range_at(values, sample_inflation(values))
}

/// Intervals of the medians of several quantities, each with a value of every sample, between the same two order
/// statistics. The most persistent quantity decides which; if samples are too few, they are the extremes with their own
/// level. If each sample's values rise from one quantity to the next, so do medians and ends.
pub fn joint_median_intervals(columns: &[Vec<f64>], level: f64) -> Option<Vec<MedianInterval>> {
    let n = columns.first()?.len();
    if columns.iter().any(|column| column.len() != n) {
        return None;
    }
    let inflation = columns.iter().map(|column| sample_inflation(column)).fold(1.0, f64::max);
    let ranks = inflated_median_ranks(n, level, inflation).or_else(|| extremes(n, inflation))?;
    columns.iter().map(|column| median_between(column, ranks, inflation)).collect()
}

fn median_between(values: &[f64], ranks: Ranks, inflation: f64) -> Option<MedianInterval> {
    let sorted = sorted(values)?;
    let interval = Interval::new(sorted[ranks.low - 1], sorted[ranks.high - 1], ranks.coverage);
    Some(MedianInterval { median: median_of_sorted(&sorted), interval, ranks, inflation })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_use_the_published_ranks() {
        for (n, low, high) in [(6, 1, 6), (10, 2, 9), (14, 3, 12), (20, 6, 15), (28, 9, 20), (40, 14, 27)] {
            let ranks = median_ranks(n, 0.95).unwrap();
            assert_eq!((ranks.low, ranks.high), (low, high), "{n} values");
            assert!(ranks.coverage >= 0.95);
        }
        assert!((median_ranks(10, 0.95).unwrap().coverage - 1002.0 / 1024.0).abs() < 1e-12);
        assert!((median_ranks(6, 0.95).unwrap().coverage - 0.968_75).abs() < 1e-12);
    }

    #[test]
    fn too_few_values_give_no_interval() {
        assert!(median_ranks(5, 0.95).is_none());
        assert!(median_interval(&[1.0; 5], 0.95).is_none());
        assert!(median_interval(&[1.0, 2.0, 3.0, 4.0, 5.0, f64::NAN], 0.95).is_none());
    }

    #[test]
    fn coverage_is_that_of_all_orderings() {
        for n in 2..12_usize {
            for level in [0.3, 0.5, 0.8, 0.95] {
                let Some(ranks) = median_ranks(n, level) else { continue };
                let inside = ranks.low..=n - ranks.low;
                let covered = (0_u32..1 << n).filter(|below| inside.contains(&(below.count_ones() as usize))).count();
                let exact = covered as f64 / f64::from(1_u32 << n);
                assert!((ranks.coverage - exact).abs() < 1e-12, "{ranks:?} of {n}");
            }
        }
    }

    #[test]
    fn autocorrelation_only_widens() {
        for n in [10, 14, 20, 28, 40] {
            let plain = median_ranks(n, 0.95).unwrap();
            let mut last = plain.low;
            for inflation in [1.0, 1.2, 1.5, 2.0, 3.0, 5.0, 9.0] {
                let low = inflated_median_ranks(n, 0.95, inflation).map_or(0, |r| r.low);
                assert!(low <= last, "{n} values, inflation {inflation}");
                last = low;
            }
        }
        assert!(inflated_median_ranks(10, 0.95, 9.0).is_none());
    }

    /// Values without more correlation than chance.
    fn mixed(n: usize) -> Vec<f64> {
        (0..n).map(|at| ((at * 37 + at * at * 11) % 101) as f64).collect()
    }

    #[test]
    fn few_samples_are_taken_to_persist_and_many_show_whether_they_do() {
        let inflation = |values: &[f64]| sample_median_interval(values, 0.5).unwrap().inflation;
        let (few, many) = (inflation(&mixed(8)), inflation(&mixed(320)));
        assert!(few > 1.3 && many < 1.3, "{few} and {many}");
        let steps: Vec<f64> = (0..80).map(|at| f64::from(at / 10 % 3)).collect();
        assert!(inflation(&steps) > 4.0);
        // Without persistence the interval is hardly wider than that of independent values.
        let low = |n: usize| sample_median_interval(&mixed(n), 0.95).unwrap().ranks.low;
        for n in [20, 40, 80, 320] {
            let independent = median_ranks(n, 0.95).unwrap().low;
            assert!(low(n) < independent + 1 && low(n) + 1 + n / 16 >= independent, "{n}: {} of {independent}", low(n));
        }
        let range = sample_median_range(&mixed(6)).unwrap();
        assert!(range.interval.level < 0.95 && range.interval.level < median_range(&mixed(6)).unwrap().interval.level);
    }

    #[test]
    fn a_slow_walk_has_no_interval_but_an_honest_range() {
        let walk: Vec<f64> = (0..10).map(f64::from).collect();
        assert!(serial_median_interval(&walk, 0.95).is_none());
        let range = median_range(&walk).unwrap();
        assert_eq!((range.interval.low, range.interval.high), (0.0, 9.0));
        assert!(range.interval.level < 0.95);
    }
}
