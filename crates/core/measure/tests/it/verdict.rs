//! Samples with distributions: quantiles, each with the interval that the number of samples supports.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails, and measured numbers are printed"
)]

use rand::Rng;

use measure::{RunRequest, judge, select};
use model::{BenchmarkResult, EstimateMethod, Flag, Identity, Machine, Outcome, Plan, RANGE_BELOW, Sample};

/// A result of wake-ups with a number of samples; each reading is drawn from a seed.
fn wakeups(samples: u32, readings: u32) -> (BenchmarkResult, Plan) {
    let entries = select(None, &["os.timer_wakeup:load=idle".to_owned()], 0.02).unwrap();
    let plan = Plan { entries, ..Plan::default() };
    let order = RunRequest::new(plan.clone(), Machine::default(), Identity::default(), vec![0]).unwrap();
    let mut result = order.run().results[0].clone();
    for number in 0..samples {
        let mut rng = stats::simulate::generator(u64::from(number));
        let readings: Vec<f64> = (0..readings).map(|_| 50e-6 * (1.0 + rng.random::<f64>())).collect();
        let quantile = |q: f64| stats::quantile::quantile(&readings, q).unwrap();
        let quantiles = [0.5, 0.9, 0.99, 1.0].map(|q| (q, quantile(q))).to_vec();
        // Samples that drift are correlated, and few of them support no interval of 95%.
        let value = 75e-6 * (1.0 + 0.01 * f64::from(number));
        result.samples.push(Sample {
            round: number,
            value,
            readings: readings.clone(),
            quantiles,
            ..Sample::default()
        });
    }
    (result, plan)
}

#[test]
fn every_quantile_comes_from_the_same_parts_and_has_an_interval() {
    // 1000 readings are needed for 99.9%: four samples of 320 each make one part, and ten parts an interval.
    let (mut result, plan) = wakeups(40, 320);
    judge(&mut result, &plan, 0.02, 14);
    let quantiles: Vec<f64> = result.quantiles.iter().map(|one| one.quantile).collect();
    assert_eq!(quantiles, [0.5, 0.9, 0.99, 0.999, 1.0]);
    for samples in [6, 10, 20, 40] {
        let (mut result, plan) = wakeups(samples, 320);
        judge(&mut result, &plan, 0.02, 14);
        for one in &result.quantiles {
            let estimate = &one.estimate;
            assert!(estimate.low <= estimate.value && estimate.value <= estimate.high, "{one:?}");
            assert!((RANGE_BELOW..1.0).contains(&estimate.level), "{samples} samples: {one:?}");
            assert_eq!(estimate.samples, result.quantiles[0].estimate.samples, "{samples} samples");
        }
        for pair in result.quantiles.windows(2) {
            assert!(pair[0].estimate.value <= pair[1].estimate.value, "{samples} samples: {pair:?}");
        }
    }
}

#[test]
fn a_rare_quantile_without_readings_enough_is_left_out() {
    let (mut result, plan) = wakeups(10, 20);
    judge(&mut result, &plan, 0.02, 14);
    assert!(result.quantiles.iter().all(|one| one.quantile != 0.999), "{:?}", result.quantiles);
}

#[test]
fn what_goes_one_way_is_drift_however_it_bends() {
    // As files per second were on ext4, where each sample skipped the inodes that those before it had freed.
    let bent = |number: f64| 85_000.0 / (1.0 + 0.5 * number);
    let around = |number: f64| 85_000.0 * (1.0 + 0.05 * (number * 2.4).sin());
    let values: [(&dyn Fn(f64) -> f64, bool); 2] = [(&bent, true), (&around, false)];
    for (value, drifts) in values {
        let (mut result, plan) = wakeups(40, 20);
        for (number, sample) in result.samples.iter_mut().enumerate() {
            sample.began = number as f64;
            sample.value = value(number as f64);
        }
        judge(&mut result, &plan, 0.02, 14);
        assert_eq!(result.has(Flag::Drift), drifts, "{:?}", result.flags);
    }
}

/// Recorded samples of pinned pairs of parties during several builds on two CPUs, by recording and result, in the
/// order of time.
fn pinned_pairs() -> Vec<BenchmarkResult> {
    let mut results: Vec<(String, BenchmarkResult)> = Vec::new();
    for line in include_str!("../noise/pinned_pairs_beside_builds.txt").lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let name = format!("{} {}", fields[0], fields[1]);
        if results.last().is_none_or(|(known, _)| *known != name) {
            let entries = select(None, &[fields[1].to_owned()], 0.02).unwrap();
            let plan = Plan { entries, ..Plan::default() };
            let order = RunRequest::new(plan, Machine::default(), Identity::default(), vec![0]).unwrap();
            let result = BenchmarkResult { ops: fields[2].parse().unwrap(), ..order.run().results[0].clone() };
            results.push((name, result));
        }
        let sample = Sample {
            value: fields[3].parse().unwrap(),
            nanos: fields[4..].iter().map(|micros| 1000 * micros.parse::<u64>().unwrap()).collect(),
            steady: true,
            ..Sample::default()
        };
        results.last_mut().unwrap().1.samples.push(sample);
    }
    results.into_iter().map(|(_, result)| result).collect()
}

/// The same result with a subset of its samples.
fn with(result: &BenchmarkResult, samples: impl Iterator<Item = usize>) -> BenchmarkResult {
    let samples = samples.map(|at| result.samples[at % result.samples.len()].clone()).collect();
    BenchmarkResult { samples, ..result.clone() }
}

#[test]
fn pre_empted_pipes_are_no_modes() {
    let plan = Plan::default();
    let (mut modes, mut by_values, mut runs) = (0, 0, 0);
    let results = pinned_pairs();
    assert!(results.len() >= 8, "{}", results.len());
    for result in &results {
        let all = result.samples.len();
        for checkpoints in [10, 14, 20, 28, 40] {
            // Samples as they came: drawn ones are equal in part, which one mode is not.
            for mut one in (0..all).step_by(2).map(|start| with(result, start..start + checkpoints)) {
                judge(&mut one, &plan, 0.02, 14);
                modes += usize::from(matches!(one.outcome, Outcome::Modes(_)));
                by_values += usize::from(stats::modes(&one.values()).len() > 1);
                runs += 1;
            }
        }
    }
    println!("pre-empted pairs called modes: {modes} of {runs}, by values alone {by_values}");
    assert!(modes as f64 <= testing::at_most(0.05, runs) * runs as f64, "{modes} of {runs}");
}

#[test]
fn levels_of_whole_samples_are_modes() {
    let pipe = pinned_pairs().into_iter().find(|result| result.benchmark == "ipc.pipe_latency").unwrap();
    let mut rng = stats::simulate::generator(42);
    let mut found = 0;
    for _ in 0..100 {
        // A third of the samples is slower by a factor of eight, in all of their batches.
        let mut result = with(&pipe, 0..20);
        for sample in &mut result.samples {
            let slow = if rng.random_range(0..3) == 0 { 8.0 } else { 1.0 };
            let nanos = |_| (slow * 1e6 * (1.0 + 0.02 * rng.random::<f64>())) as u64;
            sample.nanos = (0..20).map(nanos).collect();
            let batches: Vec<f64> = sample.nanos.iter().map(|nanos| *nanos as f64).collect();
            sample.value = stats::median(&batches).unwrap() / result.ops as f64 * 1e-9;
        }
        judge(&mut result, &Plan::default(), 0.02, 14);
        found += usize::from(matches!(result.outcome, Outcome::Modes(_)));
    }
    println!("levels of whole samples found: {found} of 100");
    assert!(found >= 80, "{found}");
}

#[test]
fn few_samples_are_a_range_and_never_within_the_target() {
    for samples in 2..=14 {
        let (mut result, plan) = wakeups(samples, 20);
        result.samples.iter_mut().for_each(|sample| sample.value = 75e-6);
        judge(&mut result, &plan, 0.02, 14);
        let estimate = *result.outcome.estimate().unwrap();
        assert_eq!(estimate.is_range(), estimate.method == EstimateMethod::Range, "{estimate:?}");
        assert_eq!(estimate.is_range(), estimate.level < RANGE_BELOW, "{estimate:?}");
        assert_eq!(result.is_within(0.02, plan.level), samples == 14, "{samples} equal samples");
        assert!(samples > 6 || estimate.is_range(), "{estimate:?}");
    }
}

/// The share of batches that took over 1.5 times the median of their sample belongs to the counted ones. Near a tenth,
/// chance decides whether a result is noisy, and the less the more samples there are.
#[test]
fn a_result_is_noisy_from_a_tenth_of_its_batches_on() {
    let entries = select(None, &["os.syscall_getppid".to_owned()], 0.02).unwrap();
    let plan = Plan { entries, ..Plan::default() };
    let order = RunRequest::new(plan.clone(), Machine::default(), Identity::default(), vec![0]).unwrap();
    let bare = order.run().results[0].clone();
    let mut rng = stats::simulate::generator(12);
    let trials = testing::trials(40, 1000);
    for samples in [8, 20, 40, 100, 320] {
        let trials = if samples > 40 { trials / 4 } else { trials };
        for (share, least, most) in
            [(0.0, 0.0, 0.0), (0.05, 0.0, 0.01), (0.08, 0.0, 0.3), (0.12, 0.5, 1.0), (0.2, 0.99, 1.0)]
        {
            let mut raised = || {
                let mut result = bare.clone();
                for round in 0..samples {
                    let batch = |_| if rng.random_bool(share) { 400_000 } else { rng.random_range(198_000..202_000) };
                    let nanos: Vec<u64> = (0..20).map(batch).collect();
                    result.samples.push(Sample { round, nanos, value: 2e-7, steady: true, ..Sample::default() });
                }
                judge(&mut result, &plan, 0.02, 14);
                result.has(Flag::Noisy)
            };
            let found = (0..trials).filter(|_| raised()).count() as f64 / trials as f64;
            println!("TABLE {samples} samples, {share} of batches disturbed: noisy {found:.3} of {trials}");
            let slack = testing::at_most(0.01, trials) - 0.01;
            assert!((least - slack..=most + slack).contains(&found), "{samples} samples, {share}: {found}");
        }
    }
}
