//! False alarms between sessions of one guest whose host had different load in each. The recorded runs of `default`
//! were not used to derive the session noise.
#![allow(clippy::unwrap_used, reason = "helpers of tests, which Clippy does not recognise as such")]

use crate::common::{from_values, named, recorded_sessions, run};
use compare::{CompareOptions, SelfTest, self_test};
use model::{BenchmarkResult, Class, Metric, RawReason, ResultSensors, Run, Unit, ValueBasis};

const SESSIONS: &str = include_str!("../data/guest_sessions.txt");

fn result(cells: &[&str]) -> BenchmarkResult {
    let [benchmark, parameters, class, unit, raw, values] = cells else { panic!("{cells:?}") };
    let unit: Unit = named(unit);
    let metric = if unit.is_rate() { Metric::higher(unit, "operation") } else { Metric::lower(unit, "operation") };
    let values: Vec<f64> = values.split(' ').map(|value| value.parse().unwrap()).collect();
    let mut made = from_values(benchmark, parameters, metric, named::<Class>(class), &values);
    let basis = match *raw {
        "o" => ValueBasis::Raw(RawReason::LongOperation),
        _ => ValueBasis::Clean,
    };
    made.sensors = Some(ResultSensors { basis, ..ResultSensors::default() });
    made
}

/// The recorded runs.
fn sessions() -> Vec<Run> {
    let of_session = |(name, results): (&str, Vec<BenchmarkResult>)| {
        run(&format!("run {name}"), "guest", &format!("2026-11-23T16:{name}0:00Z"), results)
    };
    // The recordings do not hold which levels of memory each survey found, without which these are not compared.
    let text: String =
        SESSIONS.lines().filter(|line| !line.contains(";memory.hierarchy;")).map(|line| format!("{line}\n")).collect();
    recorded_sessions(&text, result).into_iter().map(of_session).collect()
}

pub(crate) fn tried() -> SelfTest {
    let runs = sessions();
    let pairs: Vec<(&Run, &Run)> =
        runs.iter().enumerate().flat_map(|(at, a)| runs[at + 1..].iter().map(move |b| (a, b))).collect();
    assert_eq!(pairs.len(), 15);
    self_test(&pairs, &CompareOptions::default()).unwrap()
}

/// A transfer under a protocol that paces itself: 40% between sessions, which no number of a class is for. Sessions of
/// the machine itself show it.
pub(crate) const PACED: &str = "ipc.tcp_bandwidth";

#[test]
fn what_the_host_did_between_two_sessions_of_a_guest_is_no_difference() {
    let found = tried();
    assert!(found.results > 400 && found.share() <= 0.05, "{found:?}");
    let others: std::collections::BTreeSet<usize> =
        found.claims.iter().filter(|(_, result, _)| !result.starts_with(PACED)).map(|(pair, ..)| *pair).collect();
    assert!(others.len() <= 1, "{found:?}");
}
