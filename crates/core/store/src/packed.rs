//! A run as the databases hold it: the whole document, and a second one without the inside of samples.

use std::io;

use model::{Footprint, Run};

use crate::document::{DOCUMENT_LIMIT, parse_document, render_document};
use crate::pack::{pack, unpack};
use crate::store::values_only;
use crate::{Error, StoreErrorKind};

/// A run prepared before the database is locked.
pub(crate) struct Packed<'a> {
    pub(crate) run: &'a Run,
    /// The bytes that [`crate::Detail::Whole`] loads.
    pub(crate) whole: Vec<u8>,
    /// The bytes that [`crate::Detail::Values`] loads.
    pub(crate) values: Vec<u8>,
}

impl<'a> Packed<'a> {
    /// Prepares a run; `place` names the store in errors.
    pub(crate) fn of(run: &'a Run, place: &str) -> Result<Self, Error> {
        let memory = |error: io::Error| Error::Place {
            action: "save the run in",
            place: place.to_owned(),
            trouble: StoreErrorKind::of_io(&error),
        };
        let unsavable = |source| Error::Unsavable { id: run.id.clone(), source };
        let whole = pack(&render_document(run)?).map_err(memory)?;
        let values = model::render_run(&values_only(run.clone())).map_err(unsavable)?;
        Ok(Self { run, whole, values: pack(&without_empty_footprints(&values)).map_err(memory)? })
    }
}

/// Most of the remaining size of a sample is an empty footprint with thirteen unknown counts, so it is shortened. A
/// quote inside a JSON string is escaped, so the text of an object never occurs in a string.
fn without_empty_footprints(text: &str) -> String {
    let empty = serde_json::to_string(&Footprint::default()).unwrap_or_default();
    if empty.is_empty() { text.to_owned() } else { text.replace(&empty, r#"{"operations":0}"#) }
}

/// Decompresses a run and sets its current label; `place` names the store and the run in errors.
pub(crate) fn unpacked(bytes: &[u8], label: Option<String>, place: &str) -> Result<Run, Error> {
    let text = unpack(bytes, DOCUMENT_LIMIT).map_err(|error| Error::Place {
        action: "read the run document",
        place: place.to_owned(),
        trouble: StoreErrorKind::Corrupt(error.to_string()),
    })?;
    let mut run = parse_document(&text, place)?;
    run.label = label;
    Ok(run)
}
