//! The default suite on machines of 2, 64 and 512 CPUs, from its plan.
#![allow(clippy::unwrap_used, reason = "helpers of tests, which Clippy does not recognise as such")]

use measure::{RunRequest, expected_seconds, select};
use model::{Fact, FactValue, Identity, Machine, Plan, Run};
use testing::machine::RecordedMachine;

fn machine(name: &str, gib: f64) -> (Machine, Vec<usize>) {
    let recorded = RecordedMachine::named(name);
    let online: model::CpuSet = recorded.online.parse().unwrap();
    let topology = os::topology::of_files(&online, &|file| recorded.read(file));
    let free = Fact {
        name: "memory.available".to_owned(),
        value: FactValue::Number(gib * f64::from(1 << 30)),
        unit: Some("B".to_owned()),
        source: "/proc/meminfo".to_owned(),
        affects: Vec::new(),
    };
    let machine = Machine { topology: Some(topology), facts: vec![free], ..Machine::default() };
    (machine, online.as_slice().to_vec())
}

fn planned(name: &str, gib: f64, suite: &str) -> Run {
    let (machine, allowed) = machine(name, gib);
    let entries = select(Some(suite), &[], 0.02).unwrap();
    let plan = Plan { suite: suite.to_owned(), entries, ..Plan::default() };
    RunRequest::new(plan, machine, Identity::default(), allowed).unwrap().run().clone()
}

fn keys(run: &Run) -> Vec<String> {
    run.results.iter().map(|result| result.key().to_string()).collect()
}

/// Seconds of one round, and of the ten samples at which results may first settle.
fn seconds(run: &Run) -> (f64, f64) {
    let round: f64 = run.plan.entries.iter().map(|entry| expected_seconds(entry, 2)).sum();
    (round, round * f64::from(run.plan.checkpoints[0]))
}

#[test]
fn two_cpus_keep_the_results_that_they_always_had() {
    let asked = select(Some("default"), &[], 0.02).unwrap();
    let asked: Vec<String> = asked
        .iter()
        .map(|entry| model::ResultKey::new(&*entry.benchmark, entry.parameters.clone()).to_string())
        .collect();
    let planned = keys(&planned("guest-2", 20.0, "default"));
    let renamed: Vec<String> =
        asked.iter().map(|key| key.replace("placement=cross_cpu", "placement=same_cache")).collect();
    assert_eq!(planned, renamed, "only what two CPUs are to each other is said now");
}

#[test]
fn the_default_suite_ends_in_minutes_on_2_64_and_512_cpus() {
    let mut said = String::new();
    for (name, cpus, gib) in [("guest-2", 2, 20.0), ("epyc-9375f", 64, 1400.0), ("epyc-9754", 512, 700.0)] {
        let run = planned(name, gib, "default");
        let (round, ten) = seconds(&run);
        said += &format!("{cpus} CPUs: {} results, a round {round:.1} s, ten rounds {ten:.0} s\n", run.results.len());
        assert!(run.results.len() < 120 && ten < 600.0, "{said}");
    }
    println!("{said}");
}

#[test]
fn a_large_machine_gets_the_same_results_at_its_own_sizes() {
    let (small, large) = (planned("guest-2", 20.0, "default"), planned("epyc-9754", 700.0, "default"));
    let benchmarks = |run: &Run| run.results.iter().map(|result| result.benchmark.clone()).collect::<Vec<_>>();
    assert_eq!(benchmarks(&small), benchmarks(&large));
    let all = large
        .results
        .iter()
        .find(|result| result.benchmark == "memory.copy" && result.parameters.get("threads") == Some("all"));
    assert_eq!(all.unwrap().parameters.get("working_set"), Some("2GiB"), "four times 32 caches of 16 MiB");
    let entry = large.plan.entries.iter().find(|entry| entry.parameters.get("working_set") == Some("2GiB")).unwrap();
    assert!(entry.shares.as_ref().is_some_and(|shares| shares.contains("2GiB")), "{entry:?}");
    let stream = keys(&planned("epyc-9754", 700.0, "stream"));
    assert!(stream.iter().all(|key| key.contains("256MiB")), "a published evaluation keeps its sets of parameters");
}
