//! Cells as text, measured and aligned at the decimal point.

use super::paint::{Paint, clean, fill, fill_left, width};
use crate::document::unit_gap;
use crate::{Cell, TableRow, Tone};

/// A number split at its decimal point.
#[derive(Debug, Clone)]
pub(super) struct Number {
    whole: String,
    rest: String,
    unit: String,
}

impl Number {
    fn new(text: &str, unit: &str) -> Self {
        // A percentage that is whole ends where the others have their sets of parameters.
        let end = text.find('.').or_else(|| text.find('%')).unwrap_or(text.len());
        let (whole, rest) = text.split_at(end);
        Self { whole: whole.to_owned(), rest: rest.to_owned(), unit: unit.to_owned() }
    }

    /// What stands from the decimal point on: `.4 GB/s`.
    fn tail(&self) -> String {
        let gap = if unit_gap(&self.unit).is_empty() { "" } else { " " };
        format!("{}{gap}{}", self.rest, self.unit)
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
            let digits = quantity.digits(row.scale(quantity));
            return match cell {
                Cell::Interval(_) if quantity.has_interval() => {
                    let note = quantity.ends_note().map(|note| clean(&note)).unwrap_or_default();
                    Self::Range(Number::new(&digits.low, ""), Number::new(&digits.high, ""), note)
                }
                Cell::Interval(_) => Self::Text("no error bars".to_owned(), Tone::Muted),
                Cell::Marked(_, mark) => Self::Number(Number::new(&digits.value, &format!("{}{mark}", digits.unit))),
                Cell::Below(_) => Self::Number(Number::new(&format!("< {}", digits.value), digits.unit)),
                _ => Self::Number(Number::new(&digits.value, digits.unit)),
            };
        }
        match cell {
            Cell::Text(text, tone) if !text.is_empty() => Self::Text(clean(text), *tone),
            Cell::Heat { text, gain } => Self::Text(clean(text), Cell::gain_tone(*gain)),
            Cell::Across(text, tone) => Self::Across(clean(text), *tone),
            Cell::Printed(text) => Self::Number(Number::new(&clean(text), "")),
            Cell::Count(count) => Self::Number(Number::new(&count.to_string(), "")),
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
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Measure {
    /// Digits before the decimal point; the rest with its unit, which stands where the number ends.
    number: [usize; 2],
    low: [usize; 2],
    high: [usize; 2],
    note: usize,
    text: usize,
}

impl Measure {
    pub(super) fn add(&mut self, cell: &Drawn) {
        fn grow<const N: usize>(room: &mut [usize; N], parts: [&str; N]) {
            for (room, part) in room.iter_mut().zip(parts) {
                *room = (*room).max(width(part));
            }
        }
        match cell {
            Drawn::None | Drawn::Across(..) => {}
            Drawn::Text(text, _) => self.text = self.text.max(width(text)),
            Drawn::Number(n) => grow(&mut self.number, [&n.whole, &n.tail()]),
            Drawn::Range(low, high, note) => {
                grow(&mut self.low, [&low.whole, &low.rest]);
                grow(&mut self.high, [&high.whole, &high.rest]);
                self.note = self.note.max(width(note));
            }
        }
    }

    /// Width of numbers and ranges.
    pub(super) fn numbers(&self) -> usize {
        let number: usize = self.number.iter().sum();
        let ends: usize = self.low.iter().chain(&self.high).sum();
        let note = if self.note > 0 { self.note + 1 } else { 0 };
        number.max(if ends > 0 { ends + 3 + note } else { 0 })
    }

    /// Width of all cells.
    pub(super) fn all(&self) -> usize {
        self.numbers().max(self.text)
    }

    /// A cell on one line, padded to `room`; numbers are right-aligned.
    pub(super) fn line(&self, cell: &Drawn, room: usize, paint: Paint) -> String {
        let [whole, rest] = self.number;
        match cell {
            Drawn::None | Drawn::Across(..) => " ".repeat(room),
            Drawn::Text(text, tone) => {
                format!("{}{}", paint.tone(text, *tone), " ".repeat(room.saturating_sub(width(text))))
            }
            Drawn::Number(n) => {
                let text = fill_left(&n.whole, whole) + &fill(&n.tail(), rest);
                fill_left(&text, room)
            }
            Drawn::Range(low, high, note) => {
                let note = if self.note > 0 { format!(" {}", fill(note, self.note)) } else { String::new() };
                let low = fill_left(&low.whole, self.low[0]) + &fill(&low.rest, self.low[1]);
                let high = fill_left(&high.whole, self.high[0]) + &fill(&high.rest, self.high[1]);
                fill_left(&format!("{low} – {high}{note}"), room)
            }
        }
    }
}

/// A cell as plain text, for pages too narrow for columns.
pub(super) fn words(cell: &Drawn) -> String {
    let join = |n: &Number| format!("{}{}", n.whole, n.tail());
    match cell {
        Drawn::None => String::new(),
        Drawn::Text(text, _) | Drawn::Across(text, _) => text.clone(),
        Drawn::Number(n) => join(n),
        Drawn::Range(low, high, note) => {
            format!("{} – {}{}{note}", join(low), join(high), if note.is_empty() { "" } else { " " })
        }
    }
}
