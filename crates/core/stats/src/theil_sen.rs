//! A robust slope, resistant to up to 29% of outliers, with a distribution-free interval.
//!
//! Theil, Proceedings of the Royal Netherlands Academy of Sciences 53, 1950; Sen, Journal of the American Statistical
//! Association 63, 1968: median of the slopes between all pairs, interval from the null distribution of Kendall's
//! score.

use crate::distribution::normal_quantile;
use crate::interval::Interval;
use crate::quantile::{median, median_of_sorted};

/// A robust line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RobustLine {
    /// Median slope, in units of y per unit of x.
    pub slope: f64,
    /// Interval of the slope.
    pub slope_interval: Interval,
    /// Median of `y - slope x`.
    pub intercept: f64,
}

/// Fits the line through `(x, y)`. `None` below four points, with a point that is not finite, when the samples differ
/// in length, when all x are equal, or when there are too few points for an interval at `level`.
pub fn theil_sen(x: &[f64], y: &[f64], level: f64) -> Option<RobustLine> {
    if x.len() != y.len() || x.len() < 4 || x.iter().chain(y).any(|v| !v.is_finite()) {
        return None;
    }
    let mut slopes = Vec::with_capacity(x.len() * (x.len() - 1) / 2);
    for i in 0..x.len() {
        for j in i + 1..x.len() {
            if x[i] != x[j] {
                slopes.push((y[j] - y[i]) / (x[j] - x[i]));
            }
        }
    }
    if slopes.is_empty() {
        return None;
    }
    slopes.sort_by(f64::total_cmp);
    let slope = median_of_sorted(&slopes);
    let spread = normal_quantile(0.5 + level / 2.0) * kendall_variance(x, y).sqrt();
    let count = slopes.len() as f64;
    let low = ((count - spread) / 2.0).floor();
    let high = ((count + spread) / 2.0).ceil();
    if low < 1.0 || high + 1.0 > count {
        return None;
    }
    let slope_interval = Interval::new(slopes[low as usize - 1], slopes[high as usize], level);
    let offsets: Vec<f64> = x.iter().zip(y).map(|(x, y)| y - slope * x).collect();
    Some(RobustLine { slope, slope_interval, intercept: median(&offsets)? })
}

/// Variance of Kendall's score `sum of sign(dx dy)` under no trend, with ties in x and y (Kendall, Rank Correlation
/// Methods, 4th ed. 1975, section 4.10).
pub(crate) fn kendall_variance(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len() as f64;
    let group_sizes = |values: &[f64]| -> Vec<f64> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted.chunk_by(|a, b| a == b).map(|g| g.len() as f64).collect()
    };
    let (tx, ty) = (group_sizes(x), group_sizes(y));
    let sum = |sizes: &[f64], f: fn(f64) -> f64| sizes.iter().map(|&t| f(t)).sum::<f64>();
    let third = |t: f64| t * (t - 1.0) * (2.0 * t + 5.0);
    let pairs = |t: f64| t * (t - 1.0);
    let triples = |t: f64| t * (t - 1.0) * (t - 2.0);
    let mut variance = (third(n) - sum(&tx, third) - sum(&ty, third)) / 18.0;
    variance += sum(&tx, pairs) * sum(&ty, pairs) / (2.0 * pairs(n));
    if n > 2.0 {
        variance += sum(&tx, triples) * sum(&ty, triples) / (9.0 * triples(n));
    }
    variance.max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_outlier_does_not_move_the_line() {
        let x: Vec<f64> = (0..20).map(f64::from).collect();
        let mut y: Vec<f64> = x.iter().map(|x| 3.0 + 2.0 * x).collect();
        y[4] = 1e6;
        let line = theil_sen(&x, &y, 0.95).unwrap();
        assert!((line.slope - 2.0).abs() < 1e-9 && (line.intercept - 3.0).abs() < 1e-9);
        assert!(line.slope_interval.contains(2.0));
    }

    #[test]
    fn invalid_input_has_no_line() {
        assert!(theil_sen(&[1.0; 8], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], 0.95).is_none());
        assert!(theil_sen(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0], 0.95).is_none());
    }
}
