//! False alarms on recorded samples of real benchmarks: one session against itself, and two sessions under similar
//! conditions.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "helpers of tests, which Clippy does not recognise as such"
)]

use std::collections::BTreeMap;

use crate::common::{from_values, run, time};
use compare::{CompareOptions, SelfTest, self_test};
use model::{Class, Run};
use rand::seq::SliceRandom;
use stats::simulate::generator;

/// Benchmarks with one party or pinned parties, and their classes.
const PINNED: [(&str, Class); 9] = [
    ("null", Class::Compute),
    ("loop", Class::Compute),
    ("chase_l2", Class::Compute),
    ("fault", Class::Fault),
    ("triad", Class::Bandwidth),
    ("pipe_same", Class::Ipc),
    ("chase_mem", Class::MemoryLatency),
    ("forkexec", Class::Process),
    ("fcreate", Class::FileMetadata),
];

/// Sample values of a recorded session in the order of time, by benchmark: the median of the batches after warm-up.
fn recorded(name: &str) -> BTreeMap<String, Vec<f64>> {
    let samples: BTreeMap<String, Vec<f64>> = testing::recording("samples.txt")
        .lines()
        .filter_map(|line| {
            let fields: Vec<&str> = line.split(' ').collect();
            let nanos = |field: &&str| field.parse::<f64>().unwrap() * 1e-9;
            let settled = fields[0] == name && fields[2] == "settled";
            settled.then(|| (fields[1].to_owned(), fields[3..].iter().map(nanos).collect()))
        })
        .collect();
    assert_eq!(samples.len(), 13, "{name}");
    samples
}

/// A run of the pinned benchmarks from chosen samples, kept in the order of time.
fn resampled(id: &str, session: &str, from: &BTreeMap<String, Vec<f64>>, choose: &dyn Fn(usize) -> Vec<usize>) -> Run {
    let results = PINNED.iter().map(|(benchmark, class)| {
        let all = &from[*benchmark];
        let values: Vec<f64> = choose(all.len()).into_iter().map(|i| all[i]).collect();
        from_values(&format!("recorded.{benchmark}"), "", time("operation"), *class, &values)
    });
    run(id, "recorded", session, results.collect())
}

fn tried(pairs: &[(Run, Run)]) -> SelfTest {
    let pairs: Vec<(&Run, &Run)> = pairs.iter().map(|(a, b)| (a, b)).collect();
    self_test(&pairs, &CompareOptions::default()).unwrap()
}

/// Halves of one session against each other.
pub(crate) fn halves() -> SelfTest {
    let mut rng = generator(11);
    let mut pairs = Vec::new();
    for name in ["NB", "C1", "F1", "F2"] {
        let session = recorded(name);
        for trial in 0..25 {
            // Two disjoint halves, drawn without replacement and put in the order of time.
            let mut order: Vec<usize> = (0..40).collect();
            order.shuffle(&mut rng);
            let half = |skip: usize| {
                let mut chosen: Vec<usize> = order[skip..skip + 20].to_vec();
                chosen.sort_unstable();
                chosen
            };
            let (first, second) = (half(0), half(20));
            let a = resampled(&format!("{name} {trial} a"), name, &session, &|_| first.clone());
            let b = resampled(&format!("{name} {trial} b"), name, &session, &|_| second.clone());
            pairs.push((a, b));
        }
    }
    tried(&pairs)
}

#[test]
fn one_session_against_itself() {
    let found = halves();
    eprintln!("one session: {} of {} results different, {} no change", found.different, found.results, found.no_change);
    assert!(found.share() <= 0.05, "{found:?}");
    assert!(found.pairs_with_claims as f64 / found.pairs as f64 <= 0.05, "{found:?}");
}

/// Stretches of two sessions under like conditions.
pub(crate) fn like_sessions() -> SelfTest {
    let mut pairs = Vec::new();
    for (x, y) in [("NB", "C1"), ("F1", "F2")] {
        let (first, second) = (recorded(x), recorded(y));
        for samples in [10, 14, 20, 28, 40] {
            // Consecutive samples, as in a run.
            let block = |len: usize| (len - samples..len).collect::<Vec<_>>();
            for (from_a, from_b) in [(false, false), (true, false), (false, true), (true, true)] {
                let choose = |late: bool| move |len: usize| if late { block(len) } else { (0..samples).collect() };
                let a = resampled(&format!("{x} {samples} {from_a}"), x, &first, &choose(from_a));
                let b = resampled(&format!("{y} {samples} {from_b}"), y, &second, &choose(from_b));
                pairs.push((a, b));
            }
        }
    }
    tried(&pairs)
}

#[test]
fn two_sessions_under_like_conditions() {
    let found = like_sessions();
    eprintln!("two sessions: {} of {} results different: {:?}", found.different, found.results, found.claims);
    assert!(found.share() <= 0.05, "{found:?}");
}
