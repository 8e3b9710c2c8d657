//! Unlike bases are compared nowhere: not in a ratio, not in a place.
#![allow(clippy::unwrap_used, reason = "helpers of tests, which Clippy does not recognise as such")]

use compare::{CompareOptions, Comparison, FailOn, GateAnswer, Rank, RatioBasis, compare};
use model::{BenchmarkResult, Class, Estimate, EstimateMethod, Metric, Outcome, Run, Unit};
use stats::simulate::generator;

use crate::common::core::{GUEST, GuestSession, Surroundings, core_run, estimate, shared_core};
use crate::common::{from_values, result, run, time};

/// A core result of 300 cycles whose samples take `slower` times as long as their clean batches do.
fn guest(id: &str, machine: &str, cycles: f64, slower: f64, seed: u64) -> Run {
    let mut rng = generator(seed);
    let around = Surroundings { steps: false, neighbour: 0.0, ..GUEST };
    let mut session = GuestSession::new(around, &mut rng);
    let mut made = session.core("os.call", time("call"), Class::Compute, cycles, 0.001);
    made.samples.iter_mut().for_each(|sample| sample.value *= slower);
    let raw: Vec<f64> = made.samples.iter().map(|sample| sample.value).collect();
    let mut run = core_run(id, machine, id, vec![made]);
    let sensors = run.results.iter_mut().find(|one| one.benchmark == "os.call").unwrap().sensors.as_mut().unwrap();
    sensors.raw = Some(estimate(&raw));
    run
}

fn set(runs: &[&Run]) -> Comparison {
    compare(runs, &CompareOptions::default()).unwrap()
}

#[test]
fn a_run_without_clean_values_is_compared_by_raw_ones_on_both_sides() {
    let a = guest("a", "m", 300.0, 1.8, 1);
    let mut b = guest("b", "m", 300.0, 1.8, 2);
    shared_core(&mut b, "os.call");
    let found = set(&[&a, &b]);
    let ratio = &found.rows.iter().find(|row| row.benchmark == "os.call").unwrap().ratios[1];
    assert_eq!(ratio.basis, RatioBasis::Raw);
    assert!((ratio.value.unwrap() - 1.0).abs() < 0.01, "both take 1.8 times their own time: {ratio:?}");
    let raw = a.results.iter().find(|one| one.benchmark == "os.call").unwrap().sensors.as_ref().unwrap().raw;
    let row = found.rows.iter().find(|row| row.benchmark == "os.call").unwrap();
    assert_eq!(row.ratios[0].outcome.as_ref().unwrap().estimate(), raw.as_ref(), "the table shows what it compares");
    assert!(!ratio.differs(), "{ratio:?}");
}

#[test]
fn places_of_machines_are_of_one_basis() {
    // Raw, the third machine is the fastest; clean, the first two are.
    let (a, b) = (guest("a", "m", 300.0, 1.8, 3), guest("b", "n", 320.0, 1.8, 4));
    let mut c = guest("c", "o", 300.0, 1.5, 5);
    shared_core(&mut c, "os.call");
    let mut found = set(&[&a, &b, &c]);
    let row = found.rows.iter().find(|row| row.benchmark == "os.call").unwrap();
    let verdicts: Vec<_> = row.ratios.iter().map(|ratio| (ratio.basis, ratio.differs())).collect();
    assert_eq!(verdicts[1], (RatioBasis::ClockTime, true));
    assert_eq!(verdicts[2], (RatioBasis::Raw, true));
    assert!(row.ratios[2].value.unwrap() > 1.1, "a gain");
    let ranks: Vec<Rank> = row.ratios.iter().map(|ratio| ratio.rank.unwrap()).collect();
    assert_eq!(ranks.iter().map(|rank| rank.place).collect::<Vec<_>>(), [2, 3, 1], "{ranks:?}");
    assert_eq!((ranks[2].low, ranks[2].high), (1, 1), "the best, as its verdict says: {ranks:?}");
    found.sort_by("os.call").unwrap();
    let order: Vec<&str> = found.machines.iter().map(|machine| machine.name.as_str()).collect();
    assert_eq!(order, ["c", "a", "b"]);
    // Without it the two have clean values, and the verdict of the report stays.
    let two = set(&[&a, &b]);
    let places: Vec<Rank> = two
        .rows
        .iter()
        .find(|row| row.benchmark == "os.call")
        .unwrap()
        .ratios
        .iter()
        .map(|r| r.rank.unwrap())
        .collect();
    assert_eq!((places[0].high, places[1].low), (1, 2), "{places:?}");
}

fn below(benchmark: &str, metric: Metric, bound: f64) -> BenchmarkResult {
    result(benchmark, "", metric, Class::Ipc, &[], Outcome::Below { bound })
}

fn stated(benchmark: &str, metric: Metric, value: f64) -> BenchmarkResult {
    let (low, high, method) = (value * 0.99, value * 1.01, EstimateMethod::Stated);
    let found = Estimate { value, low, high, level: 0.95, samples: 10, batches: 1, method };
    result(benchmark, "", metric, Class::Ipc, &[], Outcome::Measured(found))
}

#[test]
fn a_reference_of_which_only_a_bound_is_known_lets_nothing_pass() {
    let beside = |id: &str, result: BenchmarkResult| {
        let equal =
            from_values("os.a", "", time("call"), Class::Compute, &[1.0, 1.001, 0.999, 1.0, 1.0005, 0.9995, 1.0, 1.0]);
        run(id, "m", "1", vec![equal, result])
    };
    let gate = |a: BenchmarkResult, b: BenchmarkResult| {
        let found = set(&[&beside("a", a), &beside("b", b)]);
        let reason = found.rows.iter().find(|row| row.benchmark == "os.b").unwrap().ratios[1].reason.clone().unwrap();
        (FailOn { worse_only: true, percent: 5.0 }.gate(&found).answer, reason)
    };
    // The switch may have taken a tenth of the bound before.
    let (answer, _) = gate(below("os.b", time("switch"), 1e-6), stated("os.b", time("switch"), 0.9e-6));
    assert_eq!(answer, GateAnswer::Inconclusive);
    let (answer, reason) = gate(below("os.b", time("switch"), 1e-6), stated("os.b", time("switch"), 3e-6));
    assert!(answer == GateAnswer::Inconclusive && reason.contains("at least 2.97x slower"), "{reason}");
    // A bound here is one: no more than it was.
    let (answer, reason) = gate(stated("os.b", time("switch"), 1e-6), below("os.b", time("switch"), 0.9e-6));
    assert!(answer == GateAnswer::Pass && reason.contains("at least 1.10x faster"), "{reason}");
    let loss = || Metric::lower(Unit::Ratio, "datagrams lost");
    let (_, reason) = gate(below("os.b", loss(), 1e-5), stated("os.b", loss(), 1e-3));
    assert!(reason.contains("at least 99.0x worse"), "a share is neither fast nor slow: {reason}");
    let (_, reason) = gate(stated("os.b", loss(), 1e-3), below("os.b", loss(), 0.0));
    assert!(!reason.contains("inf") && !reason.contains("at least"), "{reason}");
}
