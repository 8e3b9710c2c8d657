//! The optimiser's curse: of several uncertain offers, the one that looks cheapest probably has an overestimated rate
//! (Smith and Winkler, The optimizer's curse, Management Science 52, 2006).
//!
//! Offers of one market compete: their costs for a unit of rate differ by less than their predictions do. The spread
//! between offers beyond the errors of their rates is estimated as between studies (DerSimonian and Laird, Controlled
//! Clinical Trials 7, 1986), with a weak prior since offers are few. Each uncertain rate and its interval then shrink
//! towards the rate expected from its cost, by the share of error in its distance. The error of that expectation is
//! common to all shrunk rates.

use serde::{Deserialize, Serialize};
use stats::distribution::normal_quantile;

use super::problem::ChooseProblem;
use super::uncertain::Uncertain;

/// Spread of the cost for a unit of rate between offers before they are seen, as a logarithm.
const SPREAD: f64 = 0.3;
/// Its weight, in offers.
const WEIGHT: f64 = 2.0;
/// Smaller corrections are not reported.
const TOLD: f64 = 0.01;

/// An uncertain rate that was corrected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CorrectedOffer {
    /// Name of the offer.
    pub offer: String,
    /// Rate that is reckoned with over the one that was given.
    pub factor: f64,
}

/// The problem with its uncertain rates corrected, and the corrections of 1% and more.
pub(crate) fn corrected(problem: &ChooseProblem) -> (ChooseProblem, Vec<CorrectedOffer>) {
    let world = problem.middle();
    let taken: Vec<usize> = (0..problem.offers.len())
        .filter(|&i| problem.offers[i].excluded.is_none() && world.cost[i] > 0.0 && world.rate[i] > 0.0)
        .collect();
    let mut corrected = problem.clone();
    if taken.len() < 2 {
        return (corrected, Vec::new());
    }
    let apart: Vec<f64> = taken.iter().map(|&i| (world.cost[i] / world.rate[i]).ln()).collect();
    let parts: Vec<Vec<f64>> = taken.iter().map(|&i| parts(problem, i)).collect();
    let errors: Vec<f64> = parts.iter().map(|parts| parts.iter().sum()).collect();
    let spread = spread(&apart, &errors);
    let (middle, middle_error) = weighted_mean(&apart, &errors, spread);
    let mut told = Vec::new();
    for (place, &i) in taken.iter().enumerate() {
        let error = errors[place];
        if error <= 0.0 {
            continue;
        }
        // Above the mean cost the rate is likelier underestimated, below it overestimated.
        let drawn = error / (spread + error);
        let shift = (apart[place] - middle) * drawn;
        // The rest of its own error. The error of the common mean (Morris, Parametric empirical Bayes inference,
        // Journal of the American Statistical Association 78, 1983) is the same for all, so mixing offers does not
        // reduce it.
        let narrower = (spread * drawn / error).sqrt();
        for (rate, part) in corrected.offers[i].rates.iter_mut().zip(&parts[place]) {
            *rate = moved(*rate, (shift * part / error).exp(), narrower);
        }
        corrected.offers[i].common_error =
            parts[place].iter().map(|part| drawn * middle_error * part / error).collect();
        if shift.abs() >= TOLD {
            told.push(CorrectedOffer { offer: problem.offers[i].name.clone(), factor: shift.exp() });
        }
    }
    (corrected, told)
}

/// Variance of the logarithm of an offer's rate of the mix, by application. A node spends time on each in proportion to
/// its share of events over its rate.
fn parts(problem: &ChooseProblem, offer: usize) -> Vec<f64> {
    let rates = &problem.offers[offer].rates;
    let times: Vec<f64> =
        problem.demand.mix.iter().zip(rates).map(|((_, share), rate)| share / rate.middle()).collect();
    let total: f64 = times.iter().sum();
    rates.iter().zip(&times).map(|(rate, time)| (time / total).powi(2) * variance(*rate)).collect()
}

/// Variance of the logarithm of a value with an interval; other values are no estimates of one.
fn variance(value: Uncertain) -> f64 {
    match value {
        Uncertain::Interval { low, high, level, .. } => {
            ((high / low).ln() / 2.0 / normal_quantile(0.5 + level / 2.0)).powi(2)
        }
        Uncertain::Fixed(_) | Uncertain::Between(..) => 0.0,
    }
}

/// Variance between offers, from all of them and from before.
fn spread(apart: &[f64], errors: &[f64]) -> f64 {
    let floor = 1e-4;
    let weights: Vec<f64> = errors.iter().map(|error| 1.0 / (error + floor)).collect();
    let (sum, squares) = weights.iter().fold((0.0, 0.0), |(sum, squares), w| (sum + w, squares + w * w));
    let mean = apart.iter().zip(&weights).map(|(a, w)| a * w).sum::<f64>() / sum;
    let q: f64 = apart.iter().zip(&weights).map(|(a, w)| w * (a - mean).powi(2)).sum();
    let freedom = apart.len() as f64 - 1.0;
    let between = ((q - freedom) / (sum - squares / sum)).max(0.0);
    (WEIGHT * SPREAD * SPREAD + freedom * between) / (WEIGHT + freedom)
}

/// The mean, and its standard error.
fn weighted_mean(apart: &[f64], errors: &[f64], spread: f64) -> (f64, f64) {
    let weights = || errors.iter().map(|error| 1.0 / (error + spread));
    let total = weights().sum::<f64>();
    (apart.iter().zip(weights()).map(|(a, w)| a * w).sum::<f64>() / total, total.recip().sqrt())
}

/// A value with an interval, times a factor, and the interval narrower in logarithms.
fn moved(value: Uncertain, factor: f64, narrower: f64) -> Uncertain {
    match value {
        Uncertain::Interval { value, low, high, level } => {
            let centre = value * factor;
            let end = |end: f64| centre * (narrower * (end / value).ln()).exp();
            Uncertain::interval(centre, end(low), end(high), level)
        }
        known => known,
    }
}
