//! Predicting an application from benchmarks when it ran on few machines: a robust weighted mean of logarithms.
//!
//! Each benchmark alone, times one constant, predicts the application; a better fit has a larger weight: `1 / (misfit^2 +
//! 0.1^2)^1.5`. Weights sum to 1, so that a machine twice as fast in every benchmark is twice as fast in the application,
//! and they can be interpreted ("behaves like 31% hash, 22% branch"). The weight is that of a heavy-tailed likelihood:
//! no fit counts as better than 10%, and a bad one fades out (Lange, Little and Taylor, Journal of the American
//! Statistical Association 84, 1989).

use crate::quantile::{mean, median};

/// Misfit below which a better fit makes no difference, as a logarithm.
const SOFTENING: f64 = 0.1;
/// Exponent of the weight.
const POWER: f64 = 1.5;

/// A fitted weighting of benchmarks.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkWeighting {
    /// Weight of each benchmark, summing to 1.
    pub weights: Vec<f64>,
    /// Root mean square error of each benchmark alone, as a logarithm.
    pub misfits: Vec<f64>,
    /// Logarithm of the constant.
    pub constant: f64,
}

/// Fits weights to logarithms: `benchmarks[m]` are those of machine m, `application[m]` is that of the application
/// there. `prior` weights the benchmarks beforehand, such as by a measured footprint; without it all are equal.
///
/// `None` without machines or benchmarks, when lengths differ, with a number that is not finite, or when the prior is
/// negative or all zero.
pub fn benchmark_weighting(
    benchmarks: &[Vec<f64>],
    application: &[f64],
    prior: Option<&[f64]>,
) -> Option<BenchmarkWeighting> {
    let width = benchmarks.first()?.len();
    let sound = benchmarks.len() == application.len()
        && width > 0
        && benchmarks.iter().all(|row| row.len() == width && row.iter().all(|v| v.is_finite()))
        && application.iter().all(|v| v.is_finite())
        && prior.is_none_or(|p| p.len() == width && p.iter().all(|v| v.is_finite() && *v >= 0.0));
    if !sound {
        return None;
    }
    let misfits: Vec<f64> = (0..width).map(|k| misfit(benchmarks, application, k)).collect();
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
    let offsets: Vec<f64> = benchmarks.iter().zip(application).map(|(row, a)| a - weighted(&weights, row)).collect();
    Some(BenchmarkWeighting { weights, misfits, constant: median(&offsets)? })
}

/// Root mean square of the application over benchmark `k` about its own mean, as a logarithm.
fn misfit(benchmarks: &[Vec<f64>], application: &[f64], k: usize) -> f64 {
    let ratios: Vec<f64> = benchmarks.iter().zip(application).map(|(row, a)| a - row[k]).collect();
    let centre = mean(&ratios);
    (ratios.iter().map(|r| (r - centre).powi(2)).sum::<f64>() / ratios.len() as f64).sqrt()
}

fn weighted(weights: &[f64], row: &[f64]) -> f64 {
    weights.iter().zip(row).map(|(w, v)| w * v).sum()
}

impl BenchmarkWeighting {
    /// Logarithm of the application on a machine with these logarithms of benchmarks. `None` when their number differs
    /// from that of the fit or one is not finite.
    pub fn predict(&self, benchmarks: &[f64]) -> Option<f64> {
        if benchmarks.len() != self.weights.len() || benchmarks.iter().any(|v| !v.is_finite()) {
            return None;
        }
        Some(self.constant + weighted(&self.weights, benchmarks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{generator, standard_normal};

    #[test]
    fn the_benchmark_behind_the_application_gets_the_weight() {
        let mut rng = generator(31);
        let benchmarks: Vec<Vec<f64>> =
            (0..6).map(|_| (0..5).map(|_| 0.4 * standard_normal(&mut rng)).collect()).collect();
        let application: Vec<f64> = benchmarks.iter().map(|row| 2.0 + row[3]).collect();
        let fit = benchmark_weighting(&benchmarks, &application, None).unwrap();
        assert!(fit.weights[3] > 0.8, "{:?}", fit.weights);
        assert!((fit.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn twice_the_machine_is_twice_the_application() {
        let benchmarks = vec![vec![1.0, 2.0, 3.0], vec![1.5, 1.7, 3.2]];
        let fit = benchmark_weighting(&benchmarks, &[0.3, 0.5], None).unwrap();
        let base = fit.predict(&benchmarks[0]).unwrap();
        let twice: Vec<f64> = benchmarks[0].iter().map(|v| v + 2.0_f64.ln()).collect();
        assert!((fit.predict(&twice).unwrap() - base - 2.0_f64.ln()).abs() < 1e-12);
        assert!(fit.predict(&[1.0]).is_none());
    }

    #[test]
    fn one_machine_weighs_by_the_prior_alone() {
        let fit = benchmark_weighting(&[vec![1.0, 2.0]], &[5.0], Some(&[3.0, 1.0])).unwrap();
        assert!((fit.weights[0] - 0.75).abs() < 1e-12);
        assert!((fit.predict(&[1.0, 2.0]).unwrap() - 5.0).abs() < 1e-12);
        assert!(benchmark_weighting(&[vec![1.0]], &[5.0], Some(&[0.0])).is_none());
        assert!(benchmark_weighting(&[], &[], None).is_none());
    }
}
