//! From one store to another: export of a whole store, and moving house.

use crate::{Detail, Error, Store};

/// Puts every run of one store into another, in the order of numbers, and returns how many. Runs that the other has are
/// replaced; numbers are the other store's own. One run is in memory at a time; `told` hears how many are done, of how many.
///
/// # Errors
/// When one of them cannot be read or kept; the runs before it are then kept.
pub fn transfer(from: &dyn Store, to: &mut dyn Store, told: &mut dyn FnMut(usize, usize)) -> Result<usize, Error> {
    let runs = from.summaries()?;
    for (done, summary) in runs.iter().enumerate() {
        told(done, runs.len());
        to.put(&from.get(&summary.id, Detail::Whole)?)?;
    }
    told(runs.len(), runs.len());
    Ok(runs.len())
}
