//! The frontier of dated values: the best of each time.
//!
//! Its points are those that were a record when they appeared.

/// Positions of the points that exceed every earlier one, in the order of time. The largest of several points at one
/// time counts. If lower values are better, negate them. `None` when the samples differ in length or a number is not
/// finite.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::exponential::exponential;
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
        let best = records(&times, &values).unwrap();
        let pick = |from: &[f64]| best.iter().map(|&i| from[i]).collect::<Vec<_>>();
        let edge = exponential(&pick(&times), &pick(&values)).unwrap();
        let all = exponential(&times, &values).unwrap();
        assert!(edge.predict(5.0, 0.95).value > 1.2 * all.predict(5.0, 0.95).value);
        assert!((edge.doubling_time(0.95).unwrap().value - 1.0).abs() < 0.1);
    }
}
