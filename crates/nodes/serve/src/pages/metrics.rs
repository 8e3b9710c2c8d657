//! OpenMetrics: the newest run of each machine.

use model::Run;
use store::{Store, Summary};

use super::{Failed, Page};
use crate::library::{Held, Library, Turn};

/// Machines of one answer; `?page=2` has the next ones.
const MACHINES: usize = 64;
const KIND: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

pub(super) fn page(store: &dyn Store, library: &Library, page: usize, turn: Turn) -> Result<Page, Failed> {
    let machines = store.machines(None, MACHINES, (page - 1) * MACHINES)?;
    let newest: Vec<Summary> = machines.into_iter().map(|machine| machine.newest).collect();
    let make = |runs: Vec<Held>| -> Result<Page, Failed> {
        let runs: Vec<Run> = runs.iter().map(|held| held.run.as_ref().clone()).collect();
        let mut text = Vec::new();
        export::export(&runs, "openmetrics", &mut text).map_err(|error| Failed::unfit(error.to_string()))?;
        Ok(Page::Raw(KIND, text))
    };
    library.remembered(format!("/metrics?page={page}"), newest, turn, make, store)
}
