//! The null distribution of the Mann-Whitney statistic, and the p-value of two samples.
//!
//! Mann and Whitney, Annals of Mathematical Statistics 18, 1947. Without ties the distribution is exact, by expanding
//! its generating function. With ties it is the exact permutation distribution of the midranks for small samples, else
//! the normal one with the tie correction (Lehmann, Nonparametrics, 1975, chapter 1).

use crate::distribution::normal_cdf;
use crate::quantile::midranks;

/// Above this number of values the normal approximation replaces the exact distribution.
const EXACT_UP_TO: usize = 200;
/// Like [`EXACT_UP_TO`], for samples with ties, whose exact distribution is slower to compute.
const EXACT_WITH_TIES_UP_TO: usize = 40;

/// `P(U <= u)` for u = 0, 1, ..., n m / 2 under the hypothesis that both samples have one distribution without ties.
pub fn null_tail(n: usize, m: usize) -> Vec<f64> {
    let half = n * m / 2;
    if n + m > EXACT_UP_TO {
        let (mean, sd) = (n as f64 * m as f64 / 2.0, null_deviation(n, m));
        return (0..=half).map(|u| normal_cdf((u as f64 + 0.5 - mean) / sd)).collect();
    }
    // Coefficients of the Gaussian binomial: prod over i = 1..n of (1 - q^(m+i)) / (1 - q^i), kept up to q^half.
    let mut count = vec![0.0_f64; half + 1];
    count[0] = 1.0;
    let mut total = 1.0_f64;
    for i in 1..=n {
        for u in (m + i..=half).rev() {
            count[u] -= count[u - m - i];
        }
        for u in i..=half {
            count[u] += count[u - i];
        }
        total *= (m + i) as f64 / i as f64;
    }
    let mut below = 0.0;
    count
        .iter()
        .map(|c| {
            below += c.max(0.0);
            (below / total).min(1.0)
        })
        .collect()
}

fn null_deviation(n: usize, m: usize) -> f64 {
    let (n, m) = (n as f64, m as f64);
    (n * m * (n + m + 1.0) / 12.0).sqrt()
}

/// Two-sided p-value of "a and b have the same distribution" against a shift. `None` with an empty sample or a value
/// that is NaN. Equal values count half, as in the midrank form of the test.
pub fn p_value(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let pooled: Vec<f64> = a.iter().chain(b).copied().collect();
    let ranks = midranks(&pooled)?;
    let (n, m) = (a.len(), b.len());
    let rank_sum: f64 = ranks[..n].iter().sum();
    let u = rank_sum - (n * (n + 1)) as f64 / 2.0;
    let smaller = u.min((n * m) as f64 - u);
    let p = match tie_term(&ranks) {
        0.0 => 2.0 * null_tail(n, m)[smaller.round() as usize],
        _ if n + m <= EXACT_WITH_TIES_UP_TO => permutation_p(&ranks, n),
        ties => {
            let total = (n + m) as f64;
            let variance = (n * m) as f64 / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));
            if variance <= 0.0 {
                1.0
            } else {
                let distance = ((n * m) as f64 / 2.0 - smaller - 0.5).max(0.0);
                2.0 * normal_cdf(-distance / variance.sqrt())
            }
        }
    };
    Some(p.min(1.0))
}

/// Sum of t^3 - t over groups of t equal ranks; zero without ties.
fn tie_term(ranks: &[f64]) -> f64 {
    let mut sorted = ranks.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.chunk_by(|x, y| x == y).map(|g| (g.len() as f64).powi(3) - g.len() as f64).sum()
}

/// Exact two-sided p-value over all ways to choose the first `n` of the midranks, by dynamic programming over doubled
/// ranks (which are whole numbers). The ways are whole numbers too, and exact below 2^53.
fn permutation_p(ranks: &[f64], n: usize) -> f64 {
    let mut doubled: Vec<usize> = ranks.iter().map(|r| (2.0 * r).round() as usize).collect();
    let raw: usize = doubled[..n].iter().sum();
    doubled.sort_unstable();
    let mut smallest = vec![0];
    smallest.extend(doubled.iter().scan(0, |sum, rank| {
        *sum += rank;
        Some(*sum)
    }));
    let ways = ways_to_choose(&doubled, &smallest, n);
    let centre = smallest[doubled.len()] as f64 * n as f64 / ranks.len() as f64;
    let distance = (raw as f64 - centre).abs() - 1e-9;
    let all: f64 = ways.iter().sum();
    let sums = ways.iter().enumerate().map(|(above, ways)| ((smallest[n] + above) as f64, ways));
    let extreme: f64 = sums.filter(|(sum, _)| (sum - centre).abs() >= distance).map(|(_, ways)| ways).sum();
    extreme / all
}

/// Ways to choose `n` of the ascending ranks, by their sum less the smallest possible sum; `smallest` has the sum of
/// the first 0, 1, ... ranks. Only reachable sums, of sizes that can still become `n`, are visited.
fn ways_to_choose(ranks: &[usize], smallest: &[usize], n: usize) -> Vec<f64> {
    let most = |seen: usize, size: usize| smallest[seen] - smallest[seen - size];
    let width = most(ranks.len(), n) - smallest[n] + 1;
    // Ways for every size, by the sum less the smallest sum of that size.
    let mut ways = vec![vec![0.0_f64; width]; n + 1];
    ways[0][0] = 1.0;
    for (seen, &rank) in ranks.iter().enumerate() {
        let left = ranks.len() - seen - 1;
        for size in (n.saturating_sub(left).max(1)..=n.min(seen + 1)).rev() {
            let (smaller, larger) = ways.split_at_mut(size);
            let reached = most(seen, size - 1) - smallest[size - 1] + 1;
            let from = rank - ranks[size - 1];
            let sums = larger[0][from.min(width)..].iter_mut();
            sums.zip(&smaller[size - 1][..reached.min(width)]).for_each(|(sum, with)| *sum += with);
        }
    }
    ways.swap_remove(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All choices of `n` out of `pooled`: the share with a rank sum at least as far from its centre.
    fn brute_force_p(a: &[f64], b: &[f64]) -> f64 {
        let pooled: Vec<f64> = a.iter().chain(b).copied().collect();
        let ranks = midranks(&pooled).unwrap();
        let total = pooled.len();
        let centre = ranks.iter().sum::<f64>() * a.len() as f64 / total as f64;
        let distance = (ranks[..a.len()].iter().sum::<f64>() - centre).abs();
        let (mut extreme, mut all) = (0, 0);
        for choice in 0_u32..1 << total {
            if choice.count_ones() as usize == a.len() {
                let sum: f64 = (0..total).filter(|i| choice >> i & 1 == 1).map(|i| ranks[i]).sum();
                all += 1;
                extreme += u32::from((sum - centre).abs() >= distance - 1e-9);
            }
        }
        f64::from(extreme) / f64::from(all)
    }

    #[test]
    fn agrees_with_enumeration() {
        let cases: [(&[f64], &[f64]); 5] = [
            (&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]),
            (&[1.1, 3.2, 0.4, 7.0], &[2.2, 5.5, 9.1, 0.1, 4.4]),
            (&[1.0, 2.0, 2.0, 3.0], &[2.0, 3.0, 4.0, 4.0]),
            (&[5.0, 5.0, 5.0], &[5.0, 5.0, 6.0]),
            (&[1.0; 4], &[1.0; 5]),
        ];
        for (a, b) in cases {
            let (ours, exact) = (p_value(a, b).unwrap(), brute_force_p(a, b));
            assert!((ours - exact).abs() < 1e-12, "{a:?} {b:?}: {ours} is not {exact}");
        }
    }

    #[test]
    fn matches_printed_tables() {
        // Critical values at 5% two-sided: n = m = 10 has 23, n = m = 20 has 127, 8 and 12 have 22.
        for (n, m, critical) in [(10, 10, 23), (20, 20, 127), (8, 12, 22)] {
            let tail = null_tail(n, m);
            assert!(2.0 * tail[critical] <= 0.05 && 2.0 * tail[critical + 1] > 0.05, "{n} and {m}");
        }
        assert!((null_tail(10, 10)[0] * 184_756.0 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn large_exact_tail_is_a_distribution() {
        let tail = null_tail(100, 100);
        assert!(tail.windows(2).all(|w| w[0] <= w[1]));
        assert!((tail[5000] - 0.5).abs() < 0.002);
        let z = (4000.5 - 5000.0) / null_deviation(100, 100);
        assert!((tail[4000] / normal_cdf(z) - 1.0).abs() < 0.05);
    }

    #[test]
    fn large_samples_with_ties_use_the_corrected_variance() {
        let a: Vec<f64> = (0..60).map(|i| f64::from(i % 10)).collect();
        let b: Vec<f64> = (0..60).map(|i| f64::from(i % 10) + 2.0).collect();
        assert!(p_value(&a, &b).unwrap() < 0.001);
        assert!(p_value(&a, &a).unwrap() > 0.99);
        assert_eq!(p_value(&[], &a), None);
    }
}
