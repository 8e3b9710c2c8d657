//! Sessions of this program, recorded on one guest at different loads, evaluated again: `tests/noise/sessions` has the
//! first twenty samples of nine results of each, with every batch and reading.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;

use model::{BenchmarkResult, Class, ExclusiveCore, ExclusiveSource, RULES, ResultKey, Run, ValueBasis};
use stats::simulate::generator;

use super::learn::{RatioHistogram, learn};
use super::sample::tests::classify;
use super::{ResultClasses, hopeless};
use crate::subject::Description;

/// Load of the two CPUs when it began, and the document, compressed.
const SESSIONS: &[(&str, &[u8])] = &[
    ("14.4", include_bytes!("../../tests/noise/sessions/load_14.4.json.zst")),
    ("15.4", include_bytes!("../../tests/noise/sessions/load_15.4.json.zst")),
    ("15.9", include_bytes!("../../tests/noise/sessions/load_15.9.json.zst")),
    ("17.0", include_bytes!("../../tests/noise/sessions/load_17.0.json.zst")),
    ("18.6", include_bytes!("../../tests/noise/sessions/load_18.6.json.zst")),
];

fn session(packed: &[u8]) -> Run {
    let text = zstd::stream::decode_all(packed).unwrap();
    let mut run: Run = serde_json::from_slice(&text).unwrap();
    let sensors = run.session.sensors.as_mut().unwrap();
    // Learns the exclusive core from the readings of the extract alone.
    let mut ratios = RatioHistogram::default();
    let samples = &sensors.samples;
    for (clock, contention) in samples.clock.0.iter().zip(&samples.contention.0) {
        ratios.add(sensors.lengths.ratio(*clock, *contention));
    }
    for sample in run.results.iter().flat_map(|result| &result.samples) {
        for track in &sample.sensors.as_ref().unwrap().tracks {
            for (clock, contention) in track.clock.0.iter().zip(&track.contention.0) {
                ratios.add(sensors.lengths.ratio(*clock, *contention));
            }
        }
    }
    sensors.exclusive = vec![ExclusiveCore { cpus: vec![0, 1], ..learn(&ratios, &[], false) }];
    let sensors = sensors.clone();
    run.results.iter_mut().for_each(|result| drop(classify(result, &sensors)));
    run
}

/// Largest relative difference of some values.
fn apart(values: &[f64]) -> f64 {
    let (low, high) = values.iter().fold((f64::MAX, 0.0_f64), |(low, high), value| (low.min(*value), high.max(*value)));
    high / low - 1.0
}

/// Share of resampled series of `samples` whose interval contains the median of all.
fn coverage(values: &[f64], samples: usize, seed: u64) -> f64 {
    const RUNS: usize = 300;
    let truth = stats::median(values).unwrap();
    let mut rng = generator(seed);
    let covered = |_| {
        let drawn: Vec<f64> =
            (0..samples).map(|_| values[rand::Rng::random_range(&mut rng, 0..values.len())]).collect();
        let found = stats::order_statistic::sample_median_interval(&drawn, 0.95);
        found.is_some_and(|found| found.interval.contains(truth))
    };
    (0..RUNS).map(covered).filter(|covered| *covered).count() as f64 / RUNS as f64
}

#[test]
fn sessions_at_different_loads_agree_in_cycles_and_keep_their_level() {
    let sessions: Vec<(&str, Run)> = SESSIONS.iter().map(|(load, packed)| (*load, session(packed))).collect();
    let mut ratios = Vec::new();
    let (mut cycles, mut raw): (BTreeMap<ResultKey, Vec<f64>>, BTreeMap<ResultKey, Vec<f64>>) = Default::default();
    let mut covered = Vec::new();
    for (load, run) in &sessions {
        let core = &run.session.sensors.as_ref().unwrap().exclusive[0];
        assert_eq!(core.source, ExclusiveSource::LowerMode, "load {load}: {core:?}");
        ratios.push(core.ratio.unwrap());
        for (at, result) in run.results.iter().enumerate() {
            let values = result.values();
            if *result.basis() != ValueBasis::Cycles || values.len() < 8 {
                continue;
            }
            let of_cycles = stats::median(&result.cycles().unwrap()).unwrap();
            let first: Vec<f64> = result.raw_samples().iter().map(|sample| sample.value).collect();
            let of_observed = stats::median(&first).unwrap();
            cycles.entry(result.key()).or_default().push(of_cycles);
            raw.entry(result.key()).or_default().push(of_observed);
            let share = coverage(&values, 14, at as u64);
            println!("TABLE load {load} {}: {of_cycles:.4e} cycles, coverage {share:.3}", result.key());
            covered.push(share);
        }
    }
    assert!(apart(&ratios) < 0.01, "one core, one ratio: {ratios:?}");
    let mean = covered.iter().sum::<f64>() / covered.len() as f64;
    assert!(mean >= 0.93 && covered.iter().all(|share| *share >= 0.90), "{covered:?}");
    assert_agreement(&sessions[0].1.results, &cycles, &raw);
}

/// Compute results of all sessions agree in cycles; raw times do not.
fn assert_agreement(
    results: &[BenchmarkResult],
    cycles: &BTreeMap<ResultKey, Vec<f64>>,
    raw: &BTreeMap<ResultKey, Vec<f64>>,
) {
    let class = |key: &ResultKey| results.iter().find(|result| result.key() == *key).unwrap().class;
    let (mut clean, mut as_met) = (Vec::new(), Vec::new());
    for (key, values) in cycles.iter().filter(|(key, values)| values.len() >= 3 && class(key) == Class::Compute) {
        println!(
            "TABLE {key}: {:.3}% apart in cycles, {:.1}% as observed",
            apart(values) * 100.0,
            apart(&raw[key]) * 100.0
        );
        clean.push(apart(values));
        as_met.push(apart(&raw[key]));
    }
    assert!(clean.len() >= 4, "{} compute results in three sessions", clean.len());
    let (clean, as_met) = (stats::median(&clean).unwrap(), stats::median(&as_met).unwrap());
    assert!(clean < 0.01 && as_met > 3.0 * clean, "{clean} in cycles, {as_met} as observed");
}

#[test]
fn the_first_dozen_clean_batches_say_what_all_do() {
    let mut wider = Vec::new();
    for (load, packed) in SESSIONS {
        for result in session(packed).results.iter().filter(|result| *result.basis() == ValueBasis::Cycles) {
            let asked = Description::of(result);
            let samples = ResultClasses::of(result, &asked).samples(result, &asked);
            let batches = samples.into_iter().map(|sample| sample.batches);
            let full: Vec<_> = batches.filter(|of| of.len() >= RULES.worker.enough_of_core as usize).collect();
            if full.len() < 8 {
                continue;
            }
            let of = |most: usize| -> Vec<f64> {
                full.iter().filter_map(|of| stats::median(&of[..most.min(of.len())])).collect()
            };
            let spread = |values: &[f64]| {
                let middle = stats::median(values).unwrap();
                let off: Vec<f64> = values.iter().map(|value| (value / middle - 1.0).abs()).collect();
                (middle, stats::median(&off).unwrap())
            };
            let ((dozen, scatter), (all, least)) =
                (spread(&of(RULES.worker.enough_of_core as usize)), spread(&of(usize::MAX)));
            println!(
                "TABLE load {load} {}: {:.3}% of scatter for {:.3}%",
                result.key(),
                100.0 * scatter,
                100.0 * least
            );
            assert!((dozen / all - 1.0).abs() < least.max(0.005), "load {load} {}: {dozen} for {all}", result.key());
            // Below a tenth of a percent nothing is left to gain.
            wider.push(scatter.max(0.001) / least.max(0.001));
        }
    }
    let typical = stats::median(&wider).unwrap();
    assert!(wider.len() >= 20 && typical < 1.15, "{typical} times the scatter between samples in {}", wider.len());
}

#[test]
fn a_sample_ends_once_its_core_stays_shared() {
    let (none, few, hardly_any) = (RULES.worker.none_after, RULES.worker.few_after, RULES.worker.few);
    assert!(!hopeless(0, none - 1) && hopeless(0, none));
    assert!(!hopeless(1, none) && !hopeless(1, few - 1) && hopeless(1, few));
    assert!(!hopeless(hardly_any, 100));
}
