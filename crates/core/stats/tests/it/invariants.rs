//! Properties for any values: units do not matter, order matters only for time series, invalid input gives `None`.

use proptest::prelude::*;
use stats::order_statistic::median_range;
use stats::quantile::{median, midranks};
use stats::theil_sen::theil_sen;
use stats::{Interval, holm, median_interval, modes, serial_median_interval};

fn values(size: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0.001..1000.0_f64, size)
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

fn scaled(i: Interval, scale: f64) -> Interval {
    Interval::new(i.low * scale, i.high * scale, i.level)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: testing::trials(64, 256) as u32,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn median_intervals_scale_and_contain_the_median(v in values(6..60), scale in 0.01..100.0_f64) {
        let plain = median_interval(&v, 0.95).unwrap();
        prop_assert!(plain.interval.contains(plain.median) && plain.interval.level >= 0.95);
        let grown: Vec<f64> = v.iter().map(|x| x * scale).collect();
        let moved = median_interval(&grown, 0.95).unwrap().interval;
        let expected = scaled(plain.interval, scale);
        prop_assert!(near(moved.low, expected.low) && near(moved.high, expected.high));
    }

    #[test]
    fn autocorrelation_never_narrows_an_interval(v in values(6..60)) {
        let plain = median_interval(&v, 0.95).unwrap().interval;
        if let Some(serial) = serial_median_interval(&v, 0.95) {
            prop_assert!(serial.interval.low <= plain.low && plain.high <= serial.interval.high);
            prop_assert!(serial.interval.level >= 0.95);
        }
        let range = median_range(&v).unwrap();
        prop_assert!((0.0..=1.0).contains(&range.interval.level) && range.interval.low <= plain.low);
    }

    #[test]
    fn higher_levels_are_wider(v in values(12..60)) {
        let intervals: Vec<Interval> =
            [0.5, 0.8, 0.9, 0.95, 0.99].iter().map(|&l| median_interval(&v, l).unwrap().interval).collect();
        for pair in intervals.windows(2) {
            prop_assert!(pair[1].low <= pair[0].low && pair[0].high <= pair[1].high);
        }
    }

    #[test]
    fn modes_do_not_depend_on_order_or_unit(v in values(1..40), scale in 0.01..100.0_f64) {
        let found = modes(&v);
        let turned: Vec<f64> = v.iter().rev().map(|x| x * scale).collect();
        let other = modes(&turned);
        prop_assert_eq!(found.len(), other.len());
        for (a, b) in found.iter().zip(&other) {
            prop_assert!(near(a.centre * scale, b.centre) && near(a.share, b.share));
        }
        prop_assert_eq!(found.iter().map(|m| m.samples.len()).sum::<usize>(), v.len());
    }

    #[test]
    fn ranks_add_up(v in values(1..40)) {
        let n = v.len() as f64;
        prop_assert!(near(midranks(&v).unwrap().iter().sum(), n * (n + 1.0) / 2.0));
    }

    #[test]
    fn robust_slopes_follow_the_data(y in values(6..30), tilt in -5.0..5.0_f64) {
        let x: Vec<f64> = (0..y.len()).map(|i| i as f64).collect();
        let tilted: Vec<f64> = x.iter().zip(&y).map(|(x, y)| y + tilt * x).collect();
        if let (Some(plain), Some(moved)) = (theil_sen(&x, &y, 0.9), theil_sen(&x, &tilted, 0.9)) {
            prop_assert!((moved.slope - plain.slope - tilt).abs() < 1e-6);
            prop_assert!(plain.slope_interval.contains(plain.slope));
        }
    }

    #[test]
    fn hostile_numbers_are_refused(mut v in values(6..20), at in 0..6_usize, bad in prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY])) {
        v[at] = bad;
        prop_assert!(median(&v).is_none() && median_interval(&v, 0.95).is_none() && serial_median_interval(&v, 0.95).is_none());
        prop_assert!(modes(&v).is_empty() && median_range(&v).is_none());
        prop_assert!(holm(&v).iter().all(|p| p.is_nan() || (0.0..=1.0).contains(p)));
    }
}
