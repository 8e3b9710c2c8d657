//! Predictions of known values in numbers.

use serde::{Deserialize, Serialize};
use stats::distribution::binomial_cdf;
use stats::{median, quantile};

use super::result::ForecastStanding;
use super::tried::TriedPrediction;

/// A summary of predictions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TriedSummary {
    /// Predictions made.
    pub predictions: usize,
    /// Share of refused ones, which count in no error.
    pub refused: f64,
    /// Share of those that stand as sound.
    pub sound: f64,
    /// Median relative error.
    pub median_error: f64,
    /// 90th percentile of the relative error.
    pub worst_tenth: f64,
    /// Share of true values inside the interval; absent without intervals.
    pub coverage: Option<f64>,
    /// The same share if a refusal counts as a miss.
    pub coverage_with_refusals: Option<f64>,
    /// Probability of so few intervals held, if each held at its level by itself (binomial).
    pub too_few_held: Option<f64>,
    /// Median half-width of the interval, relative.
    pub half_width: Option<f64>,
}

impl TriedSummary {
    /// Summary of predictions of known values; `None` when none was answered.
    #[must_use]
    pub fn of(tried: &[TriedPrediction], level: f64) -> Option<Self> {
        let answered: Vec<&TriedPrediction> = tried.iter().filter(|t| !t.refused()).collect();
        let errors: Vec<f64> = answered.iter().map(|t| t.error).collect();
        let covered: Vec<bool> = answered.iter().filter_map(|t| t.covered).collect();
        let widths: Vec<f64> = answered.iter().filter_map(|t| t.half_width).collect();
        let held = covered.iter().filter(|covered| **covered).count();
        let refused = tried.len() - answered.len();
        let share = |of: usize| (!covered.is_empty()).then(|| held as f64 / of as f64);
        let sound = tried.iter().filter(|t| t.standing == ForecastStanding::Sound).count();
        Some(Self {
            predictions: tried.len(),
            refused: refused as f64 / tried.len() as f64,
            sound: sound as f64 / tried.len() as f64,
            median_error: median(&errors)?,
            worst_tenth: quantile(&errors, 0.9)?,
            coverage: share(covered.len()),
            coverage_with_refusals: share(covered.len() + refused),
            too_few_held: (!covered.is_empty()).then(|| binomial_cdf(held, covered.len(), level)),
            half_width: median(&widths).map(f64::exp_m1),
        })
    }
}
