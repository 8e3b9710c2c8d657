//! Rows of a comparison.

use analyse::compare::{Direction, ModeRatio, Need, Normalise, Ratio, Row as Compared, Verdict};
use model::{Outcome, Unit};

use crate::words::{label, modes, percent, plural};
use crate::{Cell, Quantity, Row, Scale, Tone};

/// What the column of ratios is called.
pub(crate) const fn ratio_title(normalise: Normalise) -> &'static str {
    match normalise {
        Normalise::Ratio => "ratio",
        Normalise::Gain => "times better",
    }
}

/// Two runs: both values, ratio, interval, verdict.
pub(super) fn pair(row: &Compared, reference: usize, other: usize) -> Row {
    let unit = row.metric.unit;
    let name = Cell::text(name(row));
    let (Some(base), Some(ratio)) = (row.ratios.get(reference), row.ratios.get(other)) else {
        return Row { cells: vec![name] };
    };
    let (word, tone) = brief(ratio);
    if !ratio.modes.is_empty() {
        return Row { cells: vec![name, Cell::Across(format!("{}; {word}", mode_words(&ratio.modes, unit)), tone)] };
    }
    let mut cells = vec![name, value(base, unit), value(ratio, unit)];
    match quantity(ratio) {
        Some(quantity) => cells.extend([Cell::Value(quantity), Cell::Interval(quantity)]),
        None => cells.extend([Cell::Empty, Cell::Empty]),
    }
    cells.push(Cell::Text(word.to_owned(), tone));
    Row { cells }
}

/// What a row is called.
pub(crate) fn name(row: &Compared) -> String {
    label(&row.title, &row.metric, &row.point)
}

/// Several runs: the reference's value, and a ratio with its verdict a machine.
pub(super) fn side_by_side(row: &Compared, reference: usize, others: &[usize]) -> Row {
    let unit = row.metric.unit;
    let mut cells = vec![Cell::text(name(row))];
    cells.push(row.ratios.get(reference).map_or(Cell::Empty, |base| value(base, unit)));
    for other in others {
        let Some(ratio) = row.ratios.get(*other) else { continue };
        cells.push(self::ratio(ratio, "undecided"));
    }
    Row { cells }
}

/// A ratio with its interval and its verdict; `undecided` is the word for the verdict that says the least.
pub(super) fn ratio(ratio: &Ratio, undecided: &str) -> Cell {
    let (word, tone) = brief(ratio);
    let word = if ratio.verdict == Some(Verdict::Undecided) { undecided } else { word };
    match quantity(ratio) {
        Some(quantity) => Cell::Text(format!("{} {word}", quantity.text_with_interval()), tone),
        None if !ratio.modes.is_empty() => Cell::Text(format!("in modes, {word}"), tone),
        None => Cell::Text(word.to_owned(), tone),
    }
}

/// The ratio of a machine, with its interval where it has one.
pub(crate) fn quantity(ratio: &Ratio) -> Option<Quantity> {
    let value = ratio.value?;
    Some(match (ratio.low, ratio.high) {
        (Some(low), Some(high)) => Quantity::ratio(value, low, high),
        _ => Quantity::bare(value, Unit::Ratio),
    })
}

pub(super) fn value(ratio: &Ratio, unit: Unit) -> Cell {
    match &ratio.outcome {
        Some(Outcome::Measured(estimate)) => Cell::Value(Quantity::of(estimate, unit)),
        Some(Outcome::Below { bound }) => Cell::Below(Quantity::bare(*bound, unit)),
        Some(Outcome::Modes(_)) => Cell::Text("in modes".to_owned(), Tone::Caution),
        Some(Outcome::Unfit(_)) => Cell::Text("not measured".to_owned(), Tone::Muted),
        Some(Outcome::Failed(_)) => Cell::Text("failed".to_owned(), Tone::Bad),
        None => Cell::Text("absent".to_owned(), Tone::Muted),
    }
}

pub(crate) const fn brief(ratio: &Ratio) -> (&'static str, Tone) {
    match (ratio.verdict, ratio.direction) {
        (Some(Verdict::Different), Some(Direction::Faster)) => ("faster", Tone::Good),
        (Some(Verdict::Different), Some(Direction::Better)) => ("better", Tone::Good),
        (Some(Verdict::Different), Some(Direction::Slower)) => ("slower", Tone::Bad),
        (Some(Verdict::Different), Some(Direction::Worse)) => ("worse", Tone::Bad),
        (Some(Verdict::Different), None) => ("different", Tone::Caution),
        (Some(Verdict::Same), _) => ("same", Tone::Muted),
        (Some(Verdict::Undecided), _) => ("undecided", Tone::Caution),
        (None, _) => ("no verdict", Tone::Muted),
    }
}

/// What would decide an undecided figure, or why there is no verdict or no interval; nothing where all is said.
pub(super) fn open(ratio: &Ratio) -> Option<String> {
    let need = ratio.need.map(|need| match need {
        Need::Launches(1) => "1 more launch would decide".to_owned(),
        Need::Launches(count) => format!("{count} more launches would decide"),
        Need::Sessions(count) => format!("{} of each machine would decide", plural(count, "session")),
        Need::TooClose => "too close to the edge of \"the same\" to decide".to_owned(),
    });
    need.or_else(|| ratio.reason.clone())
}

/// `2.7 µs became 2.8 µs (ratio 1.03), launches in it 31% and 45%`.
fn mode_words(pairs: &[ModeRatio], unit: Unit) -> String {
    let value = |x: f64| Quantity::bare(x, unit).short();
    let one = |pair: &ModeRatio| match (pair.reference_value, pair.other_value) {
        (Some(a), Some(b)) => {
            let ratio = match (pair.value, pair.low, pair.high) {
                (Some(v), Some(l), Some(h)) => {
                    let digits = Quantity::ratio(v, l, h).digits(Scale::of(Unit::Ratio, v));
                    format!(" (ratio {}, {} – {})", digits.value, digits.low, digits.high)
                }
                (Some(v), _, _) => format!(" (ratio {})", Quantity::bare(v, Unit::Ratio).short()),
                _ => String::new(),
            };
            let shares = format!("{} and {} of launches", percent(pair.reference_share), percent(pair.other_share));
            let differ = if pair.shares_differ { ", surely not the same share" } else { "" };
            format!("mode {} against {}{ratio}, {shares}{differ}", value(b), value(a))
        }
        (Some(a), None) => format!("mode {} ({} of launches) is gone", value(a), percent(pair.reference_share)),
        (None, Some(b)) => format!("mode {} ({} of launches) is new", value(b), percent(pair.other_share)),
        (None, None) => modes(&[], unit),
    };
    pairs.iter().map(one).collect::<Vec<_>>().join("; ")
}
