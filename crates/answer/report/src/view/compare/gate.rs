//! The result of a gate in one line.

use compare::{CompareGate, CompareRow, Comparison, GateAnswer, GateResult, NeededSamples, Unmatched};
use model::{CORE_SHARED, Outcome, Unit, number, percent, significant};

use super::rows;
use crate::PrintedQuantity;
use crate::words::{factor, plural};

/// Results that the line names.
const NAMED: usize = 3;

/// `Gate inconclusive: 2 results may be more than 5% slower (fork and exec 1.08x slower (0.99 – 1.18), ...).`, and how
/// many results of the baseline are missing from other runs.
#[must_use]
pub fn sentence(comparison: &Comparison, gate: &CompareGate) -> String {
    let of_reference = |one: &&Unmatched| one.machine == comparison.reference && one.result.benchmark != CORE_SHARED;
    let nowhere = comparison.unmatched.iter().filter(of_reference).count();
    let mut said = answer(comparison, gate);
    said.extend(visible(gate));
    let elsewhere = if comparison.machines.len() > 2 { "every other run" } else { "the new run" };
    said.push_str(&missing(nowhere, elsewhere));
    let mut others = comparison.machines.iter().map(|machine| machine.name.as_str()).filter_map(|name| {
        let lacking = comparison.rows.iter().filter(|row| lacks(comparison, row, name)).count();
        (lacking > 0).then(|| missing(lacking, name))
    });
    said.extend(others.by_ref().take(NAMED));
    match others.count() {
        0 => {}
        1 => said.push_str(" 1 more run lacks some of them."),
        more => said.push_str(&format!(" {more} more runs lack some of them.")),
    }
    said
}

/// `Changes above 3.1% would have been found (the median; 8% in the noisiest result).`
fn visible(gate: &CompareGate) -> Option<String> {
    let (median, largest) = gate.visible?;
    let noisiest = if percent(median) == percent(largest) {
        String::new()
    } else {
        format!(" (the median; {} in the noisiest result)", percent(largest))
    };
    Some(format!(" Changes above {} would have been found{noisiest}.", percent(median)))
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

fn missing(results: usize, run: &str) -> String {
    let verb = if results == 1 { "is" } else { "are" };
    if results == 0 {
        String::new()
    } else {
        format!(" {} {verb} missing from {run}.", plural(results, "baseline result"))
    }
}

fn answer(comparison: &Comparison, gate: &CompareGate) -> String {
    let least = gate.condition.percent.max(comparison.band * 100.0);
    let way = if gate.condition.worse_only { "slower" } else { "different" };
    // A band is a fraction, whose percentage is not exact in binary.
    let than = format!("more than {}% {way}", number(least, significant(least, 6), true));
    match gate.answer {
        GateAnswer::Pass => format!("Gate passed: none of {} is {than}.", plural(gate.tested, "result")),
        GateAnswer::Fail => {
            let verb = if gate.failing.len() == 1 { "is" } else { "are" };
            let failed = format!("Gate failed: {}.", counted(comparison, &gate.failing, &format!("{verb} {than}")));
            match gate.open.len() {
                0 => failed,
                1 => format!("{failed} 1 more result is inconclusive."),
                open => format!("{failed} {open} more results are inconclusive."),
            }
        }
        GateAnswer::Inconclusive if gate.tested == 0 => {
            let why = gate.open.iter().find_map(|result| result.reason.clone());
            let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
            format!("Gate inconclusive: nothing could be tested{why}.")
        }
        GateAnswer::Inconclusive => {
            let may = counted(comparison, &gate.open, &format!("may be {than}"));
            format!("Gate inconclusive: {may}.{}", decides(gate))
        }
    }
}

/// `2 results may be more than 5% slower (a 1.08x slower; b 1.2x slower)`.
fn counted(comparison: &Comparison, results: &[GateResult], what: &str) -> String {
    let several = comparison.machines.len() > 2;
    let mut named: Vec<String> = results.iter().take(NAMED).map(|result| name(comparison, result, several)).collect();
    if results.len() > NAMED {
        named.push(format!("and {} more", results.len() - NAMED));
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
    let more = |count| format!(" {} would decide some of them.", plural(count, "more sample"));
    samples.max().map(more).unwrap_or_default()
}
