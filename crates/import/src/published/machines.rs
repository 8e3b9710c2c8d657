//! The machines of an evaluation, gathered over its tables.

use model::{Fact, Primitive};

use crate::sheet::{Reading, Sheet, number, text};

/// One machine: the label that it goes by and what is printed of it.
pub(crate) struct Entry {
    key: String,
    pub(crate) label: String,
    pub(crate) sheet: Sheet,
}

/// Machines in the order in which the tables first name them.
#[derive(Default)]
pub(crate) struct Machines {
    pub(crate) entries: Vec<Entry>,
}

impl Machines {
    /// The machine of a key, made with the label when it is new.
    pub(crate) fn of(&mut self, key: &str, label: &str) -> &mut Entry {
        let at = self.entries.iter().position(|entry| entry.key == key).unwrap_or_else(|| {
            let sheet = Sheet { machine: label.to_owned(), ..Sheet::default() };
            self.entries.push(Entry { key: key.to_owned(), label: label.to_owned(), sheet });
            self.entries.len() - 1
        });
        &mut self.entries[at]
    }
}

impl Entry {
    /// Adds a figure.
    pub(crate) fn add(&mut self, reading: Reading) {
        self.sheet.readings.push(reading);
    }

    /// Adds a fact in words, once.
    pub(crate) fn says(&mut self, name: &str, value: &str, source: &str, affects: &[Primitive]) {
        if let Some(fact) = text(name, value, source, affects) {
            self.fact(fact);
        }
    }

    /// Adds a fact in numbers, once.
    pub(crate) fn counts(&mut self, name: &str, value: f64, unit: &str, source: &str, affects: &[Primitive]) {
        self.fact(number(name, value, unit, source, affects));
    }

    fn fact(&mut self, fact: Fact) {
        if !self.sheet.facts.iter().any(|known| known.name == fact.name && known.value == fact.value) {
            self.sheet.facts.push(fact);
        }
    }

    /// Adds a note on all figures, once.
    pub(crate) fn note(&mut self, note: &str) {
        if !self.sheet.notes.iter().any(|known| known == note) {
            self.sheet.notes.push(note.to_owned());
        }
    }
}

/// The clock that a machine's name tells, in hertz: `Sun Ultra60/360 MHz`, `AMD Athlon 1.2 GHz`, `1.266GHz`.
pub(crate) fn clock(name: &str) -> Option<f64> {
    let (at, scale) = [("MHz", 1e6), ("GHz", 1e9)].iter().find_map(|(unit, scale)| Some((name.find(unit)?, *scale)))?;
    let before = name[..at].trim_end();
    let start = before.rfind(|c: char| !c.is_ascii_digit() && c != '.').map_or(0, |i| i + 1);
    before[start..].parse::<f64>().ok().map(|number| number * scale)
}

/// A name that is easy to type: lower case, every run of other characters one hyphen, dots kept.
pub(crate) fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() || c == '.' {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_clocks() {
        assert_eq!(clock("Sun Ultra60/360 MHz"), Some(360e6));
        assert_eq!(clock("AMD Athlon 1800MP dual-CPU 1.53 GHz"), Some(1.53e9));
        assert_eq!(clock("Intel PIII-512 dual-CPU 1.266GHz (projected)"), Some(1.266e9));
        assert_eq!(clock("HP K210"), None);
    }

    #[test]
    fn slugs_are_plain() {
        assert_eq!(slug("Intel PPro/200 MHz (512kB L2)"), "intel-ppro-200-mhz-512kb-l2");
        assert_eq!(slug("appserver.geo"), "appserver.geo");
    }
}
