//! How wide text for people is.

use std::io::IsTerminal;

use terminal_size::terminal_size_of;

/// Columns if the width of the terminal is unknown.
pub(crate) const USUAL: usize = 100;
/// Fewest columns: shorter lines hold no table.
const FEWEST: usize = 40;
/// Most columns: longer lines are hard to follow from one end to the other.
const MOST: usize = 160;
/// Columns that ASCII replacements may add to a line.
const STAND_INS: usize = 2;

/// Columns for people: those of the terminal on standard output, and elsewhere those that `COLUMNS` asks for. Without
/// either there are none, since other programs read lines.
pub(crate) fn width() -> Option<usize> {
    let stdout = std::io::stdout();
    let own = stdout.is_terminal().then(|| terminal_size_of(&stdout).map_or(USUAL, |(width, _)| usize::from(width.0)));
    let columns = chosen(own, std::env::var("COLUMNS").ok().as_deref())?;
    Some(if crate::locale::is_ascii() { columns.saturating_sub(STAND_INS).max(FEWEST) } else { columns })
}

/// Columns of the terminal on which progress is drawn.
pub(crate) fn of_progress() -> usize {
    // Without a known width, the bar is drawn for 80.
    terminal_size_of(std::io::stderr()).map_or(80, |(width, _)| usize::from(width.0))
}

fn chosen(own: Option<usize>, asked: Option<&str>) -> Option<usize> {
    let asked = || asked.and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
    own.or_else(asked).map(|columns| columns.clamp(FEWEST, MOST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_decides_before_the_environment() {
        assert_eq!(chosen(Some(80), Some("120")), Some(80));
        assert_eq!(chosen(None, Some("120")), Some(120));
        assert_eq!((chosen(None, Some("7")), chosen(None, Some("70000"))), (Some(FEWEST), Some(MOST)));
        for nonsense in [None, Some(""), Some("0"), Some("-5"), Some("wide")] {
            assert_eq!((chosen(Some(90), nonsense), chosen(None, nonsense)), (Some(90), None));
        }
    }
}
