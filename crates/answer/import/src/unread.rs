//! Which numbers of a source were understood: what is not read must be seen, not only what is.

use std::cell::RefCell;

use crate::text::{lines, one_line};

/// Positions of the numbers of a source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NumberPlace {
    /// In lines.
    #[default]
    Lines,
    /// In members of JSON, counted by their names: all items of a list have the same.
    Members,
}

/// Places of a source with numbers that no importer's rule took.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnreadNumbers {
    /// What is counted.
    pub place: NumberPlace,
    /// How many.
    pub count: usize,
    /// The first: number from 1 and text of a line, or the path of a member.
    pub first: Option<String>,
}

impl UnreadNumbers {
    /// One sentence; none when everything was understood.
    #[must_use]
    pub fn sentence(&self) -> Option<String> {
        let first = self.first.as_ref()?;
        Some(match (self.place, self.count) {
            (NumberPlace::Lines, 1) => format!("1 line with numbers is not parsed: {first}"),
            (NumberPlace::Lines, count) => {
                format!("{count} lines with numbers are not parsed; the first is {first}")
            }
            (NumberPlace::Members, 1) => format!("1 JSON member with numbers is not parsed: {first}"),
            (NumberPlace::Members, count) => {
                format!("{count} JSON members with numbers are not parsed; the first is {first}")
            }
        })
    }
}

/// Notes the lines that a parser took.
#[derive(Debug, Default)]
pub(crate) struct LineLedger {
    taken: RefCell<Vec<u64>>,
    members: RefCell<Option<UnreadNumbers>>,
}

impl LineLedger {
    /// The line was understood, or is known to state nothing to keep.
    pub(crate) fn took(&self, line: usize) {
        let mut taken = self.taken.borrow_mut();
        let word = line / 64;
        if taken.len() <= word {
            taken.resize(word + 1, 0);
        }
        taken[word] |= 1 << (line % 64);
    }

    /// Members of JSON that were skipped; those of several texts of one source add up.
    pub(crate) fn skipped(&self, count: usize, first: Option<String>) {
        let mut members = self.members.borrow_mut();
        let found =
            members.get_or_insert_with(|| UnreadNumbers { place: NumberPlace::Members, ..UnreadNumbers::default() });
        found.count += count;
        found.first = found.first.take().or(first);
    }

    /// Members with numbers that were skipped, if the source was read as JSON.
    pub(crate) fn members(&self) -> Option<UnreadNumbers> {
        self.members.borrow().clone()
    }

    /// Whether any line was taken.
    pub(crate) fn has_any(&self) -> bool {
        !self.taken.borrow().is_empty()
    }

    /// Whether the line was taken.
    pub(crate) fn has(&self, line: usize) -> bool {
        self.taken.borrow().get(line / 64).is_some_and(|word| word & (1 << (line % 64)) != 0)
    }

    /// Lines with numbers that were not taken.
    pub(crate) fn unread(&self, text: &str) -> UnreadNumbers {
        let mut unread = UnreadNumbers::default();
        for (at, line) in lines(text).filter(|(at, line)| !self.has(*at) && states_number(line)) {
            unread.count += 1;
            if unread.first.is_none() {
                unread.first = Some(format!("line {at}: {}", one_line(line.trim(), 80)));
            }
        }
        unread
    }
}

/// Whether a word of the line begins as a number does.
fn states_number(line: &str) -> bool {
    line.split(|c: char| c.is_whitespace() || ",;:=|()[]{}\"'<>".contains(c))
        .any(|word| word.trim_start_matches(['+', '-', '.']).starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_numbers_are_counted_unless_taken() {
        let ledger = LineLedger::default();
        let text = "Title v2\nrate: 5\n  (-0.3)\nx86_64\nn=7\n";
        assert_eq!(ledger.unread(text).count, 3);
        ledger.took(2);
        let unread = ledger.unread(text);
        assert_eq!((unread.count, unread.first), (2, Some("line 3: (-0.3)".to_owned())));
        ledger.took(300);
        assert!(UnreadNumbers::default().sentence().is_none());
    }
}
