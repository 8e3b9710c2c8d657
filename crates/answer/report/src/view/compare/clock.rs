//! The clocks that the runs showed, and on what their results are compared.

use compare::{CompareRow, CompareVerdict, Comparison, Normalise, Ratio, RatioBasis, Relation};
use model::{Outcome, Unit, percent};

use super::BESIDE;
use crate::words::{capital, factor, no_clock, plural};
use crate::{Column, ColumnKind, PrintedQuantity};

/// One sentence a run on its clock against the reference's, of many runs one for all, and one on what follows for the
/// results; nothing where no references were read.
pub(crate) fn notes(comparison: &Comparison, reference: usize, others: &[usize]) -> Vec<String> {
    let told: Vec<ClockNote<'_>> = others.iter().filter_map(|other| against(comparison, reference, *other)).collect();
    let mut notes = match told.len() {
        0..=BESIDE => told.iter().map(|note| note.sentence(comparison)).collect(),
        _ => vec![of_many(comparison, &told)],
    };
    notes.extend(unknown(comparison).map(|(name, reason)| format!("The clock of {name} is not known: {reason}")));
    notes.extend(bases(comparison, others));
    notes
}

/// Runs whose readings tell no clock, and why.
fn unknown(comparison: &Comparison) -> impl Iterator<Item = (&str, String)> {
    let row = comparison.conditions.iter().find(|row| row.benchmark == model::CLOCK);
    let machines = comparison.machines.iter().zip(row.into_iter().flat_map(|row| &row.ratios));
    machines.filter_map(|(machine, ratio)| {
        let estimate = ratio.outcome.as_ref().and_then(Outcome::estimate)?;
        Some((machine.name.as_str(), no_clock(estimate)?))
    })
}

/// A run's clock against the reference's.
struct ClockNote<'a> {
    name: &'a str,
    change: PrintedQuantity,
    hertz: f64,
    reference: f64,
    verdict: Option<CompareVerdict>,
}

impl ClockNote<'_> {
    /// `The clock of b: 1.04x slower (1.03 – 1.05), 2.50 against 2.60 GHz, DIFFERENT`.
    fn sentence(&self, comparison: &Comparison) -> String {
        let verdict = self.verdict.and_then(word).map(|word| format!(", {word}")).unwrap_or_default();
        let whose = if comparison.machines.len() > 2 { format!(" of {}", self.name) } else { String::new() };
        format!(
            "The clock{whose}: {}, {} against {}{verdict}",
            factor(self.change, Unit::Seconds).text_with_interval(),
            gigahertz(self.hertz),
            gigahertz(self.reference)
        )
    }
}

fn word(verdict: CompareVerdict) -> Option<&'static str> {
    match verdict {
        CompareVerdict::Different => Some("DIFFERENT"),
        CompareVerdict::Same => Some("SAME"),
        CompareVerdict::Undecided => Some("UNDECIDED"),
        CompareVerdict::DifferentSpreadAssumed => None,
    }
}

/// The clocks of many runs, such as "The clocks of 59 runs: 2.50 GHz to 2.60 GHz, against 2.60 GHz of a; DIFFERENT 1 (b
/// 1.04x slower), SAME 2, UNDECIDED 56".
fn of_many(comparison: &Comparison, notes: &[ClockNote<'_>]) -> String {
    let ends = |pick: fn(f64, f64) -> f64| notes.iter().map(|note| note.hertz).reduce(pick).unwrap_or(f64::NAN);
    let (low, high) = (gigahertz(ends(f64::min)), gigahertz(ends(f64::max)));
    let range = if low == high { low } else { format!("{low} to {high}") };
    let against = notes.first().map(|note| gigahertz(note.reference)).unwrap_or_default();
    let count = |verdict: CompareVerdict| {
        let found: Vec<&ClockNote<'_>> = notes.iter().filter(|note| note.verdict == Some(verdict)).collect();
        let named = found.iter().take(if verdict == CompareVerdict::Different { BESIDE } else { 0 });
        let mut named: Vec<String> =
            named.map(|note| format!("{} {}", note.name, factor(note.change, Unit::Seconds).text())).collect();
        let more = found.len() - named.len();
        if !named.is_empty() && more > 0 {
            named.push(format!("and {more} more"));
        }
        let named = if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) };
        (!found.is_empty()).then(|| format!("{} {}{named}", word(verdict).unwrap_or_default(), found.len()))
    };
    let verdicts = [CompareVerdict::Different, CompareVerdict::Same, CompareVerdict::Undecided];
    let told: Vec<String> = verdicts.into_iter().filter_map(count).collect();
    let told = if told.is_empty() { String::new() } else { format!("; {}", told.join(", ")) };
    format!("The clocks of {} runs: {range}, against {against} of {}{told}", notes.len(), comparison.reference)
}

fn against(comparison: &Comparison, reference: usize, other: usize) -> Option<ClockNote<'_>> {
    let (base, machine) = (comparison.machines.get(reference)?, comparison.machines.get(other)?);
    if machine.relation == Relation::SameRun {
        return None;
    }
    if unknown(comparison).any(|(name, _)| [&base.name, &machine.name].into_iter().any(|known| known == name)) {
        return None;
    }
    let (from, to) = (base.clock?, machine.clock?);
    let tested =
        comparison.conditions.iter().find(|row| row.benchmark == model::CLOCK).and_then(|row| row.ratios.get(other));
    // Where the clock is a row of the table, the note says what the row does.
    let ends = tested.and_then(|row| Some((row.value?, row.low.zip(row.high))));
    let (value, ends) = match (ends, to.ratio) {
        (Some(ends), _) => ends,
        (None, ratio) => ratio.map(|ratio| (ratio.value, ratio.low.zip(ratio.high)))?,
    };
    Some(ClockNote {
        name: &machine.name,
        change: PrintedQuantity::ratio_with(value, ends),
        hertz: to.shown.hertz,
        reference: from.shown.hertz,
        verdict: tested.and_then(|ratio| ratio.verdict),
    })
}

/// What the results are compared and printed in.
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
            "{} judged in cycles, which a clock does not change (±{} counts as the same)",
            are(cycles, "core result"),
            percent(band)
        ));
    }
    let timed = count(RatioBasis::ClockTime);
    if timed > 0 {
        said.push(format!(
            "{} compared as time, with the error of both clocks in the interval",
            are(timed, "core result")
        ));
    }
    let raw = count(RatioBasis::Raw);
    if raw > 0 {
        said.push(format!(
            "{} compared by raw values, neighbours and clock steps included, since not both runs have clean ones",
            are(raw, "result")
        ));
    }
    (!said.is_empty()).then(|| capital(&said.join("; ")))
}

fn gigahertz(hertz: f64) -> String {
    format!("{:.2} GHz", hertz * 1e-9)
}

/// `3 core results are`.
fn are(count: usize, what: &str) -> String {
    format!("{} {}", plural(count, what), if count == 1 { "is" } else { "are" })
}

/// Whether any ratio is made of anything but the values that both documents state, so that tables must say of what.
pub(crate) fn is_told(comparison: &Comparison) -> bool {
    comparison.rows.iter().flat_map(|row| &row.ratios).any(|ratio| !ratio.basis.is_value())
}

/// The column of [`basis`]: one word stands in the row, longer ones below it.
pub(super) fn basis_column(comparison: &Comparison) -> Column {
    let mut ratios = comparison.rows.iter().flat_map(|row| &row.ratios);
    let long = ratios.any(|ratio| matches!(ratio.basis, RatioBasis::ClockTime | RatioBasis::Cycles));
    Column::new("compared in", if long { ColumnKind::Remark } else { ColumnKind::Words })
}

/// What a verdict is about: `raw`, `cycles 1.20x slower (1.18 – 1.22)`, `time: cycles 1.20x slower, clock 1.09x
/// slower`.
pub(crate) fn basis(ratio: &Ratio, normalise: Normalise) -> String {
    let part = |quantity: PrintedQuantity| match normalise {
        Normalise::Ratio => quantity.text_with_interval(),
        Normalise::Gain => factor(quantity, Unit::Seconds).text_with_interval(),
    };
    match (ratio.basis, &ratio.core) {
        (RatioBasis::Value, _) => String::new(),
        (RatioBasis::Cycles, Some(core)) => {
            let ends = core.cycles.low.zip(core.cycles.high);
            format!("cycles {}", part(PrintedQuantity::ratio_with(core.cycles.value, ends)))
        }
        (RatioBasis::ClockTime, Some(core)) => {
            let [cycles, clock] =
                [core.cycles, core.clock].map(|one| part(PrintedQuantity::bare(one.value, Unit::Ratio)));
            format!("time: cycles {cycles}, clock {clock}")
        }
        (basis, _) => basis.name().to_owned(),
    }
}
