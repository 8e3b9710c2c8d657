//! Copies all runs of one store into another.

use crate::{Detail, Error, Store};

/// Copies every run, sorted by number, and returns how many there were. Runs that the target has are replaced; numbers
/// are the target's own. One run is in memory at a time; `on_progress` is called with the number of copied runs and
/// their total.
///
/// # Errors
/// When a run cannot be read or stored; the runs before it stay copied.
pub fn transfer(
    from: &dyn Store,
    to: &mut dyn Store,
    on_progress: &mut dyn FnMut(usize, usize),
) -> Result<usize, Error> {
    let runs = from.summaries()?;
    for (done, summary) in runs.iter().enumerate() {
        on_progress(done, runs.len());
        to.put(&from.get(&summary.id, Detail::Whole)?)?;
    }
    on_progress(runs.len(), runs.len());
    Ok(runs.len())
}
