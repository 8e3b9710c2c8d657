//! The clocks that the runs showed, and on what their results are compared.

use compare::{CompareRow, Comparison, Ratio, RatioBasis, Relation};
use model::{Outcome, Unit, Verdict, percent};

use super::BESIDE;
use crate::words::{capital, factor, grouped, no_clock, plural};
use crate::{Cell, PrintedQuantity, Tone};

/// One sentence a run on its clock against the reference's, of many runs one for all, and one on what follows for the
/// results; nothing where no references were read. A brief comparison has only clocks that differ.
pub(crate) fn notes(comparison: &Comparison, reference: usize, others: &[usize], brief: bool) -> Vec<String> {
    let mut told: Vec<ClockNote<'_>> =
        others.iter().filter_map(|other| against(comparison, reference, *other)).collect();
    if brief && told.len() <= BESIDE {
        told.retain(|note| !matches!(note.verdict, Some(Verdict::NoChange | Verdict::Inconclusive)));
    }
    let mut notes = match told.len() {
        0..=BESIDE => told.iter().map(|note| note.sentence(comparison)).collect(),
        _ => vec![of_many(comparison, &told)],
    };
    notes.extend(unknown(comparison).map(|(name, reason)| format!("CPU clock of {name} unknown: {reason}")));
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
    verdict: Option<Verdict>,
}

impl ClockNote<'_> {
    /// `CPU clock: 2.50 vs 2.60 GHz, 1.04x lower (1.03 – 1.05)`; a verdict that is no change in `lower` is added.
    fn sentence(&self, comparison: &Comparison) -> String {
        let verdict = match self.verdict {
            Some(verdict @ (Verdict::NoChange | Verdict::Inconclusive)) => format!(", {}", verdict.word()),
            _ => String::new(),
        };
        let whose = if comparison.machines.len() > 2 { format!(" of {}", self.name) } else { String::new() };
        let (hertz, reference) = (gigahertz(self.hertz), gigahertz(self.reference));
        format!(
            "CPU clock{whose}: {hertz} vs {reference}, {}{verdict}",
            height(&factor(self.change, Unit::Seconds).text_with_interval())
        )
    }
}

/// A clock is higher or lower.
fn height(factor: &str) -> String {
    factor.replace("slower", "lower").replace("faster", "higher")
}

/// The clocks of many runs, such as "CPU clocks of 59 runs: 2.50 GHz to 2.60 GHz vs 2.60 GHz of a; 1 lower (b 1.04x
/// lower), 2 no change, 56 inconclusive".
fn of_many(comparison: &Comparison, notes: &[ClockNote<'_>]) -> String {
    let ends = |pick: fn(f64, f64) -> f64| notes.iter().map(|note| note.hertz).reduce(pick).unwrap_or(f64::NAN);
    let (low, high) = (gigahertz(ends(f64::min)), gigahertz(ends(f64::max)));
    let range = if low == high { low } else { format!("{low} to {high}") };
    let against = notes.first().map(|note| gigahertz(note.reference)).unwrap_or_default();
    let mut told = Vec::new();
    for (word, verdict) in grouped(notes.iter().filter_map(|note| Some((note.verdict?.word(), note)))) {
        let named: Vec<String> = verdict
            .iter()
            .filter(|note| note.verdict.is_some_and(Verdict::differs))
            .map(|note| format!("{} {}", note.name, height(&factor(note.change, Unit::Seconds).text())))
            .collect();
        let more = named.len().saturating_sub(BESIDE);
        let mut shown: Vec<String> = named.into_iter().take(BESIDE).collect();
        shown.extend((more > 0).then(|| format!("and {more} more")));
        let shown = if shown.is_empty() { String::new() } else { format!(" ({})", shown.join(", ")) };
        told.push(format!("{} {}{shown}", verdict.len(), height(word)));
    }
    let told = if told.is_empty() { String::new() } else { format!("; {}", told.join(", ")) };
    format!("CPU clocks of {} runs: {range} vs {against} of {}{told}", notes.len(), comparison.reference)
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
            "{} compared in cycles, so clock speed cancels out (median over all pairs of samples, margin ±{})",
            are(cycles, "CPU-bound result"),
            percent(band)
        ));
    }
    let timed = count(RatioBasis::ClockTime);
    if timed > 0 {
        said.push(format!(
            "{} compared as time; the intervals include the error of both clocks",
            are(timed, "CPU-bound result")
        ));
    }
    let raw = count(RatioBasis::Raw);
    if raw > 0 {
        said.push(format!(
            "{} compared by raw values, interference included, because a run has no clean value",
            are(raw, "result")
        ));
    }
    (!said.is_empty()).then(|| capital(&said.join(". ")))
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

/// What a ratio is made of, in a word: `raw`, `clean`, `cycles` or `time`; nothing for values as both documents state
/// them.
pub(super) fn basis(ratio: &Ratio) -> Cell {
    let word = if ratio.basis.is_value() { "" } else { ratio.basis.name() };
    Cell::Text(word.to_owned(), Tone::Muted)
}
