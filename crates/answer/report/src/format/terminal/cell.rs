//! Cells as text, measured and, within one unit, aligned at the decimal point.

use std::collections::BTreeMap;

use super::paint::{Paint, clean, fill, fill_left, width};
use crate::document::unit_gap;
use crate::{Cell, TableRow, Tone};

/// A number split at its decimal point.
#[derive(Debug, Clone)]
pub(super) struct Number {
    whole: String,
    /// What stands from the decimal point on: `.4 GB/s`.
    rest: String,
    /// Its unit: only numbers of one unit are aligned with each other.
    unit: String,
}

impl Number {
    fn new(text: &str, unit: &str, mark: &str) -> Self {
        // A percentage that is whole ends where the others have their decimals.
        let end = text.find('.').or_else(|| text.find('%')).unwrap_or(text.len());
        let (whole, decimals) = text.split_at(end);
        let unit = clean(unit);
        let gap = if unit_gap(&unit).is_empty() { "" } else { " " };
        Self { whole: whole.to_owned(), rest: format!("{decimals}{gap}{unit}{mark}"), unit }
    }

    /// One of two ends, whose unit stands beside the value.
    fn end(text: &str, unit: &str) -> Self {
        Self { unit: unit.to_owned(), ..Self::new(text, "", "") }
    }
}

/// A cell as text.
#[derive(Debug, Clone)]
pub(super) enum Drawn {
    None,
    Text(String, Tone),
    Across(String, Tone),
    Number(Number),
    /// Two ends and the remark on them.
    Range(Number, Number, String),
}

impl Drawn {
    pub(super) fn new(row: &TableRow, index: usize) -> Self {
        let cell = row.cells.get(index).unwrap_or(&Cell::Empty);
        if let Some(quantity) = cell.quantity() {
            let digits = quantity.digits();
            let number = |text: &str, mark: &str| Self::Number(Number::new(text, &digits.unit, mark));
            return match cell {
                Cell::Interval(_) if quantity.has_interval() => {
                    let note = quantity.ends_note().map(|note| clean(&note)).unwrap_or_default();
                    let end = |text: &str| Number::end(text, &digits.unit);
                    Self::Range(end(&digits.low), end(&digits.high), note)
                }
                Cell::Interval(_) => Self::Text("no error bars".to_owned(), Tone::Muted),
                Cell::Marked(_, mark) => number(&digits.value, &mark.to_string()),
                Cell::Below(_) => number(&format!("< {}", digits.value), ""),
                _ => number(&digits.value, ""),
            };
        }
        match cell {
            Cell::Text(text, tone) if !text.is_empty() => Self::Text(clean(text), *tone),
            Cell::Heat { text, gain } => Self::Text(clean(text), Cell::gain_tone(*gain)),
            Cell::Link { text, .. } => Self::Text(clean(text), Tone::Plain),
            Cell::Across(text, tone) => Self::Across(clean(text), *tone),
            Cell::Printed(text) => Self::Number(Number::new(&clean(text), "", "")),
            Cell::Count(count) => Self::Number(Number::new(&count.to_string(), "", "")),
            _ => Self::None,
        }
    }
}

impl Drawn {
    /// As [`Drawn::new`], with a shaded factor as its gain alone, without the words that say its way.
    pub(super) fn short(row: &TableRow, index: usize) -> Self {
        match row.cells.get(index) {
            Some(Cell::Heat { gain, .. }) => {
                let decimals = match *gain {
                    gain if gain < 0.1 => 4,
                    gain if gain < 10.0 => 2,
                    gain => usize::from(gain < 100.0),
                };
                Self::Text(format!("{gain:.decimals$}"), Cell::gain_tone(*gain))
            }
            _ => Self::new(row, index),
        }
    }
}

/// Width that the cells of a column need.
#[derive(Debug, Clone, Default)]
pub(super) struct Measure {
    /// Digits before the decimal point and the rest, of the numbers of each unit.
    numbers: BTreeMap<String, [usize; 2]>,
    /// The same of two ends.
    ends: BTreeMap<String, [usize; 4]>,
    note: usize,
    text: usize,
}

impl Measure {
    pub(super) fn add(&mut self, cell: &Drawn) {
        fn grow<const N: usize>(all: &mut BTreeMap<String, [usize; N]>, unit: &str, parts: [&str; N]) {
            let room = all.entry(unit.to_owned()).or_insert([0; N]);
            for (room, part) in room.iter_mut().zip(parts) {
                *room = (*room).max(width(part));
            }
        }
        match cell {
            Drawn::None | Drawn::Across(..) => {}
            Drawn::Text(text, _) => self.text = self.text.max(width(text)),
            Drawn::Number(n) => grow(&mut self.numbers, &n.unit, [&n.whole, &n.rest]),
            Drawn::Range(low, high, note) => {
                grow(&mut self.ends, &low.unit, [&low.whole, &low.rest, &high.whole, &high.rest]);
                self.note = self.note.max(width(note));
            }
        }
    }

    /// Width of numbers and ranges.
    pub(super) fn numbers(&self) -> usize {
        let number = self.numbers.values().map(|parts| parts.iter().sum()).max().unwrap_or(0);
        let ends: usize = self.ends.values().map(|parts| parts.iter().sum()).max().unwrap_or(0);
        let note = if self.note > 0 { self.note + 1 } else { 0 };
        number.max(if ends > 0 { ends + 3 + note } else { 0 })
    }

    /// Width of all cells.
    pub(super) fn all(&self) -> usize {
        self.numbers().max(self.text)
    }

    /// A cell on one line, padded to `room`; numbers are right-aligned.
    pub(super) fn line(&self, cell: &Drawn, room: usize, paint: Paint) -> String {
        let aligned = |n: &Number, [whole, rest]: [usize; 2]| fill_left(&n.whole, whole) + &fill(&n.rest, rest);
        match cell {
            Drawn::None | Drawn::Across(..) => " ".repeat(room),
            Drawn::Text(text, tone) => {
                format!("{}{}", paint.tone(text, *tone), " ".repeat(room.saturating_sub(width(text))))
            }
            Drawn::Number(n) => {
                let parts = self.numbers.get(&n.unit).copied().unwrap_or_default();
                fill_left(&aligned(n, parts), room)
            }
            Drawn::Range(low, high, note) => {
                let [a, b, c, d] = self.ends.get(&low.unit).copied().unwrap_or_default();
                let note = if self.note > 0 { format!(" {}", fill(note, self.note)) } else { String::new() };
                fill_left(&format!("{} – {}{note}", aligned(low, [a, b]), aligned(high, [c, d])), room)
            }
        }
    }
}

/// A cell as plain text, for pages too narrow for columns.
pub(super) fn words(cell: &Drawn) -> String {
    let join = |n: &Number| format!("{}{}", n.whole, n.rest);
    match cell {
        Drawn::None => String::new(),
        Drawn::Text(text, _) | Drawn::Across(text, _) => text.clone(),
        Drawn::Number(n) => join(n),
        Drawn::Range(low, high, note) => {
            format!("{} – {}{}{note}", join(low), join(high), if note.is_empty() { "" } else { " " })
        }
    }
}
