//! What launches with distributions become: quantiles, each with the interval that so many launches support.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use measure::{Order, judge, select};
use model::{Figure, Flag, Identity, Launch, Machine, Plan};

/// A figure of wake-ups with so many launches; each reading is drawn from a formula, and hangs on its launch.
fn wakeups(launches: u32, readings: u32) -> (Figure, Plan) {
    let entries = select(None, &["os.timer_wakeup:load=idle".to_owned()], 0.02).unwrap();
    let plan = Plan { entries, ..Plan::default() };
    let order = Order::new(plan.clone(), Machine::default(), Identity::default(), vec![0]).unwrap();
    let mut figure = order.run().figures[0].clone();
    for number in 0..launches {
        let of = |index: u32| 50e-6 * (1.0 + f64::from((index * 7919 + number * 104_729) % 1000) / 1000.0);
        let readings: Vec<f64> = (0..readings).map(of).collect();
        let quantile = |q: f64| stats::quantile::quantile(&readings, q).unwrap();
        let quantiles = [0.5, 0.9, 0.99, 1.0].map(|q| (q, quantile(q))).to_vec();
        // Launches that drift hang together, and few of them support no interval of 95%.
        let value = 75e-6 * (1.0 + 0.01 * f64::from(number));
        figure.launches.push(Launch {
            round: number,
            value,
            readings: readings.clone(),
            quantiles,
            ..Launch::default()
        });
    }
    (figure, plan)
}

#[test]
fn every_quantile_has_an_interval_and_says_what_it_is_worth() {
    for launches in [10, 20, 40] {
        let (mut figure, plan) = wakeups(launches, 320);
        judge(&mut figure, &plan, 0.02, 14);
        let quantiles: Vec<f64> = figure.quantiles.iter().map(|one| one.quantile).collect();
        assert_eq!(quantiles, [0.5, 0.9, 0.99, 0.999, 1.0], "{launches} launches");
        for one in &figure.quantiles {
            let estimate = &one.estimate;
            assert!(estimate.low <= estimate.value && estimate.value <= estimate.high, "{one:?}");
            assert!(estimate.level > 0.0 && estimate.level < 1.0, "{one:?}");
        }
        // 1000 readings are needed for it: four launches of 320 each make one value.
        assert_eq!(figure.quantiles[3].estimate.launches, launches / 4);
        assert!(figure.quantiles[3].estimate.value >= figure.quantiles[2].estimate.value);
    }
}

#[test]
fn a_rare_quantile_without_readings_enough_is_left_out() {
    let (mut figure, plan) = wakeups(10, 20);
    judge(&mut figure, &plan, 0.02, 14);
    assert!(figure.quantiles.iter().all(|one| one.quantile != 0.999), "{:?}", figure.quantiles);
}

#[test]
fn what_goes_one_way_is_drift_however_it_bends() {
    // As files a second were on ext4, where each launch passed over the inodes that those before it had freed.
    let bent = |number: f64| 85_000.0 / (1.0 + 0.5 * number);
    let around = |number: f64| 85_000.0 * (1.0 + 0.05 * (number * 2.4).sin());
    let values: [(&dyn Fn(f64) -> f64, bool); 2] = [(&bent, true), (&around, false)];
    for (value, drifts) in values {
        let (mut figure, plan) = wakeups(40, 20);
        for (number, launch) in figure.launches.iter_mut().enumerate() {
            launch.began = number as f64;
            launch.value = value(number as f64);
        }
        judge(&mut figure, &plan, 0.02, 14);
        assert_eq!(figure.has(Flag::Drift), drifts, "{:?}", figure.flags);
    }
}
