//! Resolves `3`, `latest`, `previous`, a label, or the beginning of an id to a run.

use crate::store::by_age;
use crate::{Error, Store, Summary};

/// Whether a selector is a path: it holds a `/` (or the system's separator) or ends in `.json` or `.json.zst`.
#[must_use]
pub fn is_path(text: &str) -> bool {
    text.contains('/')
        || text.contains(std::path::MAIN_SEPARATOR)
        || text.ends_with(".json")
        || text.ends_with(".json.zst")
}

/// Refuses labels that a selector would read as something else.
///
/// # Errors
/// When the label is empty, a number, `latest`, `previous` or `latest-N`, looks like a path or like `published:...`, begins with
/// `-`, holds control characters, begins or ends with a space, or is longer than 100 characters.
pub fn check_label(label: &str) -> Result<(), Error> {
    let reason = if label.is_empty() {
        "it is empty"
    } else if label.chars().all(|c| c.is_ascii_digit()) {
        "it is a number, and numbers name runs; add a letter"
    } else if back_from_latest(label).is_some() {
        "it names the latest runs; choose another"
    } else if is_path(label) {
        "it looks like the path of a file; leave out '/' and '.json'"
    } else if label.contains(':') {
        "':' belongs to names such as published:NAME; leave it out"
    } else if label.starts_with('-') {
        "it looks like an option; begin with a letter"
    } else if label.chars().any(char::is_control) || label.trim() != label {
        "it holds control characters or outer spaces; leave them out"
    } else if label.chars().count() > 100 {
        "it is longer than 100 characters; shorten it"
    } else {
        return Ok(());
    };
    Err(Error::Label { label: label.to_owned(), reason })
}

/// Refuses dates that cannot be ordered: anything but an RFC 3339 time, a day, a month, a year, or nothing.
///
/// # Errors
/// When the text is not one of them.
pub fn check_date(text: &str) -> Result<(), Error> {
    let parts: Vec<&str> = text.split('-').collect();
    let digits = |part: &&str| !part.is_empty() && part.len() <= 4 && part.bytes().all(|b| b.is_ascii_digit());
    let day = parts.len() <= 3 && parts[0].len() == 4 && parts.iter().all(digits);
    let known = text.is_empty() || day || crate::index::moment(text) != 0;
    if known { Ok(()) } else { Err(Error::Date { text: text.chars().take(40).collect() }) }
}

/// `latest` is 0, `previous` is 1, `latest-3` is 3.
fn back_from_latest(text: &str) -> Option<usize> {
    if text == "previous" {
        return Some(1);
    }
    match text.strip_prefix("latest")? {
        "" => Some(0),
        rest => rest.strip_prefix('-')?.parse().ok(),
    }
}

/// Resolves selectors against one snapshot of a store, so that the list of runs is read once for many selectors.
#[derive(Debug, Clone)]
pub struct Selector {
    place: String,
    /// From the newest to the oldest.
    runs: Vec<Summary>,
}

impl Selector {
    /// Reads the list of runs.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn new(store: &dyn Store) -> Result<Self, Error> {
        let mut runs = store.summaries()?;
        runs.sort_by_key(|run| std::cmp::Reverse(by_age(run)));
        Ok(Self { place: store.place(), runs })
    }

    /// Resolves a selector: the first match of `latest`, `previous` or `latest-N` by time of start, a store number, an
    /// id, a label (its newest run), the beginning of an id (of digits alone: a date at least).
    ///
    /// # Errors
    /// When nothing matches (with the nearest names), or several ids begin so (with all of them).
    pub fn resolve(&self, text: &str) -> Result<&Summary, Error> {
        if let Some(back) = back_from_latest(text) {
            return self.runs.get(back).ok_or_else(|| Error::NotThatMany {
                text: text.to_owned(),
                place: self.place.clone(),
                count: self.runs.len(),
            });
        }
        let number = text.parse::<u64>().ok();
        let exact = [
            self.runs.iter().find(|run| Some(run.number) == number),
            self.runs.iter().find(|run| run.id == text),
            self.runs.iter().find(|run| run.label.as_deref() == Some(text)),
        ];
        if let Some(run) = exact.into_iter().flatten().next() {
            return Ok(run);
        }
        // Ids begin with the date: a number that no run has is not the beginning of one, unless it is a whole date.
        let begins = if number.is_some() { text.len() >= 8 } else { !text.is_empty() };
        let begun: Vec<_> = self.runs.iter().filter(|run| begins && run.id.starts_with(text)).collect();
        match begun.as_slice() {
            [run] => Ok(*run),
            [] => Err(self.unknown(text)),
            several => Err(Error::Ambiguous {
                text: text.to_owned(),
                candidates: several.iter().rev().take(10).map(|run| describe(run)).collect(),
            }),
        }
    }

    fn unknown(&self, text: &str) -> Error {
        let named = self.runs.iter().flat_map(|run| run.label.as_deref().into_iter().chain([run.id.as_str()]));
        let nearest = model::nearest(text, named.chain(["latest", "previous"]));
        Error::Unknown { text: text.to_owned(), place: self.place.clone(), nearest }
    }
}

fn describe(run: &Summary) -> String {
    let label = run.label.as_ref().map(|label| format!(", {label}")).unwrap_or_default();
    crate::words::one_line(&format!("{} ({}{label})", run.number, run.id))
}
