//! The clocks that the runs showed, and on what their figures are compared.

use analyse::Comparison;
use analyse::compare::{CompareRow, CompareVerdict, Compared, Normalise, Ratio, RatioBasis, Relation};
use model::{Unit, percent};

use crate::words::{factor, plural};
use crate::{Column, ColumnKind, PrintedQuantity};

/// One sentence a run on its clock against the reference's, and one on what follows for the figures; nothing where no
/// references were read.
pub(crate) fn notes(comparison: &Comparison, reference: usize, others: &[usize]) -> Vec<String> {
    let mut notes: Vec<String> = others.iter().filter_map(|other| against(comparison, reference, *other)).collect();
    notes.extend(bases(comparison, others));
    notes
}

/// `The clock of b: 1.04x slower (1.03 – 1.05), 2.50 against 2.60 GHz, DIFFERENT`.
fn against(comparison: &Comparison, reference: usize, other: usize) -> Option<String> {
    let (base, machine) = (comparison.machines.get(reference)?, comparison.machines.get(other)?);
    if machine.relation == Relation::SameRun {
        return None;
    }
    let (from, to) = (base.clock?, machine.clock?);
    let tested = comparison.rows.iter().find(|row| row.probe == model::CLOCK).and_then(|row| row.ratios.get(other));
    // Where the clock is a row of the table, the note says what the row does.
    let ends = tested.and_then(|row| Some((row.value?, row.low.zip(row.high))));
    let (value, ends) = match (ends, to.ratio) {
        (Some(ends), _) => ends,
        (None, ratio) => ratio.map(|ratio| (ratio.value, ratio.low.zip(ratio.high)))?,
    };
    let quantity = match ends {
        Some((low, high)) => PrintedQuantity::ratio(value, low, high),
        None => PrintedQuantity::bare(value, Unit::Ratio),
    };
    let verdict = match tested.and_then(|ratio| ratio.verdict) {
        Some(CompareVerdict::Different) => ", DIFFERENT",
        Some(CompareVerdict::Same) => ", SAME",
        Some(CompareVerdict::Undecided) => ", UNDECIDED",
        Some(CompareVerdict::DifferentSpreadAssumed) | None => "",
    };
    let whose = if comparison.machines.len() > 2 { format!(" of {}", machine.name) } else { String::new() };
    Some(format!(
        "The clock{whose}: {}, {} against {}{verdict}",
        factor(quantity, Unit::Seconds).text_with_interval(),
        gigahertz(to.shown.hertz),
        gigahertz(from.shown.hertz)
    ))
}

/// What the figures are compared and printed in.
fn bases(comparison: &Comparison, others: &[usize]) -> Option<String> {
    let count = |basis: RatioBasis| {
        let on =
            |row: &&CompareRow| others.iter().any(|other| row.ratios.get(*other).is_some_and(|r| r.basis == basis));
        comparison.rows.iter().filter(on).count()
    };
    let mut said = Vec::new();
    let cycles = count(RatioBasis::Cycles);
    if let (1.., Some(band)) = (cycles, comparison.cycles_band) {
        said.push(format!(
            "{} compared in cycles, which tell what changed besides the clock (±{} counts as the same)",
            are(cycles, "core figure"),
            percent(band)
        ));
    }
    let timed = count(RatioBasis::ClockTime);
    if timed > 0 {
        said.push(format!(
            "{} compared as time at the clock that each machine showed, the error of both clocks in its interval",
            are(timed, "core figure")
        ));
    }
    let observed = count(RatioBasis::Observed);
    if observed > 0 {
        said.push(format!(
            "{} compared as observed, neighbours and clock steps included, since not both runs have undisturbed values",
            are(observed, "figure")
        ));
    }
    if cycles + timed > 0 {
        said.push(format!("core figures are printed at {}", printed(comparison)?));
    }
    (!said.is_empty()).then(|| capital(&said.join("; ")))
}

/// `2.60 GHz`, or `the clock of each machine (a 2.60 GHz, b 2.50 GHz)`.
fn printed(comparison: &Comparison) -> Option<String> {
    let clocks: Vec<(&Compared, f64)> =
        comparison.machines.iter().filter_map(|machine| Some((machine, machine.clock?.printed_at?))).collect();
    let first = clocks.first()?.1;
    if clocks.iter().all(|(_, hertz)| (hertz / first - 1.0).abs() < 1e-9) {
        return Some(gigahertz(first));
    }
    let each: Vec<String> =
        clocks.iter().map(|(machine, hertz)| format!("{} {}", machine.name, gigahertz(*hertz))).collect();
    Some(format!("the clock of each machine ({})", each.join(", ")))
}

fn gigahertz(hertz: f64) -> String {
    format!("{:.2} GHz", hertz * 1e-9)
}

/// `3 core figures are`.
fn are(count: usize, what: &str) -> String {
    format!("{} {}", plural(count, what), if count == 1 { "is" } else { "are" })
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Whether any ratio is made of anything but the values that both documents state, so that tables must say of what.
pub(crate) fn is_told(comparison: &Comparison) -> bool {
    comparison.rows.iter().flat_map(|row| &row.ratios).any(|ratio| !ratio.basis.is_value())
}

/// The column of [`basis`]: one word stands in the row, longer ones below it.
pub(super) fn basis_column(comparison: &Comparison) -> Column {
    let mut ratios = comparison.rows.iter().flat_map(|row| &row.ratios);
    let long = ratios.any(|ratio| ratio.basis == RatioBasis::ClockTime);
    Column::new("compared in", if long { ColumnKind::Remark } else { ColumnKind::Words })
}

/// What one ratio is made of: `cycles`, `observed`, `time: cycles 1.20x slower, clock 1.09x slower`.
pub(crate) fn basis(ratio: &Ratio, normalise: Normalise) -> String {
    match (ratio.basis, &ratio.core) {
        (RatioBasis::Value, _) => String::new(),
        (RatioBasis::ClockTime, Some(core)) => {
            let part = |value: f64| {
                let quantity = PrintedQuantity::bare(value, Unit::Ratio);
                if normalise == Normalise::Ratio { quantity.text() } else { factor(quantity, Unit::Seconds).text() }
            };
            format!("time: cycles {}, clock {}", part(core.cycles.value), part(core.clock.value))
        }
        (basis, _) => basis.name().to_owned(),
    }
}
