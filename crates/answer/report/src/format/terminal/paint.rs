//! Text on a terminal: width, line breaks, colours, and characters to be replaced.

use textwrap::{Options, WordSplitter, WrapAlgorithm};
use unicode_width::UnicodeWidthStr;

use crate::Tone;
use crate::words::is_control;

/// Replaces control characters, escape sequences and bidirectional overrides, so that a text cannot control the
/// terminal.
pub(crate) fn clean(text: &str) -> String {
    text.chars()
        .filter_map(|c| match c {
            '\n' | '\r' | '\t' => Some(' '),
            c if c.is_control() => Some('\u{fffd}'),
            c if is_control(c) => None,
            c => Some(c),
        })
        .collect()
}

/// Width of a text (Unicode Standard Annex 11).
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// Pads a text on the right.
pub(super) fn fill(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Pads a text on the left.
pub(super) fn fill_left(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Wraps a text into lines of at most `columns`; a longer word is split.
pub(super) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let options = Options::new(columns.max(2))
        .word_splitter(WordSplitter::NoHyphenation)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    textwrap::wrap(text, options).into_iter().map(std::borrow::Cow::into_owned).collect()
}

/// Whether to colour.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paint(pub(super) bool);

impl Paint {
    /// A text in a tone: with ANSI SGR sequences (ECMA-48), or unchanged.
    pub(super) fn tone(self, text: &str, tone: Tone) -> String {
        let code = match tone {
            _ if !self.0 || text.trim().is_empty() => return text.to_owned(),
            Tone::Plain => return text.to_owned(),
            Tone::Strong => "1",
            Tone::Muted => "2",
            Tone::Good => "32",
            Tone::Bad => "31",
            Tone::Caution => "33",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_cannot_steer_the_terminal() {
        assert_eq!(clean("a\u{1b}[31mb\u{9b}c\u{202e}d\ne\u{7}"), "a\u{fffd}[31mb\u{fffd}cd e\u{fffd}");
    }

    #[test]
    fn lines_keep_their_width() {
        for text in ["", "a", "word ".repeat(40).as_str(), &"x".repeat(300), "漢字漢字漢字漢字漢字 漢字", "👩‍👩‍👧‍👦 family"]
        {
            for columns in 2..40 {
                assert!(wrap(text, columns).iter().all(|line| width(line) <= columns), "{text:?} at {columns}");
            }
        }
    }
}
