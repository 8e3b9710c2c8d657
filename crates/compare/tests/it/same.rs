//! Sessions of one guest and one boot in cycles, as recorded: equals are called the same, and nothing different.
#![allow(clippy::unwrap_used, reason = "helpers of tests, which Clippy does not recognise as such")]

use compare::{CompareOptions, SelfTest, SessionRecord, self_test};
use model::{
    Class, Domain, Figure, FigureReferences, Launch, Metric, Outcome, Run, TakenTime, UndisturbedBatches, Unit,
    ValueBasis,
};

use crate::common::core::core_run;
use crate::common::{figure, named, recorded_sessions, words};

const SESSIONS: &str = include_str!("../data/guest_cycles.txt");
/// The clock of every session: what differs between them besides their clocks is asked.
const CLOCK: f64 = 3.69e9;

fn recorded(cells: &[&str]) -> Figure {
    let [probe, point, class, unit, values] = cells else { panic!("{cells:?}") };
    let unit: Unit = named(unit);
    let metric = if unit.is_rate() { Metric::higher(unit, "operation") } else { Metric::lower(unit, "operation") };
    let launch = |(round, cycles): (u32, &str)| {
        let cycles: f64 = cycles.parse().unwrap();
        let value = metric.at_clock(cycles, CLOCK);
        let undisturbed =
            UndisturbedBatches { batches: 20, of: 40, value: Some(value), cycles: Some(cycles), clock: Some(CLOCK) };
        Launch { round, began: f64::from(round), value, undisturbed: Some(undisturbed), ..Launch::default() }
    };
    let launches = (0..).zip(values.split(' ')).map(launch).collect();
    let mut made = figure(probe, point, metric, named::<Class>(class), &[], Outcome::Unfit(String::new()));
    made.launches = launches;
    let (domain, basis) = (Domain::Core, ValueBasis::Cycles);
    made.references = Some(FigureReferences { domain, basis, clock: Some(1.0), ..FigureReferences::default() });
    made
}

/// The recorded sessions of one boot and build, beside so much other work.
fn sessions(others: f64) -> Vec<Run> {
    let of_session = |(name, figures): (&str, Vec<Figure>)| {
        let mut made = core_run(&format!("run {name}"), "guest", &format!("2026-11-24T04:0{name}:00Z"), figures);
        let facts = [("virtual.hypervisor", "KVM"), ("network.congestion_control", "bbr"), ("software.build_id", "aa")];
        made.machine.facts = facts.map(|(name, value)| words(name, value)).to_vec();
        "one boot".clone_into(&mut made.session.began_on.boot);
        made.session.conditions.others = Some(TakenTime { seconds: others * 340.0, of: 340.0 });
        made
    };
    recorded_sessions(SESSIONS, recorded).into_iter().map(of_session).collect()
}

fn tried(runs: &[Run], history: &[SessionRecord]) -> SelfTest {
    let pairs: Vec<(&Run, &Run)> =
        runs.iter().enumerate().flat_map(|(at, a)| runs[at + 1..].iter().map(move |b| (a, b))).collect();
    self_test(&pairs, &CompareOptions { history, ..CompareOptions::default() }).unwrap()
}

#[test]
fn half_of_what_is_equal_is_called_the_same_and_two_percent_are_found() {
    let found = tried(&sessions(0.0), &[]);
    assert_eq!((found.pairs, found.different, found.pairs_with_claims), (21, 0, 0));
    // 425 of 777, and 2% is found in 382 of them and in 413 of all.
    assert!(found.cycles.figures > 700 && found.share_same().unwrap() >= 0.54, "{:?}", found.cycles);
    assert!(found.power.same.share().unwrap() >= 0.85 && found.power.cycles.found > 400, "{:?}", found.power);
    assert!(found.broken().is_empty(), "{:?}", found.broken());
}

#[test]
fn the_errors_of_five_earlier_sessions_do_not_count_twice() {
    let runs = sessions(0.0);
    let history: Vec<SessionRecord> = runs.iter().flat_map(SessionRecord::of).collect();
    let found = tried(&runs, &history);
    assert_eq!((found.different, found.pairs_with_claims), (0, 0));
    assert!(found.share_same().unwrap() >= 0.4, "{:?}", found.cycles);
    let unknown: Vec<_> = history.into_iter().map(|record| SessionRecord { error: 0.0, ..record }).collect();
    let twice = tried(&runs, &unknown);
    assert!(twice.cycles.same < found.cycles.same, "{:?} with the sessions' own errors counted twice", twice.cycles);
}

#[test]
fn beside_other_work_less_is_called_the_same() {
    let (alone, beside) = (tried(&sessions(0.0), &[]), tried(&sessions(0.3), &[]));
    assert!(beside.different == 0 && beside.cycles.same < alone.cycles.same, "{:?}", beside.cycles);
}
