//! Lag-1 autocorrelation of sample values in the order of time, and by how much it inflates a variance.

use model::RULES;

use crate::distribution::normal_cdf;
use crate::quantile::{mean, midranks};

/// Lag-1 autocorrelation with its significance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lag1 {
    /// Correlation of the ranks of neighbours, -1 to 1; biased towards negative values when there are few.
    pub coefficient: f64,
    /// One-sided p-value of "neighbours are similar" against independence.
    pub p_value: f64,
}

/// Rank autocorrelation at lag 1, robust against single disturbed samples.
///
/// Mean and variance under independence are the exact ones for ranks without ties (Dufour and Roy, Journal of
/// Econometrics 29, 1985), the p-value is by the normal distribution. `None` below five values, with one
/// that is not finite, or when all are equal.
pub fn lag1(values: &[f64]) -> Option<Lag1> {
    if values.len() < 5 || values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let coefficient = correlation_at(&midranks(values)?, 1)?;
    let n = values.len() as f64;
    let variance = null_variance(values.len());
    let z = (coefficient + 1.0 / n) / variance.sqrt();
    Some(Lag1 { coefficient, p_value: normal_cdf(-z) })
}

/// Variance of the lag-1 autocorrelation of `n` ranks in random order.
fn null_variance(n: usize) -> f64 {
    let n = n as f64;
    let moments = 5.0 * n.powi(4) - 14.0 * n.powi(3) - 9.0 * n * n + 26.0 * n + 16.0;
    moments / (5.0 * (n - 1.0).powi(2) * n * n * (n + 1.0))
}

/// Serial correlation of the values themselves at a lag; `None` when all are equal.
fn correlation_at(values: &[f64], lag: usize) -> Option<f64> {
    let centre = mean(values);
    let total: f64 = values.iter().map(|v| (v - centre).powi(2)).sum();
    if total <= 0.0 {
        return None;
    }
    let shared: f64 = values.windows(lag + 1).map(|w| (w[0] - centre) * (w[lag] - centre)).sum();
    Some(shared / total)
}

/// Factor by which autocorrelation inflates the variance of a location estimate of `values` in the order of time, at
/// least 1: the larger of two estimates.
///
/// For a first-order autoregressive series it is `(1 + rho) / (1 - rho)` (Bayley and Hammersley, Journal of the Royal
/// Statistical Society Supplement 8, 1946). `rho` is the unbiased coefficient: at ten values the plain one is too low
/// by a tenth, which would make intervals too narrow. A slow wave is invisible at lag 1, but not in the sum over a
/// quarter of the lags, weighted as by Newey and West (Econometrica 55, 1987). Negative correlation never narrows an
/// interval. With five values only a significant correlation counts: otherwise a quarter of independent fives would
/// seem worth less than one value, and would get no interval.
pub fn variance_inflation(values: &[f64]) -> f64 {
    inflation(values, 0)
}

/// Like [`variance_inflation`], of residuals in the order of time about a line that was fitted to them: fitting
/// `fitted` parameters besides the mean makes neighbours look less alike than they are. The correction uses at most a
/// fourth of their number, because fewer residuals do not determine more.
pub(crate) fn residual_inflation(residuals: &[f64], fitted: usize) -> f64 {
    inflation(residuals, fitted).min(residuals.len() as f64 / 4.0).max(1.0)
}

/// Lag-1 correlation of residuals, 0 to 0.9, freed of the bias that the mean and `fitted` more parameters leave.
pub(crate) fn residual_correlation(residuals: &[f64], fitted: usize) -> f64 {
    lag1(residuals).map_or(0.0, |lag| positive(&lag, residuals.len(), fitted))
}

/// A positive correlation freed of its bias, at most the largest that values show.
fn positive(lag: &Lag1, count: usize, fitted: usize) -> f64 {
    unbiased(lag, count, fitted).clamp(0.0, RULES.noise.most_correlation)
}

/// A correlation freed of its bias at this number of values, `-(1 + 3 rho) / n` with the mean fitted (Marriott and
/// Pope, Biometrika 41, 1954), or one more for each further parameter.
fn unbiased(lag: &Lag1, count: usize, fitted: usize) -> f64 {
    let (n, fitted) = (count as f64, fitted as f64);
    (lag.coefficient * n + 1.0 + fitted) / (n - 3.0 - fitted).max(0.5)
}

/// Factor by which the persistence of samples inflates the variance of their location, at least 1. Few samples get the
/// general factor; many samples get mostly their own.
///
/// Both estimates of [`variance_inflation`] are shrunk towards the mean of the recordings with the empirical Bayes
/// weight `n / (n + k)` (Morris, Journal of the American Statistical Association 78, 1983), where `k` is the sampling
/// variance of one sample's share of the coefficient over the variance of the true coefficients of the recordings. A
/// significant correlation counts in full, because the mean of other recordings is no evidence against it.
pub(crate) fn sample_inflation(values: &[f64]) -> f64 {
    let (n, usual) = (values.len() as f64, usual_inflation());
    let Some(lag) = lag1(values) else { return usual };
    if lag.p_value <= RULES.noise.shown {
        return variance_inflation(values);
    }
    let own = n / (n + RULES.noise.persistence_weight);
    let rho = own * unbiased(&lag, values.len(), 0) + (1.0 - own) * RULES.noise.persistence;
    let long_run = own * long_run_inflation(values, 0) + (1.0 - own) * usual;
    of_correlation(rho.clamp(0.0, RULES.noise.most_correlation)).max(long_run)
}

/// Inflation of samples without further information.
pub(crate) fn usual_inflation() -> f64 {
    of_correlation(RULES.noise.persistence)
}

/// Inflation of a first-order autoregressive series.
fn of_correlation(rho: f64) -> f64 {
    (1.0 + rho) / (1.0 - rho)
}

fn inflation(values: &[f64], fitted: usize) -> f64 {
    let Some(lag) = lag1(values) else { return 1.0 };
    if values.len() < RULES.noise.fewest_correlated as usize && lag.p_value > RULES.noise.shown {
        return 1.0;
    }
    let rho = positive(&lag, values.len(), fitted);
    of_correlation(rho).max(long_run_inflation(values, fitted))
}

/// Long-run variance of the ranks over their variance, with each autocorrelation corrected for its bias under
/// independence.
fn long_run_inflation(values: &[f64], fitted: usize) -> f64 {
    let n = values.len();
    let widest = n / 4;
    let Some(ranks) = midranks(values) else { return 1.0 };
    let weighted = (1..=widest).filter_map(|lag| {
        let weight = 1.0 - lag as f64 / (widest as f64 + 1.0);
        correlation_at(&ranks, lag).map(|r| weight * (r + (1.0 + fitted as f64) / n as f64))
    });
    1.0 + 2.0 * weighted.sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_all_permutations() {
        fn visit(values: &mut Vec<f64>, k: usize, out: &mut Vec<f64>) {
            if k == values.len() {
                out.push(correlation_at(values, 1).unwrap());
                return;
            }
            for i in k..values.len() {
                values.swap(k, i);
                visit(values, k + 1, out);
                values.swap(k, i);
            }
        }
        let n = 7.0_f64;
        let mut all = Vec::new();
        visit(&mut (1..=7).map(f64::from).collect(), 0, &mut all);
        let average = mean(&all);
        let variance = all.iter().map(|r| (r - average).powi(2)).sum::<f64>() / all.len() as f64;
        assert!((average + 1.0 / n).abs() < 1e-12);
        assert!((variance - null_variance(7)).abs() < 1e-12, "{variance} is not {}", null_variance(7));
    }

    #[test]
    fn positive_correlation_reduces_the_effective_number_and_negative_does_not_raise_it() {
        let walk: Vec<f64> = (0..20).map(|i| f64::from(i / 5)).collect();
        assert!(lag1(&walk).unwrap().p_value < 0.001);
        assert!(variance_inflation(&walk) > 4.0);
        let zigzag: Vec<f64> = (0..20).map(|i| f64::from(i % 2)).collect();
        assert_eq!(variance_inflation(&zigzag), 1.0);
        let five = |values: [f64; 5]| variance_inflation(&values);
        assert_eq!(five([1.0, 3.0, 2.0, 4.0, 5.0]), 1.0, "five values do not show how alike neighbours are");
        assert!(five([1.0, 2.0, 3.0, 4.0, 5.0]) > 5.0 && five([5.0, 4.0, 3.0, 2.0, 1.0]) > 5.0);
        assert_eq!(lag1(&[1.0; 9]), None);
        assert_eq!(variance_inflation(&[1.0; 9]), 1.0);
    }
}
