//! Clocks that the readings of a run do not tell.

use compare::{CompareRow, Ratio};
use model::{CLOCK, Outcome};

use crate::words::no_clock;

/// Why the figure is the clock of a run and tells none.
pub(super) fn unknown_clock(row: &CompareRow, ratio: &Ratio) -> Option<String> {
    let estimate = ratio.outcome.as_ref().and_then(Outcome::estimate).filter(|_| row.probe == CLOCK)?;
    no_clock(estimate)
}
