//! How wide text for people is.

use std::io::IsTerminal;

use terminal_size::terminal_size;

/// Columns if the width of the terminal is unknown.
pub(crate) const USUAL: usize = 100;
/// Fewest columns: shorter lines hold no table.
const FEWEST: usize = 40;
/// Most columns: longer lines are hard to follow from one end to the other.
const MOST: usize = 160;
/// Columns that ASCII replacements may add to a line.
const STAND_INS: usize = 2;

/// Columns for people: those of the terminal on standard output, else `COLUMNS`, else those of the terminal from which
/// the program was started.
pub(crate) fn width() -> usize {
    let measured = || terminal_size().map(|(width, _)| usize::from(width.0));
    let own = measured().filter(|_| std::io::stdout().is_terminal());
    let asked = std::env::var("COLUMNS").ok();
    let columns = chosen(own, asked.as_deref(), measured);
    if crate::locale::is_ascii() { columns.saturating_sub(STAND_INS).max(FEWEST) } else { columns }
}

/// Columns of the terminal on which progress is drawn.
pub(crate) fn of_progress() -> usize {
    // Without a known width, the bar is drawn for 80.
    terminal_size::terminal_size_of(std::io::stderr()).map_or(80, |(width, _)| usize::from(width.0))
}

fn chosen(own: Option<usize>, asked: Option<&str>, elsewhere: impl FnOnce() -> Option<usize>) -> usize {
    let asked = || asked.and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
    own.or_else(asked).or_else(elsewhere).map_or(USUAL, |columns| columns.clamp(FEWEST, MOST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_decides_before_the_environment() {
        assert_eq!(chosen(Some(80), Some("120"), || Some(90)), 80);
        assert_eq!(chosen(None, Some("120"), || Some(90)), 120);
        assert_eq!((chosen(None, Some("7"), || None), chosen(None, Some("70000"), || None)), (FEWEST, MOST));
        for nonsense in [None, Some(""), Some("0"), Some("-5"), Some("wide")] {
            assert_eq!((chosen(None, nonsense, || Some(90)), chosen(None, nonsense, || None)), (90, USUAL));
        }
    }
}
