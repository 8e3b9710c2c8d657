//! Runs side by side, and the newest run of each machine of a fleet.

use report::Document;
use store::{Store, Summary};

use super::{Failed, Page, Views, number_of};
use crate::address::{self, Target};
use crate::library::{Held, Library, Turn};

/// Most runs of a comparison.
const MOST: usize = 12;
/// Most machines of a fleet: those that measured last.
const FLEET: usize = 48;

/// The address of the comparison that the form asks for.
pub(super) fn asked(target: &Target) -> Result<Page, Failed> {
    let text = target.asked("runs").unwrap_or_default();
    let parts = text.split([' ', ',', ';']).filter(|part| !part.is_empty());
    let numbers: Vec<u64> = parts.map(number_of).collect::<Result<_, _>>()?;
    if numbers.len() < 2 {
        return Err(Failed::unfit("Type the numbers of two runs or more to compare them, such as 1 2"));
    }
    Ok(Page::Elsewhere(address::compare(&numbers)))
}

pub(super) fn page(store: &dyn Store, library: &Library, views: &dyn Views, numbers: &str) -> Result<Document, Failed> {
    let mut wanted: Vec<u64> = Vec::new();
    for part in numbers.split(',') {
        let number = number_of(part)?;
        if !wanted.contains(&number) {
            wanted.push(number);
        }
    }
    if wanted.len() < 2 || wanted.len() > MOST {
        return Err(Failed::unfit(format!("A comparison has 2 to {MOST} runs; this address names {}", wanted.len())));
    }
    let find = |number: &u64| {
        let found = library.find(store, *number)?;
        Ok(found.ok_or_else(|| Failed::missing(format!("There is no run {number}")))?.1)
    };
    let runs: Vec<Held> = wanted.iter().map(find).collect::<Result<_, Failed>>()?;
    views.compare(store, &runs).map(without_commands).map_err(Failed::unfit)
}

pub(super) fn fleet(
    store: &dyn Store,
    library: &Library,
    views: &dyn Views,
    suite: &str,
    turn: Turn,
) -> Result<Page, Failed> {
    let machines = store.machines(Some(suite), FLEET, 0)?;
    if machines.is_empty() {
        return Err(Failed::missing(format!("No machine has a run of the suite {suite}")));
    }
    if machines.len() < 2 {
        let only = format!("Only one machine has a run of the suite {suite}; a fleet has two or more");
        return Ok(Document::new(only).into());
    }
    let newest: Vec<Summary> = machines.into_iter().map(|machine| machine.newest).collect();
    // Machines of one suite may still have nothing in common, which is an answer.
    let make = |runs: Vec<Held>| -> Result<Page, Failed> {
        Ok(views.fleet(store, &runs).map_or_else(Document::new, without_commands).into())
    };
    library.remembered(address::fleet(suite), newest, turn, make, store)
}

/// A reader has no command line on the store of the site.
fn without_commands(mut document: Document) -> Document {
    document.next = Vec::new();
    document
}
