//! The result of a gate in one line.

use compare::{CompareGate, CompareRow, Comparison, GateAnswer, GateResult, NeededSamples, Unmatched};
use model::{CORE_SHARED, Outcome, Unit, number, significant};

use super::rows;
use crate::PrintedQuantity;
use crate::words::{factor, plural};

/// Results that the line names.
const NAMED: usize = 3;

/// `GATE inconclusive: 2 results may be more than 5% slower (fork and exec 1.08x slower, 0.99 – 1.18; ...); ...`, and
/// how many results of the reference no other run has, or one of several lacks.
pub(super) fn sentence(comparison: &Comparison, gate: &CompareGate) -> String {
    let of_reference = |one: &&Unmatched| one.machine == comparison.reference && one.result.benchmark != CORE_SHARED;
    let nowhere = comparison.unmatched.iter().filter(of_reference).count();
    let mut said = answer(comparison, gate);
    said.push_str(&untested(nowhere, &comparison.reference, "in no other run, and not tested"));
    let mut others = comparison.machines.iter().map(|machine| machine.name.as_str()).filter_map(|name| {
        let lacking = comparison.rows.iter().filter(|row| lacks(comparison, row, name)).count();
        (lacking > 0).then(|| untested(lacking, &comparison.reference, &format!("not in {name}, and not tested there")))
    });
    said.extend(others.by_ref().take(NAMED));
    match others.count() {
        0 => {}
        1 => said.push_str(" 1 more run lacks some of them."),
        more => said.push_str(&format!(" {more} more runs lack some of them.")),
    }
    said
}

/// Whether a machine lacks a result that the reference measured.
fn lacks(comparison: &Comparison, row: &CompareRow, machine: &str) -> bool {
    let outcome = |name: &str| row.ratio(name).and_then(|ratio| ratio.outcome.as_ref());
    let measured = matches!(
        outcome(&comparison.reference),
        Some(Outcome::Measured(_) | Outcome::Modes(_) | Outcome::Below { .. })
    );
    row.benchmark != CORE_SHARED && measured && outcome(machine).is_none()
}

fn untested(results: usize, of: &str, what: &str) -> String {
    let verb = if results == 1 { "is" } else { "are" };
    if results == 0 { String::new() } else { format!(" {} of {of} {verb} {what}.", plural(results, "result")) }
}

fn answer(comparison: &Comparison, gate: &CompareGate) -> String {
    let percent = gate.condition.percent.max(comparison.band * 100.0);
    let way = if gate.condition.worse_only { "slower" } else { "different" };
    // A band is a fraction, whose percentage is not exact in binary.
    let than = format!("more than {}% {way}", number(percent, significant(percent, 6), true));
    match gate.answer {
        GateAnswer::Pass => format!("GATE pass: none of {} is {than}, surely.", plural(gate.tested, "result")),
        GateAnswer::Fail => {
            let verb = if gate.failing.len() == 1 { "is surely" } else { "are surely" };
            let surely = format!("GATE fail: {}", counted(comparison, &gate.failing, &format!("{verb} {than}")));
            match gate.open.len() {
                0 => format!("{surely}."),
                open => format!("{surely}; {} may be.", plural(open, "more result")),
            }
        }
        GateAnswer::Inconclusive if gate.tested == 0 => {
            let why = gate.open.iter().find_map(|result| result.reason.clone());
            let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
            format!("GATE inconclusive: nothing could be tested{why}.")
        }
        GateAnswer::Inconclusive => {
            let may = counted(comparison, &gate.open, &format!("may be {than}"));
            format!("GATE inconclusive: {may}{}.", decides(gate))
        }
    }
}

/// `2 results may be more than 5% slower (a 1.08x slower; b 1.2x slower)`.
fn counted(comparison: &Comparison, results: &[GateResult], what: &str) -> String {
    let several = comparison.machines.len() > 2;
    let mut named: Vec<String> = results.iter().take(NAMED).map(|result| name(comparison, result, several)).collect();
    if results.len() > NAMED {
        named.push("…".to_owned());
    }
    format!("{} {what} ({})", plural(results.len(), "result"), named.join("; "))
}

fn name(comparison: &Comparison, result: &GateResult, several: bool) -> String {
    let row = comparison.rows.iter().find(|row| row.key().to_string() == result.result);
    let unit = row.map(|row| row.metric.unit);
    // A title alone is enough where no other result has it.
    let alone = comparison.rows.iter().filter(|row| row.title == result.title).count() < 2;
    let title = row.filter(|_| !alone).map_or_else(|| result.title.clone(), rows::name);
    let gain = match (result.gain, result.low.zip(result.high)) {
        (Some(gain), Some((low, high))) => Some(PrintedQuantity::ratio(gain, low, high)),
        (Some(gain), None) => Some(PrintedQuantity::bare(gain, Unit::Ratio)),
        (None, _) => None,
    };
    let of = if several { format!(" of {}", result.machine) } else { String::new() };
    match (gain, &result.reason) {
        (_, Some(reason)) => format!("{title}{of}: {reason}"),
        (Some(gain), None) => {
            format!("{title}{of} {}", factor(gain, unit.unwrap_or(Unit::Seconds)).text_with_interval())
        }
        (None, None) => format!("{title}{of}: in modes"),
    }
}

/// The samples that would decide most of the open results.
fn decides(gate: &CompareGate) -> String {
    let samples = gate.open.iter().filter_map(|result| match result.need {
        Some(NeededSamples::Samples(count)) => Some(count),
        _ => None,
    });
    match samples.max() {
        Some(1) => "; 1 more sample would decide what samples can".to_owned(),
        Some(count) => format!("; {count} more samples would decide what samples can"),
        None => String::new(),
    }
}
