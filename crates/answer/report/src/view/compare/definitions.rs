//! Results whose definitions differ, with a mark at each and what differs below.

use compare::{CompareRow, Comparison};
use model::Definition;

use crate::words::grouped;

/// Mark of a result that is nearly the same on both sides.
pub(crate) const NEAR: char = '†';
/// Mark of a result that is another one.
pub(crate) const OTHER: char = '‡';

/// The mark of a definition; `None` of the same one.
pub(crate) const fn mark(definition: &Definition) -> Option<char> {
    match definition {
        Definition::Same => None,
        Definition::Near(_) => Some(NEAR),
        Definition::Other(_) => Some(OTHER),
    }
}

/// The mark of a row: that of its farthest definition.
pub(super) fn of_row(row: &CompareRow) -> Option<char> {
    let marks: Vec<char> = row.ratios.iter().filter_map(|ratio| mark(&ratio.definition)).collect();
    marks.iter().find(|mark| **mark == OTHER).or(marks.first()).copied()
}

/// What a definition is marked for; `None` of the same one.
pub(crate) fn words(definition: &Definition) -> Option<String> {
    Some(match definition {
        Definition::Same => return None,
        Definition::Near(text) => format!("{NEAR} nearly the same definition: {text}"),
        Definition::Other(text) => format!("{OTHER} another definition, not compared: {text}"),
    })
}

/// One note for each difference, with its results.
pub(crate) fn notes(comparison: &Comparison) -> Vec<String> {
    let ratios = comparison.rows.iter().flat_map(|row| row.ratios.iter().map(move |ratio| (row, ratio)));
    let told = ratios.filter_map(|(row, ratio)| Some((words(&ratio.definition)?, row.title.as_str())));
    let note = |(words, mut titles): (String, Vec<&str>)| {
        titles.dedup();
        format!("{words} ({})", titles.join("; "))
    };
    grouped(told).into_iter().map(note).collect()
}
