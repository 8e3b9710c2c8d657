//! Two recorded sessions of one guest, quiet and under load, whose samples read both references.
#![allow(clippy::unwrap_used, reason = "helpers of tests, which Clippy does not recognise as such")]

use compare::{CompareOptions, SelfTest, self_test};
use model::{BenchmarkResult, Class, CleanBatches, Domain, Invalid, Outcome, ResultSensors, Run, Sample, ValueBasis};

use crate::common::core::{core_run, without_references};
use crate::common::{result, time};

/// Samples of a result that count in one run.
const SAMPLES: usize = 20;

/// Kernels that the core alone decides, and their classes.
const KERNELS: [(&str, Class); 9] = [
    ("mul", Class::Compute),
    ("int", Class::Compute),
    ("ports", Class::Compute),
    ("getppid", Class::Compute),
    ("chase16K", Class::Compute),
    ("chase512K", Class::Compute),
    ("fault", Class::Fault),
    ("pipe", Class::Ipc),
    ("fork", Class::Process),
];

/// Samples of a kernel in the order of time.
fn samples(text: &str, kernel: &str) -> Vec<Sample> {
    let lines = text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let of_kernel = lines.filter(|words| words.get(2) == Some(&kernel));
    of_kernel
        .map(|words| {
            let number = |at: usize| words[at].parse::<f64>().unwrap();
            let (batches, of) = (words[6].parse().unwrap(), words[7].parse().unwrap());
            let enough = batches >= 8;
            let value = enough.then(|| number(4) / (number(5) * 1e6));
            let (cycles, clock) = (enough.then(|| number(4)), enough.then(|| number(5) * 1e6));
            Sample {
                round: words[0].parse().unwrap(),
                began: number(1),
                value: number(3) * 1e-9,
                clean: Some(CleanBatches { batches, of, value, cycles, clock }),
                invalid: (!enough).then_some(Invalid::SharedCore { batches, of }),
                ..Sample::default()
            }
        })
        .collect()
}

/// A part of a session as a run: of every kernel the counted samples from `from` on.
fn part(text: &str, name: &str, from: usize) -> Run {
    let results = KERNELS.iter().map(|&(kernel, class)| -> BenchmarkResult {
        let mut all = samples(text, kernel);
        let counts: Vec<usize> = (0..all.len()).filter(|at| all[*at].invalid.is_none()).collect();
        let (first, last) = (counts[from], counts[from + SAMPLES - 1]);
        all.truncate(last + 1);
        let mut made =
            result(&format!("sim.{kernel}"), "", time("operation"), class, &[], Outcome::NotMeasured(String::new()));
        made.samples = all.split_off(first);
        let basis = ValueBasis::Cycles;
        made.sensors =
            Some(ResultSensors { domain: Domain::Core, basis, clock: Some(1.0), ..ResultSensors::default() });
        made
    });
    core_run(&format!("{name}{from}"), "guest", &format!("{name}{from}"), results.collect())
}

fn tested(runs: &[(Run, Run)]) -> SelfTest {
    let pairs: Vec<(&Run, &Run)> = runs.iter().map(|(a, b)| (a, b)).collect();
    self_test(&pairs, &CompareOptions::default()).unwrap()
}

#[test]
fn recorded_sessions_of_one_machine_are_the_same_in_cycles_and_not_as_observed() {
    let quiet = include_str!("../data/references-quiet.txt");
    let loaded = include_str!("../data/references-loaded.txt");
    let starts = [0, 4, 8, 12, 15];
    let pairs: Vec<(Run, Run)> =
        starts.iter().flat_map(|a| starts.map(|b| (part(quiet, "quiet", *a), part(loaded, "loaded", b)))).collect();
    let found = tested(&pairs);
    println!("{:?}, claims {:?}, power {:?}", found.cycles, found.claims, found.power);
    assert!(found.broken().is_empty(), "{:?}: {found:?}", found.broken());
    assert_eq!((found.pairs, found.different), (25, 0));
    assert!(found.power.cycles.share().unwrap() >= 0.6, "{:?}", found.power);
    // The same samples, every batch counted.
    let raw: Vec<(Run, Run)> = pairs.iter().map(|(a, b)| (without_references(a), without_references(b))).collect();
    let found = tested(&raw);
    println!("observed: {} different, {} no change of {}", found.different, found.no_change, found.results);
    assert!(found.no_change * 10 < found.results, "{found:?}");
}
