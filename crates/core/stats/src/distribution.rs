//! Distribution functions and quantiles of the classical distributions that other modules need.
//!
//! Values come from `statrs`; the tests compare them with printed tables (Abramowitz and Stegun, Handbook of
//! Mathematical Functions, 1964, tables 26.1, 26.9, 26.10).

use statrs::distribution::{ChiSquared, ContinuousCDF};
use statrs::function::beta::beta_reg;
use statrs::function::erf::{erfc, erfc_inv};
use statrs::function::gamma::ln_gamma;

/// P(Z <= z) of the standard normal distribution.
pub fn normal_cdf(z: f64) -> f64 {
    0.5 * erfc(-z / std::f64::consts::SQRT_2)
}

/// Quantile of the standard normal distribution; infinite at 0 and 1, NaN outside.
pub fn normal_quantile(p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    -std::f64::consts::SQRT_2 * erfc_inv(2.0 * p)
}

/// P(T <= t) of Student's t with `df` degrees of freedom.
pub fn student_t_cdf(t: f64, df: f64) -> f64 {
    if t.is_infinite() {
        return if t > 0.0 { 1.0 } else { 0.0 };
    }
    let tail = 0.5 * beta_reg(df / 2.0, 0.5, df / (df + t * t));
    if t > 0.0 { 1.0 - tail } else { tail }
}

/// Quantile of Student's t with `df` degrees of freedom (Student 1908); infinite at 0 and 1, NaN outside.
///
/// Found by Newton's method on the logarithms of quantile and tail, within a bracket. The inverse of `statrs` never
/// ends for degrees like 1e36, which Welch's formula gives if one of two spreads is almost zero. It is also wrong in
/// the tails below half a degree.
pub fn student_t_quantile(p: f64, df: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) || df.is_nan() || df <= 0.0 {
        return f64::NAN;
    }
    if p == 0.5 {
        return 0.0;
    }
    let tail = p.min(1.0 - p);
    let size = if tail == 0.0 { f64::INFINITY } else { student_t_exceeded(tail, df) };
    if p > 0.5 { size } else { -size }
}

/// The positive t that Student's t exceeds with probability `tail`, between 0 and 0.5.
fn student_t_exceeded(tail: f64, df: f64) -> f64 {
    // The expansion of Fisher and Cornish (1960).
    let z = -normal_quantile(tail);
    let terms = [z, (z.powi(3) + z) / 4.0, (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0];
    let expansion = terms[0] + terms[1] / df + terms[2] / df / df;
    if df > 1e6 {
        return expansion;
    }
    let ln_density = ln_gamma((df + 1.0) / 2.0) - ln_gamma(df / 2.0) - 0.5 * (df * std::f64::consts::PI).ln();
    let (mut low, mut high) = (-700.0_f64, 700.0_f64);
    let mut at = expansion.ln().clamp(low, high);
    for _ in 0..200 {
        let t = at.exp();
        let above = student_t_cdf(-t, df);
        let off = (above / tail).ln();
        if off > 0.0 {
            low = at;
        } else {
            high = at;
        }
        let density = (ln_density - (df + 1.0) * (t / df.sqrt()).hypot(1.0).ln()).exp();
        let step = off * above / (density * t);
        let next = at + step;
        if !(low..=high).contains(&next) {
            at = f64::midpoint(low, high);
        } else if step.abs() < 1e-9 {
            return next.exp();
        } else {
            at = next;
        }
        if high - low < 1e-15 * low.abs() {
            break;
        }
    }
    at.exp()
}

/// Quantile of the chi-squared distribution with `df` degrees of freedom, for `p` from 0.001 on; infinite at 1, NaN
/// outside 0 to 1.
pub fn chi_squared_quantile(p: f64, df: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    ChiSquared::new(df).map_or(f64::NAN, |chi| chi.inverse_cdf(p))
}

/// P(X <= k) for X binomial with `n` trials of probability `p`.
pub fn binomial_cdf(k: usize, n: usize, p: f64) -> f64 {
    if k >= n || p <= 0.0 {
        return 1.0;
    }
    if p >= 1.0 {
        return 0.0;
    }
    beta_reg((n - k) as f64, k as f64 + 1.0, 1.0 - p)
}

/// P(X <= k) for X beta-binomial: binomial with mean `p` whose variance is `inflation` times the binomial one, as for a
/// count of correlated trials (Skellam 1948). `inflation <= 1` is the binomial. The largest inflation of `n` correlated
/// trials is `n` (all trials equal); larger values count as `n`.
pub fn beta_binomial_cdf(k: usize, n: usize, p: f64, inflation: f64) -> f64 {
    if k >= n {
        return 1.0;
    }
    if inflation <= 1.0 || n < 2 {
        return binomial_cdf(k, n, p);
    }
    (0..=k).map(beta_binomial_mass(n, p, inflation)).sum::<f64>().min(1.0)
}

/// P(X = j) for X beta-binomial as above, for at least two trials and an inflation above 1.
pub(crate) fn beta_binomial_mass(n: usize, p: f64, inflation: f64) -> impl Fn(usize) -> f64 {
    let rho = ((inflation - 1.0) / (n as f64 - 1.0)).min(1.0 - 1e-9);
    let weight = 1.0 / rho - 1.0;
    let (a, b) = (p * weight, (1.0 - p) * weight);
    let ln_beta = |x: f64, y: f64| ln_gamma(x) + ln_gamma(y) - ln_gamma(x + y);
    let n = n as f64;
    let constant = ln_gamma(n + 1.0) - ln_beta(a, b) - ln_gamma(n + a + b);
    move |j: usize| {
        let j = j as f64;
        let ln_choose = -ln_gamma(j + 1.0) - ln_gamma(n - j + 1.0);
        (constant + ln_choose + ln_gamma(j + a) + ln_gamma(n - j + b)).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chi_squared_as_printed() {
        // Abramowitz and Stegun, table 26.8.
        for (p, df, x) in [(0.95, 1.0, 3.84146), (0.95, 10.0, 18.3070), (0.05, 10.0, 3.94030), (0.975, 4.0, 11.1433)] {
            near(chi_squared_quantile(p, df), x, 1e-3);
        }
        assert!(chi_squared_quantile(1.0, 3.0).is_infinite() && chi_squared_quantile(1.5, 3.0).is_nan());
    }

    fn near(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance, "{a} is not {b} within {tolerance}");
    }

    #[test]
    fn normal_matches_tables() {
        near(normal_quantile(0.975), 1.959_963_984_540_054, 1e-9);
        near(normal_quantile(0.025), -1.959_963_984_540_054, 1e-9);
        near(normal_quantile(0.8), 0.841_621_233_572_914, 1e-9);
        near(normal_cdf(1.0), 0.841_344_746_068_543, 1e-10);
        near(normal_cdf(-6.0) / 9.865_876_450_376_98e-10, 1.0, 1e-6);
        assert!(normal_quantile(1.5).is_nan());
        near(normal_quantile(0.5), 0.0, 1e-12);
    }

    #[test]
    fn student_t_matches_tables() {
        for (df, quantile) in [(1.0, 12.7062), (2.0, 4.302_65), (4.0, 2.776_45), (9.0, 2.262_16), (30.0, 2.042_27)] {
            near(student_t_quantile(0.975, df), quantile, 1e-4);
            near(student_t_quantile(0.025, df), -quantile, 1e-4);
        }
        near(student_t_quantile(0.995, 5.0), 4.032_14, 1e-4);
        near(student_t_cdf(0.0, 3.0), 0.5, 1e-12);
        assert!(student_t_quantile(1.0, 4.0) == f64::INFINITY && student_t_quantile(0.0, 4.0) == f64::NEG_INFINITY);
        assert!(student_t_quantile(0.9, 0.0).is_nan() && student_t_quantile(1.1, 4.0).is_nan());
    }

    /// Welch's degrees of freedom are any number.
    #[test]
    fn student_t_has_quantiles_for_every_number_of_degrees() {
        for p in [1e-9, 0.49, 0.975, 0.9995] {
            for df in (0..400).map(|step| 0.3 * 1.03_f64.powi(step)) {
                let t = student_t_quantile(p, df);
                let back = student_t_cdf(t, df);
                assert!((back / p - 1.0).abs() < 1e-6, "{df} degrees: {p} becomes {back}");
            }
        }
        for many in [1e9, 8.542_307_636_964_317e35, f64::MAX, f64::INFINITY] {
            near(student_t_quantile(0.975, many), normal_quantile(0.975), 1e-8);
        }
        assert!(student_t_quantile(0.5, 7.3) == 0.0);
    }

    #[test]
    fn quantiles_invert_their_distributions() {
        for p in [1e-6, 1e-3, 0.025, 0.2, 0.4999, 0.5, 0.7, 0.975, 0.9995, 1.0 - 1e-6] {
            for df in [1.0, 2.0, 3.0, 9.0, 38.0, 250.0, 4000.0] {
                let back = student_t_cdf(student_t_quantile(p, df), df);
                assert!((back / p - 1.0).abs() < 1e-6, "Student's t, {df} degrees: {p} becomes {back}");
                if p >= 1e-3 {
                    let back = statrs::function::gamma::gamma_lr(df / 2.0, chi_squared_quantile(p, df) / 2.0);
                    assert!((back / p - 1.0).abs() < 1e-3, "chi-squared, {df} degrees: {p} becomes {back}");
                }
            }
        }
    }

    #[test]
    fn binomial_matches_direct_sums() {
        near(binomial_cdf(1, 10, 0.5), 11.0 / 1024.0, 1e-12);
        near(binomial_cdf(0, 6, 0.5), 1.0 / 64.0, 1e-12);
        assert_eq!(binomial_cdf(10, 10, 0.5), 1.0);
        near(binomial_cdf(2, 5, 0.3), 0.836_92, 1e-5);
    }

    #[test]
    fn beta_binomial_has_the_asked_variance() {
        let (n, p, inflation) = (20, 0.5, 2.5);
        let mass: Vec<f64> = (0..=n)
            .map(|k| {
                let below = if k == 0 { 0.0 } else { beta_binomial_cdf(k - 1, n, p, inflation) };
                beta_binomial_cdf(k, n, p, inflation) - below
            })
            .collect();
        let mean: f64 = mass.iter().enumerate().map(|(k, m)| k as f64 * m).sum();
        let variance: f64 = mass.iter().enumerate().map(|(k, m)| (k as f64 - mean).powi(2) * m).sum();
        near(mean, 10.0, 1e-8);
        near(variance, 5.0 * inflation, 1e-7);
        near(beta_binomial_cdf(3, n, p, 1.0), binomial_cdf(3, n, p), 1e-15);
    }
}
