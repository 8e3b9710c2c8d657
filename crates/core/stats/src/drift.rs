//! Trend test of sample values over time: whether the machine drifts while it is measured.
//!
//! Mann, Econometrica 13, 1945, and Kendall, Rank Correlation Methods, 1975; the size of the trend is the Theil-Sen
//! slope. Autocorrelation inflates the variance of the score, which is corrected by the lag-1 coefficient of the
//! detrended values (Yue and Wang, Water Resources Management 18, 2004).

use model::RULES;

use crate::autocorrelation::variance_inflation;
use crate::distribution::normal_cdf;
use crate::interval::Interval;
use crate::theil_sen::{kendall_variance, theil_sen};

/// A monotone trend over time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MonotoneTrend {
    /// Kendall's tau between time and value, -1 to 1.
    pub tau: f64,
    /// Two-sided p-value of "no trend".
    pub p_value: f64,
    /// Theil-Sen slope, in units of the value per unit of time.
    pub slope: f64,
    /// Interval of the slope at 95%.
    pub slope_interval: Interval,
    /// Change over the whole span: slope times the time between first and last value.
    pub change: f64,
}

/// Trend of `values` measured at `times` (any unit, in rising order). Give logarithms for a relative change.
///
/// `None` below eight values, with one that is not finite, when the samples differ in length, or when all times are
/// equal.
pub fn trend(times: &[f64], values: &[f64]) -> Option<MonotoneTrend> {
    if times.len() != values.len() || times.len() < 8 {
        return None;
    }
    let line = theil_sen(times, values, 0.95)?;
    let mut score = 0.0;
    for i in 0..times.len() {
        for j in i + 1..times.len() {
            score += sign(times[j] - times[i]) * sign(values[j] - values[i]);
        }
    }
    let residuals: Vec<f64> = times.iter().zip(values).map(|(t, v)| v - line.slope * t).collect();
    let variance = kendall_variance(times, values) * variance_inflation(&residuals);
    let p_value = if variance > 0.0 { 2.0 * normal_cdf(-(score.abs() - 1.0).max(0.0) / variance.sqrt()) } else { 1.0 };
    let pairs = (times.len() * (times.len() - 1)) as f64 / 2.0;
    let span = times[times.len() - 1] - times[0];
    Some(MonotoneTrend {
        tau: score / pairs,
        p_value: p_value.min(1.0),
        slope: line.slope,
        slope_interval: line.slope_interval,
        change: line.slope * span,
    })
}

/// Whether logarithms of sample values at `times` (any unit, in rising order) drift by more than `band` over the whole
/// span (a logarithm, 0.02 is 2%). The trend must have a chance below 1%, or hardly any pair may contradict it.
pub fn drifts(times: &[f64], logs: &[f64], band: f64) -> bool {
    let moves =
        |found: MonotoneTrend| found.p_value < RULES.noise.drift_p || found.tau.abs() >= RULES.noise.drift_one_way;
    trend(times, logs).is_some_and(|found| found.change.abs() > band && moves(found))
}

fn sign(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_climb_is_a_drift_and_noise_is_not() {
        let times: Vec<f64> = (0..20).map(f64::from).collect();
        let wiggle = [0.3, -0.5, 0.1, 0.4, -0.2, -0.4, 0.5, 0.0, -0.3, 0.2];
        let flat: Vec<f64> = (0..20).map(|i| wiggle[i % 10]).collect();
        let climb: Vec<f64> = flat.iter().zip(&times).map(|(v, t)| v + 0.1 * t).collect();
        assert!(trend(&times, &flat).unwrap().p_value > 0.2);
        let found = trend(&times, &climb).unwrap();
        assert!(found.p_value < 0.001 && found.tau > 0.5);
        assert!((found.change - 1.9).abs() < 0.5, "{found:?}");
    }

    #[test]
    fn equal_values_have_no_trend() {
        let times: Vec<f64> = (0..10).map(f64::from).collect();
        assert_eq!(trend(&times, &[2.0; 10]).unwrap().p_value, 1.0);
        assert!(trend(&times[..7], &[2.0; 7]).is_none());
    }
}
