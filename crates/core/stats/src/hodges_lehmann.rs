//! Robust shift estimates with exact intervals.
//!
//! Hodges and Lehmann, Annals of Mathematical Statistics 34, 1963: the median of all differences between two samples.
//! Intervals invert the Mann-Whitney test: Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 3rd ed.
//! 2014, section 4.3; of one sample, the signed-rank test (section 3.2).

use crate::interval::Interval;
use crate::quantile::median_of_sorted;
use crate::{mann_whitney, signed_rank};

/// An estimated shift, from which intervals at any level can be read.
#[derive(Debug, Clone, PartialEq)]
pub struct HodgesLehmannShift {
    /// Hodges-Lehmann estimate, in the unit of the values.
    pub estimate: f64,
    /// Two-sided p-value of "no shift".
    pub p_value: f64,
    /// Elementary estimates in rising order: differences between the samples, or averages within one.
    elementary: Vec<f64>,
    /// `P(statistic <= j)` under the hypothesis of no shift, up to the middle.
    null_tail: Vec<f64>,
}

impl HodgesLehmannShift {
    /// Interval with exact coverage of at least `level` (normal approximation above 200 values). `None` when even the
    /// extreme differences do not reach it: too few values.
    pub fn interval(&self, level: f64) -> Option<Interval> {
        let miss = (1.0 - level) / 2.0;
        let rank = self.null_tail.partition_point(|&p| p <= miss);
        let count = self.elementary.len();
        if rank == 0 || 2 * rank > count + 1 {
            return if rank == 0 { None } else { Some(Interval::new(self.estimate, self.estimate, 0.0)) };
        }
        let coverage = 1.0 - 2.0 * self.null_tail[rank - 1];
        Some(Interval::new(self.elementary[rank - 1], self.elementary[count - rank], coverage))
    }
}

/// Shift of `b` against `a`: positive when `b` is larger. For a ratio, give logarithms.
///
/// `None` with an empty sample or a value that is not finite.
pub fn two_sample(a: &[f64], b: &[f64]) -> Option<HodgesLehmannShift> {
    if a.iter().chain(b).any(|v| !v.is_finite()) {
        return None;
    }
    let p_value = mann_whitney::p_value(a, b)?;
    let mut elementary: Vec<f64> = b.iter().flat_map(|y| a.iter().map(move |x| y - x)).collect();
    elementary.sort_by(f64::total_cmp);
    let estimate = median_of_sorted(&elementary);
    Some(HodgesLehmannShift { estimate, p_value, elementary, null_tail: mann_whitney::null_tail(a.len(), b.len()) })
}

/// The centre of symmetry of one sample, such as differences of pairs: the median of the averages of all pairs of
/// values, including each with itself. Its interval inverts Wilcoxon's signed-rank test (the same book, section 3.2).
///
/// `None` without values, or with one that is not finite.
pub fn one_sample(values: &[f64]) -> Option<HodgesLehmannShift> {
    if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let pairs =
        values.iter().enumerate().flat_map(|(at, one)| values[at..].iter().map(move |other| one.midpoint(*other)));
    let mut elementary: Vec<f64> = pairs.collect();
    elementary.sort_by(f64::total_cmp);
    let null_tail = signed_rank::null_tail(values.len());
    // Averages of exactly zero count for the hypothesis: on the side that has fewer.
    let (below, above) =
        (elementary.iter().filter(|one| **one < 0.0).count(), elementary.iter().filter(|one| **one > 0.0).count());
    let smaller = elementary.len() - below.max(above);
    let p_value = (2.0 * null_tail[smaller.min(null_tail.len() - 1)]).min(1.0);
    Some(HodgesLehmannShift { estimate: median_of_sorted(&elementary), p_value, elementary, null_tail })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_two_sample_case() {
        // Hollander and Wolfe's example of water transfer: estimate 0.305 of (term - early), interval from the table.
        let term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let early = [1.15, 0.88, 0.90, 0.74, 1.21];
        let shift = two_sample(&early, &term).unwrap();
        assert!((shift.estimate - 0.305).abs() < 1e-9);
        assert!((shift.p_value - 0.2544).abs() < 1e-3);
        let interval = shift.interval(0.95).unwrap();
        assert!((interval.low + 0.15).abs() < 1e-9 && (interval.high - 0.76).abs() < 1e-9, "{interval:?}");
    }

    #[test]
    fn too_few_values_have_no_interval() {
        assert!(two_sample(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]).unwrap().interval(0.95).is_none());
        assert!(two_sample(&[1.0, f64::INFINITY], &[2.0]).is_none());
    }

    #[test]
    #[allow(clippy::approx_constant, reason = "a score, not pi")]
    fn known_one_sample_case() {
        // Hollander and Wolfe's depression scores: estimate -0.46, interval -0.786 to -0.010 at 96.1%, p = 0.0391.
        let before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
        let after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
        let differences: Vec<f64> = after.iter().zip(&before).map(|(after, before)| after - before).collect();
        let shift = one_sample(&differences).unwrap();
        assert!((shift.estimate + 0.46).abs() < 1e-9 && (shift.p_value - 0.0391).abs() < 1e-4, "{shift:?}");
        let interval = shift.interval(0.95).unwrap();
        assert!((interval.low + 0.786).abs() < 1e-3 && (interval.high + 0.010).abs() < 1e-3, "{interval:?}");
        assert!((interval.level - 0.961).abs() < 1e-3);
        assert!(one_sample(&differences[..5]).unwrap().interval(0.95).is_none(), "five values are too few");
        assert!(one_sample(&[]).is_none() && one_sample(&[f64::NAN]).is_none());
        assert_eq!(one_sample(&[0.0; 8]).unwrap().p_value, 1.0);
    }

    proptest! {
        #[test]
        fn the_test_and_the_interval_of_one_sample_agree(values in prop::collection::vec(-0.4..1.0_f64, 6..20)) {
            let shift = one_sample(&values).unwrap();
            prop_assert_eq!(shift.p_value <= 0.05, !shift.interval(0.95).unwrap().contains(0.0));
        }

        #[test]
        fn the_estimate_shifts_and_scales_with_the_data(
            a in prop::collection::vec(-10.0..10.0_f64, 4..12),
            b in prop::collection::vec(-10.0..10.0_f64, 4..12),
            shift in -5.0..5.0_f64, scale in 0.1..10.0_f64,
        ) {
            let plain = two_sample(&a, &b).unwrap();
            let moved: Vec<f64> = b.iter().map(|v| v + shift).collect();
            prop_assert!((two_sample(&a, &moved).unwrap().estimate - plain.estimate - shift).abs() < 1e-9);
            let grow = |v: &[f64]| v.iter().map(|x| x * scale).collect::<Vec<_>>();
            let scaled = two_sample(&grow(&a), &grow(&b)).unwrap();
            prop_assert!((scaled.estimate - plain.estimate * scale).abs() < 1e-9);
            prop_assert!((scaled.p_value - plain.p_value).abs() < 1e-12);
            let swapped = two_sample(&b, &a).unwrap();
            prop_assert!((swapped.estimate + plain.estimate).abs() < 1e-9);
        }

        #[test]
        fn wider_levels_nest(a in prop::collection::vec(0.0..1.0_f64, 8..20), b in prop::collection::vec(0.0..1.0_f64, 8..20)) {
            let shift = two_sample(&a, &b).unwrap();
            let levels = [0.1, 0.5, 0.8, 0.95, 0.99];
            let intervals: Vec<Interval> = levels.iter().map(|&l| shift.interval(l).unwrap()).collect();
            for (pair, level) in intervals.windows(2).zip(levels) {
                prop_assert!(pair[1].low <= pair[0].low && pair[0].high <= pair[1].high);
                prop_assert!(pair[0].level >= level);
                prop_assert!(pair[0].contains(shift.estimate));
            }
        }

        #[test]
        fn test_and_interval_agree(a in prop::collection::vec(0.0..1.0_f64, 8..15), b in prop::collection::vec(0.2..1.2_f64, 8..15)) {
            let shift = two_sample(&a, &b).unwrap();
            prop_assert_eq!(shift.p_value <= 0.05, !shift.interval(0.95).unwrap().contains(0.0));
        }
    }
}
