//! The result of a gate in one line.

use analyse::Comparison;
use analyse::compare::{CompareGate, GateAnswer, GateFigure, NeededLaunches};
use model::Unit;

use crate::PrintedQuantity;
use crate::words::{factor, plural};

/// Figures that the line names.
const NAMED: usize = 3;

/// `GATE inconclusive: 2 figures may be more than 5% slower (fork and exec 1.08x slower, 0.99 – 1.18; ...); ...`, and
/// how many figures of the reference no other run has.
pub(super) fn sentence(comparison: &Comparison, gate: &CompareGate) -> String {
    let missing = comparison.unmatched.iter().filter(|one| one.machine == comparison.reference).count();
    let mut said = answer(comparison, gate);
    if missing > 0 {
        let verb = if missing == 1 { "is" } else { "are" };
        said.push_str(&format!(
            " {} of {} {verb} in no other run, and not tested.",
            plural(missing, "figure"),
            comparison.reference
        ));
    }
    said
}

fn answer(comparison: &Comparison, gate: &CompareGate) -> String {
    let percent = gate.condition.percent.max(comparison.band * 100.0);
    let way = if gate.condition.worse_only { "slower" } else { "different" };
    let than = format!("more than {percent}% {way}");
    match gate.answer {
        GateAnswer::Pass => format!("GATE pass: none of {} is {than}, surely.", plural(gate.tested, "figure")),
        GateAnswer::Fail => {
            let verb = if gate.failing.len() == 1 { "is surely" } else { "are surely" };
            let surely = format!("GATE fail: {}", counted(comparison, &gate.failing, &format!("{verb} {than}")));
            match gate.open.len() {
                0 => format!("{surely}."),
                open => format!("{surely}; {} may be.", plural(open, "more figure")),
            }
        }
        GateAnswer::Inconclusive if gate.tested == 0 => {
            let why = gate.open.iter().find_map(|figure| figure.reason.clone());
            let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
            format!("GATE inconclusive: nothing could be tested{why}.")
        }
        GateAnswer::Inconclusive => {
            let may = counted(comparison, &gate.open, &format!("may be {than}"));
            format!("GATE inconclusive: {may}{}.", decides(gate))
        }
    }
}

/// `2 figures may be more than 5% slower (a 1.08x slower; b 1.2x slower)`.
fn counted(comparison: &Comparison, figures: &[GateFigure], what: &str) -> String {
    let several = comparison.machines.len() > 2;
    let mut named: Vec<String> = figures.iter().take(NAMED).map(|figure| name(comparison, figure, several)).collect();
    if figures.len() > NAMED {
        named.push("…".to_owned());
    }
    format!("{} {what} ({})", plural(figures.len(), "figure"), named.join("; "))
}

fn name(comparison: &Comparison, figure: &GateFigure, several: bool) -> String {
    let unit = comparison.rows.iter().find(|row| row.key().to_string() == figure.figure).map(|row| row.metric.unit);
    let gain = match (figure.gain, figure.low.zip(figure.high)) {
        (Some(gain), Some((low, high))) => Some(PrintedQuantity::ratio(gain, low, high)),
        (Some(gain), None) => Some(PrintedQuantity::bare(gain, Unit::Ratio)),
        (None, _) => None,
    };
    let of = if several { format!(" of {}", figure.machine) } else { String::new() };
    match (gain, &figure.reason) {
        (_, Some(reason)) => format!("{}{of}: {reason}", figure.title),
        (Some(gain), None) => {
            format!("{}{of} {}", figure.title, factor(gain, unit.unwrap_or(Unit::Seconds)).text_with_interval())
        }
        (None, None) => format!("{}{of}: in modes", figure.title),
    }
}

/// The launches that would decide most of the open figures.
fn decides(gate: &CompareGate) -> String {
    let launches = gate.open.iter().filter_map(|figure| match figure.need {
        Some(NeededLaunches::Launches(count)) => Some(count),
        _ => None,
    });
    match launches.max() {
        Some(1) => "; 1 more launch would decide what launches can".to_owned(),
        Some(count) => format!("; {count} more launches would decide what launches can"),
        None => String::new(),
    }
}
