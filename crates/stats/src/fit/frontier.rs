//! The upper frontier of dated values: what the best of each time could do.
//!
//! Two forms: the points that were a record when they appeared, and the line below which a share of all points lies
//! (quantile regression, Koenker and Bassett, Econometrica 46, 1978).

use crate::fit::exponential::{Growth, exponential};

/// Positions of the points that exceed every earlier one, in the order of time. Of points of one time the largest may
/// count. `None` when the samples differ in length or a number is not finite.
pub fn records(times: &[f64], values: &[f64]) -> Option<Vec<usize>> {
    if times.len() != values.len() || times.iter().chain(values).any(|v| !v.is_finite()) {
        return None;
    }
    let mut order: Vec<usize> = (0..times.len()).collect();
    order.sort_by(|&a, &b| times[a].total_cmp(&times[b]).then(values[b].total_cmp(&values[a])));
    let mut best = f64::NEG_INFINITY;
    order.retain(|&i| {
        let record = values[i] > best;
        best = best.max(values[i]);
        record
    });
    Some(order)
}

/// Exponential growth of the records. `None` below three records or as [`exponential`].
pub fn frontier(times: &[f64], values: &[f64]) -> Option<Growth> {
    let records = records(times, values)?;
    let pick = |v: &[f64]| records.iter().map(|&i| v[i]).collect::<Vec<_>>();
    exponential(&pick(times), &pick(values))
}

/// A line with the share `quantile` of the points below it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuantileLine {
    /// Slope, in units of y per unit of x.
    pub slope: f64,
    /// Value at x = 0.
    pub intercept: f64,
}

/// Exact quantile regression line. An optimal line runs through two of the points, so all pairs are tried: meant for
/// hundreds of points. `None` below three points, with one that is not finite, when the samples differ in length,
/// when all x are equal, or with `quantile` not strictly between 0 and 1.
pub fn quantile_line(x: &[f64], y: &[f64], quantile: f64) -> Option<QuantileLine> {
    let unsound = x.len() != y.len() || x.iter().chain(y).any(|v| !v.is_finite());
    if unsound || x.len() < 3 || !(quantile > 0.0 && quantile < 1.0) {
        return None;
    }
    let mut best: Option<(f64, QuantileLine)> = None;
    for i in 0..x.len() {
        for j in i + 1..x.len() {
            if x[i] == x[j] {
                continue;
            }
            let slope = (y[j] - y[i]) / (x[j] - x[i]);
            let line = QuantileLine { slope, intercept: y[i] - slope * x[i] };
            let loss = check_loss(&line, x, y, quantile);
            if best.is_none_or(|(least, _)| loss < least) {
                best = Some((loss, line));
            }
        }
    }
    best.map(|(_, line)| line)
}

fn check_loss(line: &QuantileLine, x: &[f64], y: &[f64], quantile: f64) -> f64 {
    x.iter()
        .zip(y)
        .map(|(x, y)| {
            let residual = y - line.intercept - line.slope * x;
            if residual > 0.0 { quantile * residual } else { (quantile - 1.0) * residual }
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::generator;
    use rand::Rng;

    #[test]
    fn records_are_the_running_maximum() {
        let times = [3.0, 1.0, 2.0, 4.0, 4.0];
        let values = [2.0, 1.0, 5.0, 6.0, 7.0];
        assert_eq!(records(&times, &values), Some(vec![1, 2, 4]));
        assert_eq!(records(&[1.0], &[f64::NAN]), None);
    }

    #[test]
    fn frontier_lies_above_the_crowd() {
        let mut rng = generator(10);
        let times: Vec<f64> = (0..200).map(|i| f64::from(i) / 20.0).collect();
        let values: Vec<f64> = times.iter().map(|t| t.exp2() * (0.3 + 0.7 * rng.random::<f64>())).collect();
        let edge = frontier(&times, &values).unwrap();
        let all = exponential(&times, &values).unwrap();
        assert!(edge.trend_at(5.0, 0.95).value > 1.2 * all.trend_at(5.0, 0.95).value);
        assert!((edge.doubling_time(0.95).unwrap().value - 1.0).abs() < 0.1);
    }

    #[test]
    fn quantile_line_has_its_share_below() {
        let mut rng = generator(12);
        let x: Vec<f64> = (0..101).map(f64::from).collect();
        let y: Vec<f64> = x.iter().map(|x| 2.0 * x + 10.0 * rng.random::<f64>()).collect();
        let line = quantile_line(&x, &y, 0.9).unwrap();
        let below = x.iter().zip(&y).filter(|(x, y)| **y <= line.intercept + line.slope * **x + 1e-9).count();
        assert!((89..=93).contains(&below), "{below}");
        assert!((line.slope - 2.0).abs() < 0.05);
        assert!(quantile_line(&x, &y, 1.0).is_none());
    }
}
