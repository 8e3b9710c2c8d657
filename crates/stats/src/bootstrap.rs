//! Bootstrap interval of any statistic of independent values.
//!
//! Efron, Better bootstrap confidence intervals, Journal of the American Statistical Association 82, 1987 (bias-corrected
//! and accelerated). For the median of launches use order statistics instead: resampling ten of them covers only
//! three quarters of what it says.

use rand::Rng;

use crate::distribution::{normal_cdf, normal_quantile};
use crate::interval::{Estimated, Interval};
use crate::quantile::{mean, quantile_of_sorted};
use crate::simulate::generator;

/// Interval of `statistic(values)` from `resamples` seeded resamples. Its level is nominal.
///
/// `None` below eight values, with one that is not finite, below 100 resamples, or when the statistic is not finite on
/// a resample.
pub fn bca(
    values: &[f64],
    statistic: impl Fn(&[f64]) -> f64,
    level: f64,
    resamples: usize,
    seed: u64,
) -> Option<Estimated> {
    let n = values.len();
    if n < 8 || resamples < 100 || values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let value = statistic(values);
    let mut rng = generator(seed);
    let mut draw = vec![0.0; n];
    let mut replicates = Vec::with_capacity(resamples);
    for _ in 0..resamples {
        draw.iter_mut().for_each(|slot| *slot = values[rng.random_range(0..n)]);
        replicates.push(statistic(&draw));
    }
    if !value.is_finite() || replicates.iter().any(|r| !r.is_finite()) {
        return None;
    }
    replicates.sort_by(f64::total_cmp);
    let below = replicates.partition_point(|r| *r < value);
    let at = replicates.partition_point(|r| *r <= value) - below;
    let share = (below as f64 + at as f64 / 2.0) / resamples as f64;
    let edge = 0.5 / resamples as f64;
    let bias = normal_quantile(share.clamp(edge, 1.0 - edge));
    let acceleration = acceleration(values, &statistic);
    let end = |z: f64| {
        let shifted = bias + z;
        let p = normal_cdf(bias + shifted / (1.0 - acceleration * shifted));
        quantile_of_sorted(&replicates, p.clamp(0.0, 1.0))
    };
    let z = normal_quantile(0.5 + level / 2.0);
    Some(Estimated { value, interval: Interval::new(end(-z), end(z), level) })
}

/// Skewness of the jackknife influence over six, which corrects for a standard error that changes with the value.
fn acceleration(values: &[f64], statistic: &impl Fn(&[f64]) -> f64) -> f64 {
    let left_out: Vec<f64> = (0..values.len())
        .map(|i| {
            let mut rest = values.to_vec();
            rest.remove(i);
            statistic(&rest)
        })
        .collect();
    let centre = mean(&left_out);
    let squares: f64 = left_out.iter().map(|v| (centre - v).powi(2)).sum();
    let cubes: f64 = left_out.iter().map(|v| (centre - v).powi(3)).sum();
    if squares > 0.0 { cubes / (6.0 * squares.powf(1.5)) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::standard_normal;

    #[test]
    fn covers_the_mean_of_skewed_values() {
        let truth = 0.5_f64.exp();
        let mut rng = generator(5);
        let covered = (0..300)
            .filter(|&seed| {
                let values: Vec<f64> = (0..40).map(|_| standard_normal(&mut rng).exp()).collect();
                bca(&values, mean, 0.95, 500, seed).unwrap().interval.contains(truth)
            })
            .count();
        assert!((255..=300).contains(&covered), "{covered} of 300");
    }

    #[test]
    fn seeded_and_refusing() {
        let values: Vec<f64> = (0..20).map(f64::from).collect();
        assert_eq!(bca(&values, mean, 0.95, 200, 1), bca(&values, mean, 0.95, 200, 1));
        assert!(bca(&values[..7], mean, 0.95, 200, 1).is_none());
        assert!(bca(&values, |_| f64::NAN, 0.95, 200, 1).is_none());
    }
}
