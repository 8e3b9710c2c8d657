//! The command that shows more of a comparison.

use compare::{Comparison, Relation};

use crate::words::quoted;

/// Letters of the names of many runs that a command repeats.
const NAMED: usize = 50;

/// The command that prints every result, short enough to be typed: of all runs where their names fit or are numbers in
/// a row; else of the reference and the run of which the most results differ.
pub(super) fn every_result(comparison: &Comparison, handles: &[&str]) -> String {
    // The first run is the reference; sorting moves it.
    let place = comparison.machines.iter().position(|machine| machine.relation == Relation::Reference);
    let (before, after) = handles.split_at(place.unwrap_or(0).min(handles.len()));
    let first = after.first().copied().into_iter();
    let ordered: Vec<&str> = first.chain(before.iter().copied()).chain(after.iter().skip(1).copied()).collect();
    let all = ordered.iter().map(|handle| quoted(handle)).collect::<Vec<_>>().join(" ");
    if handles.len() <= 2 || all.len() <= NAMED {
        return format!("prony compare {all} --all");
    }
    if let Some((first, last)) = in_a_row(&ordered) {
        return format!("prony compare $(seq {first} {last}) --all");
    }
    let machines = || comparison.machines.iter().zip(handles);
    let reference = machines().find(|(machine, _)| machine.relation == Relation::Reference);
    let others = machines().filter(|(machine, _)| machine.relation != Relation::Reference);
    // The first of several that differ as much.
    let furthest = others.rev().max_by_key(|(machine, _)| machine.tally.different() + machine.tally.probable);
    let named = reference.into_iter().chain(furthest).map(|(_, handle)| quoted(handle));
    format!("prony compare {} --all", named.collect::<Vec<_>>().join(" "))
}

/// The first and the last of numbers that follow each other.
fn in_a_row(handles: &[&str]) -> Option<(u64, u64)> {
    let numbers = handles.iter().map(|handle| handle.parse().ok()).collect::<Option<Vec<u64>>>()?;
    let follow = numbers.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]));
    follow.then(|| Some((*numbers.first()?, *numbers.last()?))).flatten()
}
