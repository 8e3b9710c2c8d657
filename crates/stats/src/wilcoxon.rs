//! The null distribution of Wilcoxon's signed-rank statistic, and its p-value.
//!
//! Wilcoxon, Biometrics Bulletin 1, 1945. Exact by dynamic programming; zeros are dropped and equal sizes share their
//! midranks, with the permutation distribution of just those ranks (Lehmann, Nonparametrics, 1975, chapter 3).

use crate::distribution::normal_cdf;
use crate::quantile::midranks;

/// Above this number of values the normal approximation replaces the exact distribution.
const EXACT_UP_TO: usize = 150;

/// `P(V <= v)` for v = 0, 1, ..., n (n + 1) / 4 under symmetry about zero without ties or zeros.
pub fn null_tail(n: usize) -> Vec<f64> {
    let half = n * (n + 1) / 4;
    if n > EXACT_UP_TO {
        let (mean, sd) = moments(n);
        return (0..=half).map(|v| normal_cdf((v as f64 + 0.5 - mean) / sd)).collect();
    }
    let ranks: Vec<usize> = (1..=n).collect();
    cumulated(&sums(&ranks, half))
}

fn moments(n: usize) -> (f64, f64) {
    let n = n as f64;
    (n * (n + 1.0) / 4.0, (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt())
}

/// Probability of each sum up to `limit` when every rank is in or out with equal chance.
fn sums(ranks: &[usize], limit: usize) -> Vec<f64> {
    let mut mass = vec![0.0_f64; limit + 1];
    mass[0] = 1.0;
    for &rank in ranks {
        for sum in (0..=limit).rev() {
            let with = if sum >= rank { mass[sum - rank] } else { 0.0 };
            mass[sum] = 0.5 * (mass[sum] + with);
        }
    }
    mass
}

fn cumulated(mass: &[f64]) -> Vec<f64> {
    let mut below = 0.0;
    mass.iter()
        .map(|m| {
            below += m;
            below.min(1.0)
        })
        .collect()
}

/// Two-sided p-value of "the values are symmetric about zero". 1 when all are zero; `None` without values or with NaN.
pub fn p_value(values: &[f64]) -> Option<f64> {
    if values.is_empty() || values.iter().any(|v| v.is_nan()) {
        return None;
    }
    let nonzero: Vec<f64> = values.iter().copied().filter(|v| *v != 0.0).collect();
    let sizes: Vec<f64> = nonzero.iter().map(|v| v.abs()).collect();
    let ranks = midranks(&sizes)?;
    let positive: f64 = nonzero.iter().zip(&ranks).filter(|(v, _)| **v > 0.0).map(|(_, r)| r).sum();
    let total: f64 = ranks.iter().sum();
    let smaller = positive.min(total - positive);
    if nonzero.len() > EXACT_UP_TO {
        let variance: f64 = ranks.iter().map(|r| r * r).sum::<f64>() / 4.0;
        return Some((2.0 * normal_cdf((smaller + 0.5 - total / 2.0) / variance.sqrt())).min(1.0));
    }
    let doubled: Vec<usize> = ranks.iter().map(|r| (2.0 * r).round() as usize).collect();
    let limit = (2.0 * smaller).round() as usize;
    Some((2.0 * sums(&doubled, limit).iter().sum::<f64>()).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brute_force_p(values: &[f64]) -> f64 {
        let nonzero: Vec<f64> = values.iter().copied().filter(|v| *v != 0.0).collect();
        let ranks = midranks(&nonzero.iter().map(|v| v.abs()).collect::<Vec<_>>()).unwrap();
        let total: f64 = ranks.iter().sum();
        let observed: f64 = nonzero.iter().zip(&ranks).filter(|(v, _)| **v > 0.0).map(|(_, r)| r).sum();
        let smaller = observed.min(total - observed);
        let n = nonzero.len();
        let extreme = (0_u32..1 << n)
            .filter(|signs| (0..n).filter(|i| signs >> i & 1 == 1).map(|i| ranks[i]).sum::<f64>() <= smaller + 1e-9)
            .count();
        (2.0 * extreme as f64 / f64::from(1_u32 << n)).min(1.0)
    }

    #[test]
    fn agrees_with_enumeration() {
        let cases: [&[f64]; 4] = [
            &[1.0, -2.0, 3.0, 4.0, 5.0],
            &[0.5, 0.5, -0.5, 1.0, 2.0, 2.0, -2.0],
            &[0.0, 0.0, 1.0, 2.0, 3.0, -1.0],
            &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
        ];
        for values in cases {
            let (ours, exact) = (p_value(values).unwrap(), brute_force_p(values));
            assert!((ours - exact).abs() < 1e-12, "{values:?}: {ours} is not {exact}");
        }
        assert_eq!(p_value(&[0.0, 0.0]), Some(1.0));
        assert_eq!(p_value(&[]), None);
    }

    #[test]
    fn matches_printed_tables() {
        // Critical values at 5% two-sided: 8 of n = 10, 52 of n = 20, 137 of n = 30.
        for (n, critical) in [(10, 8), (20, 52), (30, 137)] {
            let tail = null_tail(n);
            assert!(2.0 * tail[critical] <= 0.05 && 2.0 * tail[critical + 1] > 0.05, "{n}");
        }
    }
}
