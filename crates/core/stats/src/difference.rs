//! The difference between work and its overhead, never claimed below the method's resolution.
//!
//! Subtracting two imprecise quantities gave lmbench negative times (Brown and Seltzer, SIGMETRICS 1997). Here both
//! alternate inside one sample, each first equally often. The interval is that of the per-sample differences. A null
//! pair (the same work twice) shows how large a difference the method produces from nothing.

use crate::interval::{Estimated, Interval};
use crate::order_statistic::{sample_median_interval, sample_median_range};
use crate::quantile::median;

/// Result for a difference that cannot be negative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PairedDifference {
    /// The whole interval is above the resolution.
    Above(Estimated),
    /// Not resolved: at most `bound`, at confidence `level`.
    Below {
        /// Upper bound, positive, in the unit of the values.
        bound: f64,
        /// Confidence of the bound.
        level: f64,
    },
}

/// One sample's difference from its pairs: `work_first` and `overhead_first` hold work minus overhead of the pairs that
/// began with either. A drift that adds the same to each batch makes one kind of pair too small and the other too large
/// by the same amount. The mean of their medians cancels it; with one kind missing the drift remains. `None` without
/// any pair.
#[must_use]
pub fn of_sample(work_first: &[f64], overhead_first: &[f64]) -> Option<f64> {
    match (median(work_first), median(overhead_first)) {
        (Some(first), Some(second)) => Some((first + second) / 2.0),
        (one, other) => one.or(other),
    }
}

/// The largest difference that the method reports between two equal things: the farther end of the interval of the
/// median of the null pair's differences. If samples are too few for `level`, it is the largest difference. `None`
/// without any.
#[must_use]
pub fn resolution(null_differences: &[f64], level: f64) -> Option<f64> {
    let interval =
        sample_median_interval(null_differences, level).map(|m| m.interval.low.abs().max(m.interval.high.abs()));
    interval.or_else(|| null_differences.iter().map(|null| null.abs()).max_by(f64::total_cmp))
}

/// The difference from its per-sample values in the order of time. `resolution` is that of a null pair, or 0 if there
/// is none; a negative one counts as 0.
///
/// With too few samples for `level`, or samples too much alike, the interval lies between their extremes and has the
/// confidence of those. `None` below two samples, with a value that is not finite, or when there is no upper bound (no
/// resolution and no positive difference).
pub fn difference(sample_differences: &[f64], resolution: f64, level: f64) -> Option<PairedDifference> {
    let resolution = resolution.max(0.0);
    let found =
        sample_median_interval(sample_differences, level).or_else(|| sample_median_range(sample_differences))?;
    if found.interval.low > resolution {
        return Some(PairedDifference::Above(Estimated { value: found.median, interval: found.interval }));
    }
    below(found.interval, resolution)
}

fn below(interval: Interval, resolution: f64) -> Option<PairedDifference> {
    let bound = interval.high.max(resolution);
    (bound > 0.0).then_some(PairedDifference::Below { bound, level: interval.level })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOISE: [f64; 10] = [0.3, -0.4, 0.1, -0.2, 0.5, -0.1, 0.2, -0.5, 0.4, -0.3];

    #[test]
    fn a_drift_within_a_sample_cancels_between_the_two_orders() {
        // Work takes 10, its overhead 4, and every batch takes 1 longer than the one before.
        let (work_first, overhead_first) = ([10.0 - 5.0, 14.0 - 9.0], [13.0 - 6.0, 17.0 - 10.0]);
        assert_eq!(of_sample(&work_first, &overhead_first), Some(6.0));
        assert_eq!(of_sample(&work_first, &[]), Some(5.0), "one order alone keeps the drift");
        assert_eq!(of_sample(&[], &[2.0]), Some(2.0));
        assert_eq!(of_sample(&[], &[]), None);
        // One disturbed batch is an outlier in one of the two medians.
        assert_eq!(of_sample(&[5.0, 5.0, 500.0], &[7.0, 7.0, 7.0]), Some(6.0));
    }

    #[test]
    fn a_clear_difference_has_a_value() {
        let values: Vec<f64> = NOISE.iter().map(|v| 10.0 + v).collect();
        let limit = resolution(&NOISE, 0.95).unwrap();
        assert!((limit - 0.5).abs() < 1e-12);
        match difference(&values, limit, 0.95).unwrap() {
            PairedDifference::Above(e) => assert!(e.interval.contains(10.0) && e.interval.low > limit),
            below @ PairedDifference::Below { .. } => panic!("{below:?}"),
        }
    }

    #[test]
    fn two_equal_things_differ_by_less_than_a_bound() {
        let limit = resolution(&NOISE, 0.95).unwrap();
        assert!(
            matches!(difference(&NOISE, limit, 0.95), Some(PairedDifference::Below { bound, .. }) if bound >= limit)
        );
        let negative: Vec<f64> = NOISE.iter().map(|v| v - 5.0).collect();
        assert!(
            matches!(difference(&negative, limit, 0.95), Some(PairedDifference::Below { bound, .. }) if bound == limit)
        );
        assert_eq!(difference(&negative, 0.0, 0.95), None);
    }

    #[test]
    fn few_null_pairs_resolve_no_better_than_the_worst() {
        assert_eq!(resolution(&[0.1, -0.7, 0.2], 0.95), Some(0.7));
        assert_eq!(resolution(&[], 0.95), None);
    }

    #[test]
    fn samples_that_do_not_reach_the_level_have_their_own() {
        let at = |values: &[f64], resolution| difference(values, resolution, 0.95).unwrap();
        let PairedDifference::Above(three) = at(&[9.0, 10.0, 11.0], 0.0) else { panic!("all are above nothing") };
        assert!(three.value == 10.0 && three.interval.level < 0.95);
        assert!(
            matches!(at(&[9.0, 10.0, 11.0], 9.5), PairedDifference::Below { bound, level } if bound == 11.0 && level < 0.95)
        );
        // Twenty that follow each other closely are hardly more than a few: a hand-over of 1.5 us is no bound.
        let wander: Vec<f64> = (0..20).map(|at| 1.5 + 0.03 * (f64::from(at) / 5.0).sin()).collect();
        let PairedDifference::Above(found) = at(&wander, 0.002) else { panic!("far above the resolution") };
        assert!(found.interval.level < 0.95, "{found:?}");
    }

    proptest! {
        #[test]
        fn never_negative(values in prop::collection::vec(-5.0..5.0_f64, 2..30), limit in -1.0..2.0_f64) {
            match difference(&values, limit, 0.95) {
                Some(PairedDifference::Above(e)) => prop_assert!(e.interval.low > 0.0 && e.value > 0.0),
                Some(PairedDifference::Below { bound, .. }) => prop_assert!(bound > 0.0),
                None => prop_assert!(values.iter().all(|v| *v <= 0.0 || limit <= 0.0)),
            }
        }
    }
}
