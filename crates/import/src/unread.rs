//! Which lines of a source were understood: what is not read must be seen, not only what is.

use std::cell::RefCell;

use crate::text::{lines, one_line};

/// Lines of a source with numbers that no importer's rule took.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnreadLines {
    /// How many.
    pub count: usize,
    /// Number from 1 and text of the first one.
    pub first: Option<(usize, String)>,
}

impl UnreadLines {
    /// One sentence for a note; none when everything was understood.
    pub(crate) fn sentence(&self) -> Option<String> {
        let (line, text) = self.first.as_ref()?;
        let what = if self.count == 1 { "line with numbers was" } else { "lines with numbers were" };
        Some(format!("{} {what} not understood; the first is line {line}: {text}", self.count))
    }
}

/// Notes the lines that a parser took.
#[derive(Debug, Default)]
pub(crate) struct LineLedger {
    taken: RefCell<Vec<u64>>,
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

    fn has(&self, line: usize) -> bool {
        self.taken.borrow().get(line / 64).is_some_and(|word| word & (1 << (line % 64)) != 0)
    }

    /// Lines with numbers that were not taken.
    pub(crate) fn unread(&self, text: &str) -> UnreadLines {
        let mut unread = UnreadLines::default();
        for (at, line) in lines(text).filter(|(at, line)| !self.has(*at) && states_number(line)) {
            unread.count += 1;
            if unread.first.is_none() {
                unread.first = Some((at, one_line(line.trim(), 80)));
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
        assert_eq!((unread.count, unread.first), (2, Some((3, "(-0.3)".to_owned()))));
        ledger.took(300);
        assert!(UnreadLines::default().sentence().is_none());
    }
}
