//! Medians, quantiles and ranks of plain values.

/// The values in rising order, or `None` when there are none or one is not finite.
pub(crate) fn sorted(values: &[f64]) -> Option<Vec<f64>> {
    if values.is_empty() || values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    Some(sorted)
}

/// Median; the mean of the two middle values when their number is even. `None` without values or with one that is
/// not finite.
pub fn median(values: &[f64]) -> Option<f64> {
    sorted(values).map(|s| median_of_sorted(&s))
}

/// Median of values in rising order; the caller ensures that there is one.
pub(crate) fn median_of_sorted(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    if n % 2 == 1 { sorted[n / 2] } else { sorted[n / 2 - 1].midpoint(sorted[n / 2]) }
}

/// Sample quantile by linear interpolation between order statistics (definition 7 of Hyndman and Fan, The American
/// Statistician 50, 1996). `None` without values, with one that is not finite, or with `q` outside 0..=1.
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    if !(0.0..=1.0).contains(&q) {
        return None;
    }
    sorted(values).map(|s| quantile_of_sorted(&s, q))
}

/// Like [`quantile`], of values in rising order.
pub(crate) fn quantile_of_sorted(sorted: &[f64], q: f64) -> f64 {
    let position = q * (sorted.len() - 1) as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    let fraction = position - below as f64;
    sorted[below] + fraction * (sorted[above] - sorted[below])
}

/// Median absolute deviation from the median times 1.4826, which is the standard deviation for normal values
/// (Rousseeuw and Croux, Journal of the American Statistical Association 88, 1993). `None` as for [`median`].
pub fn scaled_mad(values: &[f64]) -> Option<f64> {
    let centre = median(values)?;
    let deviations: Vec<f64> = values.iter().map(|v| (v - centre).abs()).collect();
    median(&deviations).map(|m| 1.4826 * m)
}

/// Ranks from 1; equal values share the mean of their ranks. `None` when a value is NaN.
pub fn midranks(values: &[f64]) -> Option<Vec<f64>> {
    if values.iter().any(|v| v.is_nan()) {
        return None;
    }
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    while start < order.len() {
        let mut end = start + 1;
        while end < order.len() && values[order[end]] == values[order[start]] {
            end += 1;
        }
        let shared = (start + 1 + end) as f64 / 2.0;
        for &index in &order[start..end] {
            ranks[index] = shared;
        }
        start = end;
    }
    Some(ranks)
}

/// Arithmetic mean; the caller ensures that there is a value.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Sample standard deviation (divisor n - 1); `None` below two values or with one that is not finite.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 || values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let centre = mean(values);
    let squares: f64 = values.iter().map(|v| (v - centre).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_odd_even_and_nothing() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[1.0, f64::NAN]), None);
    }

    #[test]
    fn quantiles_interpolate() {
        let v = [10.0, 20.0, 30.0, 40.0, 50.0];
        assert_eq!(quantile(&v, 0.0), Some(10.0));
        assert_eq!(quantile(&v, 1.0), Some(50.0));
        assert_eq!(quantile(&v, 0.9), Some(46.0));
        assert_eq!(quantile(&v, 1.1), None);
    }

    #[test]
    fn ties_share_a_rank() {
        assert_eq!(midranks(&[5.0, 1.0, 5.0, 9.0]), Some(vec![2.5, 1.0, 2.5, 4.0]));
    }

    #[test]
    fn mad_ignores_one_outlier() {
        assert_eq!(scaled_mad(&[1.0, 2.0, 3.0, 4.0, 1000.0]), Some(1.4826));
        assert_eq!(standard_deviation(&[2.0]), None);
    }
}
