//! The machines of an evaluation, collected over its tables.

use std::collections::HashMap;

use model::{Fact, Primitive};

use crate::sheet::{SourceReading, SourceSheet, number, text};

/// One machine: its label and its printed data.
pub(crate) struct PublishedMachine {
    pub(crate) label: String,
    pub(crate) sheet: SourceSheet,
}

/// Machines in the order in which the tables first name them.
#[derive(Default)]
pub(crate) struct Machines {
    pub(crate) entries: Vec<PublishedMachine>,
    /// Places of the labels.
    places: HashMap<String, usize>,
}

impl Machines {
    /// The machine of a label, created if it is new.
    pub(crate) fn of(&mut self, label: &str) -> &mut PublishedMachine {
        let at = self.places.get(label).copied().unwrap_or_else(|| {
            self.places.insert(label.to_owned(), self.entries.len());
            let sheet = SourceSheet { machine: label.to_owned(), ..SourceSheet::default() };
            self.entries.push(PublishedMachine { label: label.to_owned(), sheet });
            self.entries.len() - 1
        });
        &mut self.entries[at]
    }
}

impl PublishedMachine {
    /// Adds a result.
    pub(crate) fn add(&mut self, reading: SourceReading) {
        self.sheet.readings.push(reading);
    }

    /// Adds a fact as text, once; an empty text adds none.
    pub(crate) fn says(&mut self, name: &str, value: &str, source: &str, affects: &[Primitive]) {
        if let Some(fact) = text(name, value, source, affects) {
            self.fact(fact);
        }
    }

    /// Adds a fact as a number, once.
    pub(crate) fn counts(&mut self, name: &str, value: f64, unit: &str, source: &str, affects: &[Primitive]) {
        self.fact(number(name, value, unit, source, affects));
    }

    fn fact(&mut self, fact: Fact) {
        if !self.sheet.facts.iter().any(|known| known.name == fact.name && known.value == fact.value) {
            self.sheet.facts.push(fact);
        }
    }

    /// Adds a note on all results, once.
    pub(crate) fn note(&mut self, note: &str) {
        if !self.sheet.notes.iter().any(|known| known == note) {
            self.sheet.notes.push(note.to_owned());
        }
    }
}

/// A name that is easy to type: lower case, every run of other characters becomes one hyphen, dots are kept.
pub(crate) fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars() {
        if c.is_alphanumeric() || c == '.' {
            slug.extend(c.to_lowercase());
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
    fn slugs_are_plain() {
        assert_eq!(slug("Intel PPro/200 MHz (512kB L2)"), "intel-ppro-200-mhz-512kb-l2");
        assert_eq!(slug("appserver.geo"), "appserver.geo");
    }
}
