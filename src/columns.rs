//! How wide text for people is.

/// Columns if the width of the terminal is unknown.
pub(crate) const USUAL: usize = 100;
/// Most columns: longer lines are hard to follow from one end to the other.
const MOST: usize = 160;

/// Columns for people: those of the terminal, within bounds.
pub(crate) fn width() -> usize {
    terminal_size::terminal_size().map_or(USUAL, |(width, _)| usize::from(width.0).clamp(40, MOST))
}
