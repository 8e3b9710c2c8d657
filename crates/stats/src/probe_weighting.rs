//! Predicting an application from probes when it ran on few machines: a robust weighted mean of logarithms.
//!
//! Each probe alone, times one constant, predicts the application; a better fit has a larger weight: `1 / (misfit^2 +
//! 0.1^2)^1.5`. Weights sum to 1, so that a machine twice as fast in every probe is twice as fast in the application,
//! and they can be interpreted ("behaves like 31% hash, 22% branch"). The weight is that of a heavy-tailed likelihood:
//! no fit counts as better than 10%, and a bad one fades out (Lange, Little and Taylor, Journal of the American
//! Statistical Association 84, 1989).

use crate::quantile::{mean, median};

/// Misfit below which a better fit makes no difference, as a logarithm.
const SOFTENING: f64 = 0.1;
/// Exponent of the weight.
const POWER: f64 = 1.5;

/// A fitted weighting of probes.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbeWeighting {
    /// Weight of each probe, summing to 1.
    pub weights: Vec<f64>,
    /// Root mean square error of each probe alone, as a logarithm.
    pub misfits: Vec<f64>,
    /// Logarithm of the constant.
    pub constant: f64,
}

/// Fits weights to logarithms: `probes[m]` are those of machine m, `application[m]` is that of the application there.
/// `prior` weights the probes beforehand, such as by a measured footprint; without it all are equal.
///
/// `None` without machines or probes, when lengths differ, with a number that is not finite, or when the prior is
/// negative or all zero.
pub fn probe_weighting(probes: &[Vec<f64>], application: &[f64], prior: Option<&[f64]>) -> Option<ProbeWeighting> {
    let width = probes.first()?.len();
    let sound = probes.len() == application.len()
        && width > 0
        && probes.iter().all(|row| row.len() == width && row.iter().all(|v| v.is_finite()))
        && application.iter().all(|v| v.is_finite())
        && prior.is_none_or(|p| p.len() == width && p.iter().all(|v| v.is_finite() && *v >= 0.0));
    if !sound {
        return None;
    }
    let misfits: Vec<f64> = (0..width).map(|k| misfit(probes, application, k)).collect();
    let raw: Vec<f64> = misfits
        .iter()
        .enumerate()
        .map(|(k, m)| prior.map_or(1.0, |p| p[k]) / (m * m + SOFTENING * SOFTENING).powf(POWER))
        .collect();
    let total: f64 = raw.iter().sum();
    if total <= 0.0 {
        return None;
    }
    let weights: Vec<f64> = raw.iter().map(|w| w / total).collect();
    let offsets: Vec<f64> = probes.iter().zip(application).map(|(row, a)| a - weighted(&weights, row)).collect();
    Some(ProbeWeighting { weights, misfits, constant: median(&offsets)? })
}

/// Root mean square of the application over probe `k` about its own mean, as a logarithm.
fn misfit(probes: &[Vec<f64>], application: &[f64], k: usize) -> f64 {
    let ratios: Vec<f64> = probes.iter().zip(application).map(|(row, a)| a - row[k]).collect();
    let centre = mean(&ratios);
    (ratios.iter().map(|r| (r - centre).powi(2)).sum::<f64>() / ratios.len() as f64).sqrt()
}

fn weighted(weights: &[f64], row: &[f64]) -> f64 {
    weights.iter().zip(row).map(|(w, v)| w * v).sum()
}

impl ProbeWeighting {
    /// Logarithm of the application on a machine with these logarithms of probes. `None` when their number differs
    /// from that of the fit or one is not finite.
    pub fn predict(&self, probes: &[f64]) -> Option<f64> {
        if probes.len() != self.weights.len() || probes.iter().any(|v| !v.is_finite()) {
            return None;
        }
        Some(self.constant + weighted(&self.weights, probes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{generator, standard_normal};

    #[test]
    fn the_probe_behind_the_application_gets_the_weight() {
        let mut rng = generator(31);
        let probes: Vec<Vec<f64>> = (0..6).map(|_| (0..5).map(|_| 0.4 * standard_normal(&mut rng)).collect()).collect();
        let application: Vec<f64> = probes.iter().map(|row| 2.0 + row[3]).collect();
        let fit = probe_weighting(&probes, &application, None).unwrap();
        assert!(fit.weights[3] > 0.8, "{:?}", fit.weights);
        assert!((fit.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn twice_the_machine_is_twice_the_application() {
        let probes = vec![vec![1.0, 2.0, 3.0], vec![1.5, 1.7, 3.2]];
        let fit = probe_weighting(&probes, &[0.3, 0.5], None).unwrap();
        let base = fit.predict(&probes[0]).unwrap();
        let twice: Vec<f64> = probes[0].iter().map(|v| v + 2.0_f64.ln()).collect();
        assert!((fit.predict(&twice).unwrap() - base - 2.0_f64.ln()).abs() < 1e-12);
        assert!(fit.predict(&[1.0]).is_none());
    }

    #[test]
    fn one_machine_weighs_by_the_prior_alone() {
        let fit = probe_weighting(&[vec![1.0, 2.0]], &[5.0], Some(&[3.0, 1.0])).unwrap();
        assert!((fit.weights[0] - 0.75).abs() < 1e-12);
        assert!((fit.predict(&[1.0, 2.0]).unwrap() - 5.0).abs() < 1e-12);
        assert!(probe_weighting(&[vec![1.0]], &[5.0], Some(&[0.0])).is_none());
        assert!(probe_weighting(&[], &[], None).is_none());
    }
}
