//! What changed at the same time, among decoys.

use history::Shape;
use model::Run;
use rand::Rng;
use stats::simulate::generator;

use crate::nights::{Kind, NOISE, family, logs, of, runs, set};

/// Nights, metrics and size of the planted steps in deviations between sessions.
const NIGHTS: usize = 160;
const METRICS: usize = 24;
const STEP: f64 = 4.0;

/// A kernel makes all metrics of a family slower on some night. Other facts change on other nights, one of them on the
/// night before or after, and one that cannot matter on the same night.
fn planted(seed: u64) -> (Vec<Run>, usize) {
    let mut rng = generator(seed + 5000);
    let night = rng.random_range(40..NIGHTS - 10);
    let mut logs = logs(Kind::Common, METRICS, NIGHTS, seed);
    for metric in (0..METRICS).filter(|metric| family(*metric) == "os") {
        for log in &mut logs[metric][night..] {
            *log += STEP * NOISE;
        }
    }
    let mut runs = runs(&logs);
    let beside = if rng.random::<bool>() { night - 1 } else { night + 1 };
    let decoys: Vec<(usize, &str)> = vec![
        (night, "memory.speed"),
        (beside, "software.libc"),
        (rng.random_range(5..night - 5), "kernel.command_line"),
        (rng.random_range(night + 4..NIGHTS), "cpu.microcode"),
    ];
    for (at, run) in runs.iter_mut().enumerate() {
        set(&mut run.machine, "kernel.release", if at < night { "6.1.112" } else { "6.1.119" });
        for (from, name) in &decoys {
            set(&mut run.machine, name, if at < *from { "old" } else { "new" });
        }
        for fact in run.machine.facts.iter_mut().filter(|fact| fact.name != "memory.speed") {
            if decoys.iter().any(|(_, name)| *name == fact.name) {
                fact.affects = vec![model::Primitive::SyscallEntry];
            }
        }
    }
    (runs, night)
}

#[test]
fn a_step_is_blamed_on_what_changed_with_it_among_decoys() {
    let trials = testing::trials(20, 100);
    let right = (0..trials as u64).filter(|seed| {
        let (runs, night) = planted(*seed);
        let found = of(&runs);
        let event = found.events.iter().find(|event| event.run.abs_diff(night) <= 1 && event.members.len() >= 4);
        event.is_some_and(|event| {
            let names: Vec<&str> = event.with.iter().map(|at| found.ledger[*at].change.name.as_str()).collect();
            names == ["kernel.release"]
        })
    });
    let right = right.count();
    println!("blamed on the right entry alone: {right} of {trials}");
    assert!(right as f64 >= 0.9 * trials as f64 - 2.0 * (0.09 * trials as f64).sqrt(), "{right} of {trials}");
}

#[test]
fn one_cause_is_one_event_and_says_which_metrics_changed() {
    let (runs, night) = planted(3);
    let found = of(&runs);
    let event = found.events.iter().find(|event| event.run == night).unwrap();
    assert_eq!(event.shape, Shape::Step);
    let of_family = |member: &history::Member| family_of(&found, member.metric) == "os";
    assert!(event.members.len() >= 5 && event.members.iter().filter(|member| of_family(member)).count() >= 5);
    assert_eq!(found.events.iter().filter(|event| event.run.abs_diff(night) <= 2).count(), 1, "{:?}", found.events);
    let words = found.ledger[event.with[0]].words();
    assert_eq!(words, "kernel.release 6.1.112 -> 6.1.119");
}

fn family_of(found: &history::History, metric: usize) -> String {
    found.metrics[metric].key.benchmark.split('.').next().unwrap().to_owned()
}

#[test]
fn another_machine_of_the_same_name_is_no_regression() {
    let mut logs = logs(Kind::Normal, METRICS, 80, 7);
    for log in logs.iter_mut().flat_map(|series| &mut series[40..]) {
        *log += 0.5;
    }
    let mut runs = runs(&logs);
    for run in &mut runs[40..] {
        set(&mut run.machine, "machine.id_hash", "two");
        set(&mut run.machine, "cpu.model", "CPU B");
    }
    let found = of(&runs);
    assert_eq!(found.replaced, [40]);
    assert!(found.events.is_empty(), "{:?}", found.events);
}

#[test]
fn a_fact_that_one_run_could_not_read_is_no_entry() {
    let mut runs = runs(&logs(Kind::Normal, 4, 20, 1));
    runs[9].machine.facts.retain(|fact| fact.name != "kernel.release");
    assert!(of(&runs).ledger.is_empty());
    set(&mut runs[19].machine, "kernel.release", "6.2.0");
    runs[19].session.version = "9.9".to_owned();
    runs[18].rules.insert("spread".to_owned(), 1.0);
    runs[19].rules.insert("spread".to_owned(), 2.0);
    let words: Vec<String> = of(&runs).ledger.iter().map(history::LedgerEntry::words).collect();
    assert_eq!(words.len(), 3, "{words:?}");
    assert!(words.iter().any(|words| words == "rule spread 1 -> 2"), "{words:?}");
}
