//! Rows of a comparison.

use compare::{CompareRow as Compared, Comparison, Help, ModeRatio, NeededSamples, Normalise, Ratio, RatioBasis};
use model::{BEYOND_CACHES, Outcome, Verdict, percent};

use super::{clock, definitions, places};
use crate::words::{factor, label, modes, parameter_value, plural};
use crate::{Cell, Column, ColumnKind, PrintedQuantity, TableRow, Tone};

/// Heading of the column of ratios.
pub(crate) const fn ratio_title(normalise: Normalise) -> &'static str {
    match normalise {
        Normalise::Ratio => "ratio",
        Normalise::Gain => "change",
    }
}

/// Two runs: both values, how the one differs, interval, verdict, and where `told` what the ratio is made of.
pub(super) fn pair(row: &Compared, (reference, other): (usize, usize), normalise: Normalise, told: bool) -> TableRow {
    let name = Cell::text(name(row));
    let (Some(base), Some(ratio)) = (row.ratios.get(reference), row.ratios.get(other)) else {
        return TableRow::of(vec![name]);
    };
    let (word, tone) = brief(ratio);
    if !ratio.modes.is_empty() {
        let words = mode_words(row, &ratio.modes, normalise);
        return TableRow::of(vec![name, Cell::Across(format!("{words}; {word}"), tone)]);
    }
    let mut cells = vec![name, value(row, base), value(row, ratio)];
    cells.extend(change(row, ratio, normalise));
    cells.push(Cell::Text(word.to_owned(), tone));
    cells.extend(told.then(|| clock::basis(ratio)));
    TableRow::of(cells)
}

/// The ratio or the factor, and its interval.
pub(crate) fn change(row: &Compared, ratio: &Ratio, normalise: Normalise) -> [Cell; 2] {
    let Some(quantity) = quantity(ratio) else {
        return [Cell::Empty, Cell::Empty];
    };
    let (cell, quantity) = match normalise {
        Normalise::Ratio => (Cell::Value(quantity), quantity),
        Normalise::Gain => {
            let factor = factor(quantity, row.metric.unit);
            (Cell::text(factor.text()), factor.quantity)
        }
    };
    let ends = if quantity.has_interval() { Cell::Interval(quantity) } else { Cell::Empty };
    [cell, ends]
}

/// Columns for the cells of [`change`].
pub(crate) fn change_columns(normalise: Normalise, level: f64) -> [Column; 2] {
    let kind = if normalise == Normalise::Ratio { ColumnKind::Number } else { ColumnKind::Words };
    [Column::new(ratio_title(normalise), kind), Column::number(format!("{} interval", percent(level)))]
}

/// The margin: `2%`, or `2% (±1% in cycles)` where any result is compared in those.
pub(super) fn band(comparison: &Comparison) -> String {
    let band = percent(comparison.band);
    comparison.cycles_band.map_or_else(|| band.clone(), |cycles| format!("{band} (±{} in cycles)", percent(cycles)))
}

/// A ratio in words: the factor and its direction, or the number alone if ratios were requested.
pub(crate) fn words(row: &Compared, quantity: PrintedQuantity, normalise: Normalise) -> String {
    match normalise {
        Normalise::Ratio => quantity.text_with_interval(),
        Normalise::Gain => factor(quantity, row.metric.unit).text_with_interval(),
    }
}

/// Label of a row. Sizes that follow the machine are named in the order of the runs.
pub(crate) fn name(row: &Compared) -> String {
    let elsewhere = places::is_elsewhere(row).then_some(places::ELSEWHERE);
    let marks = definitions::of_row(row).into_iter().chain(elsewhere);
    let mark: String = marks.flat_map(|mark| [' ', mark]).collect();
    let name = format!("{}{mark}", label(&row.title, &row.metric, &row.parameters));
    if row.parameters.get("working_set") != Some(BEYOND_CACHES) {
        return name;
    }
    let size = |ratio: &Ratio| Some(parameter_value("working_set", ratio.parameters.as_ref()?.get("working_set")?));
    let sizes: Vec<String> = row.ratios.iter().filter_map(size).collect();
    format!("{name} ({})", sizes.join(", "))
}

/// Several runs: the reference's value, and a ratio with its verdict for each machine.
pub(super) fn side_by_side(row: &Compared, reference: usize, others: &[usize], normalise: Normalise) -> TableRow {
    let mut cells = vec![Cell::text(name(row))];
    cells.push(row.ratios.get(reference).map_or(Cell::Empty, |base| value(row, base)));
    for other in others {
        let Some(ratio) = row.ratios.get(*other) else { continue };
        cells.push(self::ratio(row, ratio, normalise, Verdict::Inconclusive.word()));
    }
    TableRow::of(cells)
}

/// A ratio with its interval and its verdict; `inconclusive` is the word for that verdict. A ratio that shows the
/// direction of a significant change is printed without its verdict.
pub(super) fn ratio(row: &Compared, ratio: &Ratio, normalise: Normalise, inconclusive: &str) -> Cell {
    let (word, tone) = brief(ratio);
    let word = match ratio.verdict {
        Some(Verdict::Inconclusive) => inconclusive,
        Some(Verdict::Probable(_)) => "(no error bars)",
        Some(verdict @ Verdict::Different(_)) => verdict.word(),
        _ => word,
    };
    match quantity(ratio) {
        Some(quantity) => {
            let text = words(row, quantity, normalise);
            let said = ratio.differs() && text.contains(word);
            let of = match ratio.basis {
                RatioBasis::Cycles | RatioBasis::Raw => format!(" ({})", ratio.basis.name()),
                RatioBasis::Value | RatioBasis::ClockTime | RatioBasis::Clean => String::new(),
            };
            Cell::Text(if said { format!("{text}{of}") } else { format!("{text} {word}{of}") }, tone)
        }
        None if !ratio.modes.is_empty() => Cell::Text(format!("in modes, {word}"), tone),
        None => Cell::Text(word.to_owned(), tone),
    }
}

/// The ratio of a machine, with its interval if it has one.
pub(crate) fn quantity(ratio: &Ratio) -> Option<PrintedQuantity> {
    Some(PrintedQuantity::ratio_with(ratio.value?, ratio.low.zip(ratio.high)))
}

pub(crate) fn value(row: &Compared, ratio: &Ratio) -> Cell {
    let metric = &row.metric;
    let shown = |quantity: PrintedQuantity| quantity.in_metric(metric);
    match &ratio.outcome {
        Some(Outcome::Measured(estimate)) => Cell::Value(shown(PrintedQuantity::of(estimate, metric.unit))),
        Some(Outcome::Below { bound }) => Cell::Below(shown(PrintedQuantity::bare(*bound, metric.unit))),
        Some(Outcome::Modes(_)) => Cell::Text("in modes".to_owned(), Tone::Caution),
        Some(Outcome::NotMeasured(_)) => Cell::Text("not measured".to_owned(), Tone::Muted),
        Some(Outcome::Failed(_)) => Cell::Text("failed".to_owned(), Tone::Bad),
        None => Cell::Text("absent".to_owned(), Tone::Muted),
    }
}

/// The verdict in words.
pub(crate) fn brief(ratio: &Ratio) -> (&'static str, Tone) {
    let tone = match (ratio.verdict, ratio.direction()) {
        (_, Some(direction)) if direction.is_worse() => Tone::Bad,
        (_, Some(_)) => Tone::Good,
        (Some(Verdict::NoChange) | None, None) => Tone::Muted,
        (Some(_), None) => Tone::Caution,
    };
    match ratio.verdict {
        // Not of the machine: its host had moved the CPUs.
        Some(Verdict::Different(_)) if ratio.elsewhere => ("ignore: CPUs moved", Tone::Muted),
        // The values beside it differ, and what runs on the core does not.
        Some(Verdict::NoChange) if by_the_clock(ratio) => ("no change but the clock", tone),
        Some(verdict) => (verdict.word(), tone),
        None => ("no verdict", tone),
    }
}

/// Whether a result takes as many cycles as before, and another time.
fn by_the_clock(ratio: &Ratio) -> bool {
    let time = ratio.core.and_then(|core| core.time.verdict);
    ratio.basis == RatioBasis::Cycles && time.is_some_and(Verdict::differs)
}

/// What would help, in words.
pub(super) const fn help(help: Help) -> &'static str {
    match help {
        Help::LongerRun => "a longer run",
        Help::MoreRuns => "more runs of each machine",
        Help::IdleMachine => "an idle machine",
    }
}

/// What would decide an inconclusive result, or why there is no verdict or interval; `None` if there is nothing to add.
pub(super) fn open(ratio: &Ratio) -> Option<String> {
    if matches!(ratio.verdict, Some(Verdict::Different(_) | Verdict::NoChange)) {
        return None;
    }
    let helps = ratio.help.map(help).unwrap_or_default();
    let need = ratio.need.map(|need| match need {
        NeededSamples::Samples(count) => format!("needs {helps} ({})", plural(count, "more sample")),
        NeededSamples::Sessions(count) => format!("needs about {} per machine", plural(count, "run")),
        NeededSamples::TooClose => format!("too noisy, or too close to the margin; {helps} would help most"),
    });
    need.or_else(|| ratio.reason.clone())
}

/// `mode 2.8 µs vs 2.7 µs (1.03x slower), 31% and 45% of samples`.
fn mode_words(row: &Compared, pairs: &[ModeRatio], normalise: Normalise) -> String {
    let value = |x: f64| PrintedQuantity::bare(x, row.metric.unit).in_metric(&row.metric).short();
    let one = |pair: &ModeRatio| match (pair.reference_value, pair.other_value) {
        (Some(a), Some(b)) => {
            let ratio = pair.value.map(|value| PrintedQuantity::ratio_with(value, pair.low.zip(pair.high)));
            let ratio = ratio.map(|ratio| format!(" [{}]", words(row, ratio, normalise))).unwrap_or_default();
            let shares = format!("{} and {} of samples", percent(pair.reference_share), percent(pair.other_share));
            let differ = if pair.shares_differ { ", a different share" } else { "" };
            format!("mode {} vs {}{ratio}, {shares}{differ}", value(b), value(a))
        }
        (Some(a), None) => format!("mode {} ({} of samples) is gone", value(a), percent(pair.reference_share)),
        (None, Some(b)) => format!("mode {} ({} of samples) is new", value(b), percent(pair.other_share)),
        (None, None) => modes(&[], &row.metric),
    };
    pairs.iter().map(one).collect::<Vec<_>>().join("; ")
}
