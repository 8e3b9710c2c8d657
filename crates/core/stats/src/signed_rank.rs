//! The null distribution of the Wilcoxon signed-rank statistic.
//!
//! Wilcoxon, Biometrics Bulletin 1, 1945; Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 3rd ed.
//! 2014, section 3.1. Exact for values without ties: each rank is positive or negative with equal probability.

use crate::distribution::normal_cdf;

/// Above this number of values the normal approximation replaces the exact distribution.
const EXACT_UP_TO: usize = 200;

/// `P(T <= t)` for t = 0, 1, ..., n (n + 1) / 4, if `n` independent values are distributed symmetrically around zero: T
/// is the sum of the ranks of the positive ones, and the number of positive averages of two values.
pub(crate) fn null_tail(n: usize) -> Vec<f64> {
    let half = n * (n + 1) / 4;
    if n > EXACT_UP_TO {
        let size = n as f64;
        let (mean, variance) = (size * (size + 1.0) / 4.0, size * (size + 1.0) * (2.0 * size + 1.0) / 24.0);
        return (0..=half).map(|t| normal_cdf((t as f64 + 0.5 - mean) / variance.sqrt())).collect();
    }
    let mut probability = vec![0.0_f64; half + 1];
    probability[0] = 1.0;
    for rank in 1..=n {
        for sum in (0..=half).rev() {
            let with = if sum >= rank { probability[sum - rank] } else { 0.0 };
            probability[sum] = (probability[sum] + with) / 2.0;
        }
    }
    let mut below = 0.0;
    probability
        .iter()
        .map(|one| {
            below += one;
            below
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_enumeration_and_printed_tables() {
        for n in 1_usize..10 {
            let mut count = vec![0_u32; n * (n + 1) / 2 + 1];
            for signs in 0_u32..1 << n {
                let sum: usize = (0..n).filter(|at| signs >> at & 1 == 1).map(|at| at + 1).sum();
                count[sum] += 1;
            }
            let mut below = 0;
            for (t, probability) in null_tail(n).iter().enumerate() {
                below += count[t];
                assert!((probability - f64::from(below) / f64::from(1_u32 << n)).abs() < 1e-12, "{n} values, {t}");
            }
        }
        // Critical values at 5% two-sided: 8 of ten values, 52 of twenty.
        for (n, critical) in [(10, 8), (20, 52)] {
            let tail = null_tail(n);
            assert!(2.0 * tail[critical] <= 0.05 && 2.0 * tail[critical + 1] > 0.05, "{n}");
        }
    }

    #[test]
    fn the_approximation_continues_the_exact_distribution() {
        let (exact, approximate) = (null_tail(200), null_tail(201));
        let at = |tail: &[f64], share: f64| tail[(share * tail.len() as f64) as usize];
        assert!((at(&exact, 0.9) / at(&approximate, 0.9) - 1.0).abs() < 0.05);
    }
}
