//! Clocks that the readings of a run do not tell.

use analyse::compare::{CompareRow, Ratio};
use model::{CLOCK, Outcome};

use crate::words::no_clock;

/// Why the figure is the clock of a run and tells none.
pub(super) fn unknown_clock(row: &CompareRow, ratio: &Ratio) -> Option<String> {
    let estimate = ratio.outcome.as_ref().and_then(Outcome::estimate).filter(|_| row.probe == CLOCK)?;
    no_clock(estimate)
}

/// Whether a ratio is of a clock that one of both runs does not tell; the reference is what has no verdict.
pub(super) fn has_no_clock(row: &CompareRow, ratio: &Ratio) -> bool {
    let mut sides = row.ratios.iter().filter(|one| one.verdict.is_none()).chain([ratio]);
    sides.any(|one| unknown_clock(row, one).is_some())
}
