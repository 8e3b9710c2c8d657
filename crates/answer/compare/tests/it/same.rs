//! Sessions of one guest and one boot in cycles, as recorded: equals are called the same, and nothing different.
#![allow(clippy::unwrap_used, reason = "helpers of tests, which Clippy does not recognise as such")]

use compare::{CompareOptions, SelfTest, SessionRecord, self_test};
use model::{
    BenchmarkResult, Class, CleanBatches, Domain, Metric, Outcome, ResultSensors, Run, Sample, Unit, ValueBasis,
};

use crate::common::core::core_run;
use crate::common::{named, recorded_sessions, result};

const SESSIONS: &str = include_str!("../data/guest_cycles.txt");
/// The clock of every session, which must not be a difference between them.
const CLOCK: f64 = 3.69e9;

fn recorded(cells: &[&str]) -> BenchmarkResult {
    let [benchmark, parameters, class, unit, values] = cells else { panic!("{cells:?}") };
    let unit: Unit = named(unit);
    let metric = if unit.is_rate() { Metric::higher(unit, "operation") } else { Metric::lower(unit, "operation") };
    let sample = |(round, cycles): (u32, &str)| {
        let cycles: f64 = cycles.parse().unwrap();
        let value = metric.at_clock(cycles, CLOCK);
        let clean = CleanBatches { batches: 20, of: 40, value: Some(value), cycles: Some(cycles), clock: Some(CLOCK) };
        Sample { round, began: f64::from(round), value, clean: Some(clean), ..Sample::default() }
    };
    let samples = (0..).zip(values.split(' ')).map(sample).collect();
    let mut made =
        result(benchmark, parameters, metric, named::<Class>(class), &[], Outcome::NotMeasured(String::new()));
    made.samples = samples;
    let (domain, basis) = (Domain::Core, ValueBasis::Cycles);
    made.sensors = Some(ResultSensors { domain, basis, clock: Some(1.0), ..ResultSensors::default() });
    made
}

/// The recorded sessions of one boot and build.
pub(crate) fn sessions() -> Vec<Run> {
    let of_session = |(name, results): (&str, Vec<BenchmarkResult>)| {
        core_run(&format!("run {name}"), "guest", &format!("2026-11-24T04:0{name}:00Z"), results)
    };
    recorded_sessions(SESSIONS, recorded).into_iter().map(of_session).collect()
}

pub(crate) fn tried(runs: &[Run], history: &[SessionRecord]) -> SelfTest {
    let pairs: Vec<(&Run, &Run)> =
        runs.iter().enumerate().flat_map(|(at, a)| runs[at + 1..].iter().map(move |b| (a, b))).collect();
    self_test(&pairs, &CompareOptions { history, ..CompareOptions::default() }).unwrap()
}

#[test]
fn what_is_equal_is_called_the_same_and_two_percent_are_found() {
    let found = tried(&sessions(), &[]);
    assert_eq!(found.pairs, 21);
    assert!(found.claims.iter().all(|(_, result, _)| result.starts_with(crate::guest::PACED)), "{found:?}");
    assert!(found.cycles.results > 700 && found.share_no_change().unwrap() >= 0.34, "{:?}", found.cycles);
    assert!(found.power.no_change.share().unwrap() >= 0.8, "{:?}", found.power);
}

#[test]
fn the_errors_of_five_earlier_sessions_do_not_count_twice() {
    let runs = sessions();
    let history: Vec<SessionRecord> = runs.iter().flat_map(SessionRecord::of).collect();
    let found = tried(&runs, &history);
    assert_eq!((found.different, found.pairs_with_claims), (0, 0));
    assert!(found.share_no_change().unwrap() >= 0.4, "{:?}", found.cycles);
    let unknown: Vec<_> = history.into_iter().map(|record| SessionRecord { error: 0.0, ..record }).collect();
    let twice = tried(&runs, &unknown);
    assert!(
        twice.cycles.no_change < found.cycles.no_change,
        "{:?} with the sessions' own errors counted twice",
        twice.cycles
    );
}
