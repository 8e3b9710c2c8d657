//! False alarms between sessions of one guest, whose host does other things in each: recorded runs of `default`, from
//! which no floor was derived.
#![allow(clippy::unwrap_used, reason = "helpers of tests, which Clippy does not recognise as such")]

use crate::common::{from_values, named, recorded_sessions, run, words};
use compare::{CompareOptions, SelfTest, self_test};
use model::{Class, Figure, FigureReferences, Metric, ObservedReason, Run, Unit, ValueBasis};

const SESSIONS: &str = include_str!("../data/guest_sessions.txt");

fn figure(cells: &[&str]) -> Figure {
    let [probe, point, class, unit, observed, values] = cells else { panic!("{cells:?}") };
    let unit: Unit = named(unit);
    let metric = if unit.is_rate() { Metric::higher(unit, "operation") } else { Metric::lower(unit, "operation") };
    let values: Vec<f64> = values.split(' ').map(|value| value.parse().unwrap()).collect();
    let mut made = from_values(probe, point, metric, named::<Class>(class), &values);
    let basis = match *observed {
        "o" => ValueBasis::Observed(ObservedReason::LongOperation),
        _ => ValueBasis::Undisturbed,
    };
    made.references = Some(FigureReferences { basis, ..FigureReferences::default() });
    made
}

/// The recorded runs, on a machine of this hypervisor.
fn sessions(hypervisor: &str) -> Vec<Run> {
    let of_session = |(name, figures): (&str, Vec<Figure>)| {
        let mut made = run(&format!("run {name}"), "guest", &format!("2026-11-23T16:{name}0:00Z"), figures);
        made.machine.facts = vec![words("virtual.hypervisor", hypervisor), words("network.congestion_control", "bbr")];
        made
    };
    recorded_sessions(SESSIONS, figure).into_iter().map(of_session).collect()
}

fn tried(hypervisor: &str) -> SelfTest {
    let runs = sessions(hypervisor);
    let pairs: Vec<(&Run, &Run)> =
        runs.iter().enumerate().flat_map(|(at, a)| runs[at + 1..].iter().map(move |b| (a, b))).collect();
    assert_eq!(pairs.len(), 15);
    self_test(&pairs, &CompareOptions::default()).unwrap()
}

#[test]
fn what_the_host_did_between_two_sessions_of_a_guest_is_no_difference() {
    let found = tried("KVM");
    assert!(found.figures > 400, "{found:?}");
    assert!(found.different <= 2 && found.pairs_with_claims <= 1, "{found:?}");
}

#[test]
fn the_floors_of_a_machine_of_ones_own_would_call_it_one() {
    let found = tried("none");
    assert!(
        found.different > 20 && found.pairs_with_claims > 10,
        "the recordings would find smaller floors: {found:?}"
    );
}
