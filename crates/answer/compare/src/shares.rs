//! Whether two runs spend the same share of their samples in a mode.

/// Two-sided p-value of Fisher's exact test (Statistical Methods for Research Workers, 1934, section 21.02): `a` of `n`
/// samples against `b` of `m`. Tables as probable as the observed one, within rounding, are included.
#[must_use]
pub fn fisher_exact(a: usize, n: usize, b: usize, m: usize) -> f64 {
    let hits = a + b;
    let log_factorials: Vec<f64> = std::iter::once(0.0)
        .chain((1..=n + m).scan(0.0, |sum, k| {
            *sum += (k as f64).ln();
            Some(*sum)
        }))
        .collect();
    let ln_choose = |n: usize, k: usize| log_factorials[n] - log_factorials[k] - log_factorials[n - k];
    let ln_probability = |k: usize| ln_choose(n, k) + ln_choose(m, hits - k) - ln_choose(n + m, hits);
    let seen = ln_probability(a);
    let range = hits.saturating_sub(m)..=hits.min(n);
    range.map(ln_probability).filter(|ln_p| *ln_p <= seen + 1e-9).map(f64::exp).sum::<f64>().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_printed_tables() {
        // Fisher's own example of tea tasting: 3 of 4 against 1 of 4.
        assert!((fisher_exact(3, 4, 1, 4) - 0.485_714).abs() < 1e-6);
        assert!((fisher_exact(10, 10, 0, 10) - 2.0 / 184_756.0).abs() < 1e-12);
        assert!((fisher_exact(5, 10, 5, 10) - 1.0).abs() < 1e-9);
        assert!((fisher_exact(0, 10, 0, 5) - 1.0).abs() < 1e-9);
    }
}
