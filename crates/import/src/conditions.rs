//! Outputs of one tool under different conditions in one file: a page that shows a result before and after a change.
//! They are no launches of one figure.

use crate::text::{SourceFault, lines, one_line};
use crate::unread::LineLedger;

/// Words that begin the headings of two conditions.
const PAIRS: [[&str; 2]; 7] = [
    ["before", "after"],
    ["without", "with"],
    ["old", "new"],
    ["unpatched", "patched"],
    ["baseline", "patched"],
    ["vanilla", "patched"],
    ["disabled", "enabled"],
];

/// Words of a line that is a heading, at most: a sentence says something of one output.
const LONGEST: usize = 10;

/// A fault that names two headings of opposite conditions, if lines that no rule took are such headings.
pub(crate) fn conditions(text: &str, ledger: &LineLedger) -> Option<SourceFault> {
    let mut first: [[Option<usize>; 2]; PAIRS.len()] = Default::default();
    for (at, line) in lines(text).filter(|(at, _)| !ledger.has(*at)) {
        let Some(word) = heading(line) else { continue };
        for (pair, found) in PAIRS.iter().zip(&mut first) {
            for (_, place) in pair.iter().zip(found).filter(|(known, _)| word.eq_ignore_ascii_case(known)) {
                place.get_or_insert(at);
            }
        }
    }
    let [Some(one), Some(other)] = first.into_iter().find(|found| found.iter().all(Option::is_some))? else {
        return None;
    };
    let (earlier, later) = (one.min(other), one.max(other));
    let shown = |at: usize| text.lines().nth(at - 1).map(|line| one_line(line.trim(), 40)).unwrap_or_default();
    Some(SourceFault::new(
        format!(
            "it shows outputs of two conditions, '{}' and '{}', which are no launches of one figure: save each to a file \
             of its own; the second begins",
            shown(earlier),
            shown(later)
        ),
        later,
    ))
}

/// The word by which a short line begins, signs of a heading and a comment aside; none if the line is longer.
fn heading(line: &str) -> Option<&str> {
    let mut words = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let first = words.next()?;
    // A number after it is a value: `new 12.5`.
    let values = line.split_whitespace().skip(1).any(|word| word.parse::<f64>().is_ok());
    (words.count() < LONGEST && !values).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str, taken: &[usize]) -> Option<(String, usize)> {
        let ledger = LineLedger::default();
        taken.iter().for_each(|line| ledger.took(*line));
        conditions(text, &ledger).map(|fault| (fault.reason, fault.place.line))
    }

    #[test]
    fn headings_of_two_conditions_are_told() {
        let (reason, line) = said("Results\n## Before the patch:\nx 1\n\n**After**\nx 2\n", &[]).unwrap();
        assert!(reason.contains("'## Before the patch:' and '**After**'") && line == 5, "{reason}");
        assert!(said("with mitigations\n1\nWithout mitigations\n2", &[]).is_some());
        for (text, taken) in [
            ("Before\nx\nAfter\n", &[3][..]),
            ("Before\nx\nbefore it ran again\n", &[]),
            ("Before we began we had to wait for the other one to come here\nAfter", &[]),
            ("old 1.5\nnew 2.5\n", &[]),
            ("a before\nb after\n", &[]),
        ] {
            assert_eq!(said(text, taken), None, "{text}");
        }
    }
}
