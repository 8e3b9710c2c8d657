//! Predictions of known values in numbers.

use std::collections::BTreeMap;

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
    /// Share of predictions without a warning.
    pub sound: f64,
    /// Median relative error.
    pub median_error: f64,
    /// 90th percentile of the relative error.
    pub worst_tenth: f64,
    /// Share of true values inside the interval; absent without intervals.
    pub coverage: Option<f64>,
    /// The same share if a refusal counts as a miss.
    pub coverage_with_refusals: Option<f64>,
    /// Probability that this few intervals hold, if those of each machine held independently at their level (binomial).
    /// A value that was predicted from several choices of machines counts once, with the share of its intervals that
    /// held: if it is unlike all others, every choice misses it.
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
            too_few_held: too_few(&answered, level),
            half_width: median(&widths).map(f64::exp_m1),
        })
    }
}

/// See [`TriedSummary::too_few_held`].
fn too_few(answered: &[&TriedPrediction], level: f64) -> Option<f64> {
    let mut values: BTreeMap<(&str, &str), (usize, usize)> = BTreeMap::new();
    for one in answered {
        if let Some(covered) = one.covered {
            let (held, of) = values.entry((&one.application, &one.machine)).or_default();
            *held += usize::from(covered);
            *of += 1;
        }
    }
    let held: f64 = values.values().map(|&(held, of)| held as f64 / of as f64).sum();
    // A rounding error of the sum is no miss.
    (!values.is_empty()).then(|| binomial_cdf((held + 1e-9).floor() as usize, values.len(), level))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(machine: usize, covered: bool) -> TriedPrediction {
        TriedPrediction {
            application: "application".to_owned(),
            machine: format!("machine {machine}"),
            error: 0.1,
            members: Vec::new(),
            covered: Some(covered),
            half_width: Some(0.2),
            standing: ForecastStanding::Sound,
        }
    }

    /// One machine of seven is missed by each of twenty choices: that is one miss, and not twenty of 140. Half of the
    /// machines missed are too few all the same, and so are misses spread over all.
    #[test]
    fn a_machine_counts_once_however_often_it_was_predicted() {
        let repeated = |missed: &dyn Fn(usize, usize) -> bool| -> f64 {
            let all = (0..20).flat_map(|choice| (0..7).map(move |machine| (choice, machine)));
            let tried: Vec<TriedPrediction> = all.map(|(choice, of)| tried(of, !missed(choice, of))).collect();
            TriedSummary::of(&tried, 0.9).and_then(|summary| summary.too_few_held).unwrap_or(f64::NAN)
        };
        assert!(repeated(&|_, machine| machine == 0) > 0.4);
        assert!(repeated(&|_, machine| machine < 4) < 0.01);
        assert!(repeated(&|choice, _| choice % 2 == 0) < 0.03);
        assert!(repeated(&|_, _| false) > 0.99);
    }

    /// If every value is predicted once, values and predictions are equally many.
    #[test]
    fn single_predictions_are_counted_as_they_are() {
        let all: Vec<TriedPrediction> = (0..40).map(|machine| tried(machine, machine % 4 != 0)).collect();
        let summary = TriedSummary::of(&all, 0.9).expect("all are answered");
        let expected = binomial_cdf(30, 40, 0.9);
        assert!(summary.too_few_held.is_some_and(|p| (p - expected).abs() < 1e-12), "{summary:?}");
    }
}
