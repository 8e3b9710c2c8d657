//! Straight lines by weighted least squares, with intervals of their parameters and predictions.
//!
//! Draper and Smith, Applied Regression Analysis, 3rd ed. 1998, chapters 1, 3 and 9. For data with outliers use
//! [`crate::theil_sen`].

use crate::autocorrelation::residual_inflation;
use crate::distribution::student_t_quantile;
use crate::interval::{Estimated, Interval};

/// A fitted line `y = intercept + slope x`.
#[derive(Debug, Clone, PartialEq)]
pub struct FitLine {
    /// Slope, in units of y per unit of x.
    pub slope: f64,
    /// Value at x = 0; exactly 0 for a line through the origin.
    pub intercept: f64,
    /// Standard deviation of a point of weight 1 about the line.
    pub residual_sd: f64,
    /// Degrees of freedom: the effective number of points minus fitted parameters.
    pub degrees: f64,
    /// Smallest and largest x of the fit.
    pub range: (f64, f64),
    /// Weighted mean of x; 0 for a line through the origin.
    mean_x: f64,
    /// Weighted sum of squares of x about `mean_x`.
    spread_x: f64,
    /// Sum of weights; infinite for a line through the origin, whose value at 0 is known.
    weight: f64,
    /// Factor by which the correlation of residuals inflates the variance of the line.
    inflation: f64,
}

/// Parameters besides the mean with which a line hides the correlation of its residuals. It has one more; with two,
/// intervals hold at a correlation of 0.6 from eight points on.
const RESIDUAL_BIAS: usize = 2;

/// Least degrees of freedom of a line through points that resemble their neighbours.
const LEAST_DEGREES: f64 = 2.0;

impl FitLine {
    /// The line with the correlation of its residuals in the order of x, which widens its intervals as fewer
    /// independent points would.
    #[must_use]
    pub(crate) fn persistent(self, residuals: &[f64]) -> Self {
        let inflation = residual_inflation(residuals, RESIDUAL_BIAS);
        let parameters = residuals.len() as f64 - self.degrees;
        let degrees = (residuals.len() as f64 / inflation - parameters).max(LEAST_DEGREES).min(self.degrees);
        Self { inflation, degrees, ..self }
    }

    /// Variance of the slope, in squares of its unit.
    fn slope_variance(&self) -> f64 {
        self.residual_sd.powi(2) * self.inflation / self.spread_x
    }

    /// Interval of the slope.
    pub fn slope_interval(&self, level: f64) -> Interval {
        let half = self.t(level) * self.slope_variance().sqrt();
        Interval::new(self.slope - half, self.slope + half, level)
    }

    /// Interval of the value at x = 0.
    pub fn intercept_interval(&self, level: f64) -> Interval {
        self.mean_at(0.0, level).interval
    }

    /// Value of the line at `x` with the interval of the line itself.
    pub fn mean_at(&self, x: f64, level: f64) -> Estimated {
        self.at(x, level, self.line_variance(x))
    }

    /// Value of the line at `x` with the interval for one new point of weight 1.
    pub fn predict(&self, x: f64, level: f64) -> Estimated {
        self.at(x, level, 1.0 + self.line_variance(x))
    }

    fn at(&self, x: f64, level: f64, variance: f64) -> Estimated {
        let value = self.intercept + self.slope * x;
        let half = self.t(level) * self.residual_sd * variance.sqrt();
        Estimated { value, interval: Interval::new(value - half, value + half, level) }
    }

    /// Variance of the line at `x` over that of a point.
    fn line_variance(&self, x: f64) -> f64 {
        self.inflation * (1.0 / self.weight + (x - self.mean_x).powi(2) / self.spread_x)
    }

    fn t(&self, level: f64) -> f64 {
        student_t_quantile(0.5 + level / 2.0, self.degrees)
    }
}

/// Fits a line with slope and intercept to points of equal weight. `None` below three points, with one that is not
/// finite, when the samples differ in length, or when all x are equal.
pub fn line(x: &[f64], y: &[f64]) -> Option<FitLine> {
    weighted_line(x, y, &vec![1.0; x.len()])
}

/// Like [`line()`]; a point of weight w has the variance of a point of weight 1 over w. Weights must be positive.
pub fn weighted_line(x: &[f64], y: &[f64], weights: &[f64]) -> Option<FitLine> {
    if x.len() < 3 || !sound(x, y, weights) {
        return None;
    }
    let total: f64 = weights.iter().sum();
    let average = |v: &[f64]| v.iter().zip(weights).map(|(v, w)| v * w).sum::<f64>() / total;
    let (mean_x, mean_y) = (average(x), average(y));
    let spread_x: f64 = x.iter().zip(weights).map(|(x, w)| w * (x - mean_x).powi(2)).sum();
    if spread_x <= 0.0 {
        return None;
    }
    let shared: f64 = x.iter().zip(y).zip(weights).map(|((x, y), w)| w * (x - mean_x) * (y - mean_y)).sum();
    let slope = shared / spread_x;
    let fitted = FitLine {
        slope,
        intercept: mean_y - slope * mean_x,
        residual_sd: 0.0,
        degrees: (x.len() - 2) as f64,
        range: range(x),
        mean_x,
        spread_x,
        weight: total,
        inflation: 1.0,
    };
    Some(with_residuals(fitted, x, y, weights))
}

/// Fits a line through the origin, such as bytes over time. A point of weight w has 1/w of the variance of a point of
/// weight 1. `None` below two points, with a point or weight that is not finite, with a weight that is not positive,
/// when the samples differ in length, or when all x are 0.
pub fn weighted_line_through_origin(x: &[f64], y: &[f64], weights: &[f64]) -> Option<FitLine> {
    if x.len() < 2 || !sound(x, y, weights) {
        return None;
    }
    let weighted = |of: &[f64]| x.iter().zip(of).zip(weights).map(|((x, v), w)| w * x * v).sum::<f64>();
    let spread_x = weighted(x);
    if spread_x <= 0.0 {
        return None;
    }
    let fitted = FitLine {
        slope: weighted(y) / spread_x,
        intercept: 0.0,
        residual_sd: 0.0,
        degrees: (x.len() - 1) as f64,
        range: range(x),
        mean_x: 0.0,
        spread_x,
        weight: f64::INFINITY,
        inflation: 1.0,
    };
    Some(with_residuals(fitted, x, y, weights))
}

fn with_residuals(mut line: FitLine, x: &[f64], y: &[f64], weights: &[f64]) -> FitLine {
    let squares = residuals(&line, x, y).iter().zip(weights).map(|(r, w)| w * r * r).sum::<f64>();
    line.residual_sd = (squares / line.degrees).sqrt();
    line
}

pub(crate) fn residuals(line: &FitLine, x: &[f64], y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(x, y)| y - line.intercept - line.slope * x).collect()
}

fn sound(x: &[f64], y: &[f64], weights: &[f64]) -> bool {
    x.len() == y.len()
        && x.len() == weights.len()
        && x.iter().chain(y).all(|v| v.is_finite())
        && weights.iter().all(|w| w.is_finite() && *w > 0.0)
}

fn range(x: &[f64]) -> (f64, f64) {
    x.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{generator, standard_normal};

    /// Norris, NIST Statistical Reference Datasets, linear regression of low difficulty: first certified values.
    const NORRIS: [(f64, f64); 36] = [
        (0.2, 0.1),
        (337.4, 338.8),
        (118.2, 118.1),
        (884.6, 888.0),
        (10.1, 9.2),
        (226.5, 228.1),
        (666.3, 668.5),
        (996.3, 998.5),
        (448.6, 449.1),
        (777.0, 778.9),
        (558.2, 559.2),
        (0.4, 0.3),
        (0.6, 0.1),
        (775.5, 778.1),
        (666.9, 668.8),
        (338.0, 339.3),
        (447.5, 448.9),
        (11.6, 10.8),
        (556.0, 557.7),
        (228.1, 228.3),
        (995.8, 998.0),
        (887.6, 888.8),
        (120.2, 119.6),
        (0.3, 0.3),
        (0.3, 0.6),
        (556.8, 557.6),
        (339.1, 339.3),
        (887.2, 888.0),
        (999.0, 998.5),
        (779.0, 778.9),
        (11.1, 10.2),
        (118.3, 117.6),
        (229.2, 228.9),
        (669.1, 668.4),
        (448.9, 449.2),
        (0.5, 0.2),
    ];

    #[test]
    fn certified_reference_line() {
        let (x, y): (Vec<f64>, Vec<f64>) = NORRIS.into_iter().unzip();
        let fit = line(&x, &y).unwrap();
        assert!((fit.slope - 1.002_116_818_020_45).abs() < 1e-11);
        assert!((fit.intercept + 0.262_323_073_774_029).abs() < 1e-10);
        assert!((fit.residual_sd - 0.884_796_396_144_373).abs() < 1e-10);
        let slope_error = fit.slope_interval(0.95).half_width() / student_t_quantile(0.975, 34.0);
        assert!((slope_error - 0.429_796_848_199_937e-3).abs() < 1e-9);
        let intercept_error = fit.intercept_interval(0.95).half_width() / student_t_quantile(0.975, 34.0);
        assert!((intercept_error - 0.232_818_234_301_152).abs() < 1e-7);
    }

    #[test]
    fn prediction_intervals_cover_new_points() {
        let mut rng = generator(4);
        let x: Vec<f64> = (0..12).map(f64::from).collect();
        let covered = (0..1000)
            .filter(|_| {
                let y: Vec<f64> = x.iter().map(|x| 1.0 + 0.5 * x + standard_normal(&mut rng)).collect();
                let new = 1.0 + 0.5 * 15.0 + standard_normal(&mut rng);
                line(&x, &y).unwrap().predict(15.0, 0.9).interval.contains(new)
            })
            .count();
        assert!((865..=935).contains(&covered), "{covered} of 1000");
    }

    #[test]
    fn origin_weights_and_refusals() {
        let (x, one) = ([1.0, 2.0, 4.0], [1.0; 3]);
        let fit = weighted_line_through_origin(&x, &[2.0, 4.0, 8.0], &one).unwrap();
        assert_eq!((fit.slope, fit.intercept, fit.residual_sd), (2.0, 0.0, 0.0));
        // Weighted by the squares of x it is the mean of the ratios.
        let shares = x.map(|x: f64| x.powi(-2));
        let fit = weighted_line_through_origin(&x, &[1.0, 4.0, 12.0], &shares).unwrap();
        assert!((fit.slope - 2.0).abs() < 1e-12 && (fit.residual_sd - 1.0).abs() < 1e-12, "{fit:?}");
        let heavy = weighted_line(&[0.0, 1.0, 2.0, 3.0], &[0.0, 1.0, 2.0, 30.0], &[1.0, 1.0, 1.0, 1e-9]).unwrap();
        assert!((heavy.slope - 1.0).abs() < 1e-6);
        assert!(line(&[1.0, 1.0, 1.0], &[1.0, 2.0, 3.0]).is_none());
        assert!(line(&[1.0, 2.0], &[1.0, 2.0]).is_none());
    }
}
