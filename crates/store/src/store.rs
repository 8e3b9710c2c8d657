//! The interface of all stores.

use std::collections::BTreeSet;

use model::{FigureKey, Run};

use crate::{Error, FigurePattern, FigureRow, Filter, SessionValue, Summary, index};

/// How much of a run is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The document as stored.
    Whole,
    /// The document without the inside of its launches (batches, readings, and each launch's footprint and placement).
    /// Outcomes, launch values and quantiles, facts, and the footprints of figures are included. Several times faster.
    Values,
}

/// A store of runs.
///
/// The label of a run is the one in its document until [`Store::set_label`] changes it. The change survives further
/// puts of the run while it is being measured, unless the document's own label differs from that of the previous put.
/// [`Store::get`] returns the document with its current label. Several runs may have the same label: a selector takes
/// the one started last.
pub trait Store: Send {
    /// Path or address of the store, for messages.
    fn place(&self) -> String;

    /// Stores runs and returns their numbers; a run with a known id is replaced and keeps its number. All runs are
    /// stored, or none.
    ///
    /// # Errors
    /// When a run could not be read back, or the store cannot be written; the store is unchanged then.
    fn put_all(&mut self, runs: &[Run]) -> Result<Vec<u64>, Error>;

    /// Stores one run atomically: after a crash the store holds the old run or the new one, never a part.
    ///
    /// # Errors
    /// As [`Store::put_all`].
    fn put(&mut self, run: &Run) -> Result<u64, Error> {
        Ok(self.put_all(std::slice::from_ref(run))?.first().copied().unwrap_or(0))
    }

    /// The run of an id.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    fn get(&self, id: &str, detail: Detail) -> Result<Run, Error>;

    /// Every run, sorted by number; documents are not read where the store can avoid it.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn summaries(&self) -> Result<Vec<Summary>, Error>;

    /// Numbers of the runs that have a matching figure, whatever its outcome.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn holding(&self, figure: &FigurePattern) -> Result<BTreeSet<u64>, Error>;

    /// The figures of a run without their launches, in the document's order.
    ///
    /// # Errors
    /// When there is no such run, or the store cannot be read.
    fn figures(&self, id: &str) -> Result<Vec<FigureRow>, Error>;

    /// Values of a figure in the newest `limit` Prony sessions on a machine, oldest first: the history that gives the
    /// session floor. Figures without a single value, imported runs and machines without a fingerprint have none.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn history(&self, key: &FigureKey, fingerprint: &str, limit: usize) -> Result<Vec<SessionValue>, Error>;

    /// The [history](Store::history) of several figures on one machine, in the order of `keys`. Each figure has its own
    /// newest sessions, whatever else was measured meanwhile.
    ///
    /// # Errors
    /// As [`Store::history`].
    fn histories(&self, keys: &[FigureKey], fingerprint: &str, limit: usize) -> Result<Vec<Vec<SessionValue>>, Error> {
        keys.iter().map(|key| self.history(key, fingerprint, limit)).collect()
    }

    /// Removes runs, all or none, and returns their space to the file system. Their numbers are not reused.
    ///
    /// # Errors
    /// When one of them does not exist, or the store cannot be written.
    fn remove(&mut self, ids: &[&str]) -> Result<(), Error>;

    /// Sets or removes the label of a run.
    ///
    /// # Errors
    /// When there is no such run, a selector would read the label as something else, or the store cannot be written.
    fn set_label(&mut self, id: &str, label: Option<&str>) -> Result<(), Error>;

    /// The runs that pass a filter, sorted by number.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn find(&self, filter: &Filter) -> Result<Vec<Summary>, Error> {
        let mut runs = self.summaries()?;
        runs.retain(|run| filter.accepts(run));
        if let Some(figure) = &filter.figure {
            let holding = self.holding(figure)?;
            runs.retain(|run| holding.contains(&run.number));
        }
        if let Some(newest) = filter.newest {
            runs.sort_by_key(|run| std::cmp::Reverse(by_age(run)));
            runs.truncate(newest);
            runs.sort_by_key(|run| run.number);
        }
        Ok(runs)
    }
}

/// The order of time: by start, then by number.
pub(crate) fn by_age(run: &Summary) -> (i64, u64) {
    (index::moment(&run.started), run.number)
}

/// The label after a put, by the rule in the documentation of [`Store`].
///
/// `written` is the label in the previous document, `held` the current one, `now` the one in the new document.
pub(crate) fn label_after(written: Option<&str>, held: Option<&str>, now: Option<&str>) -> Option<String> {
    if written == now { held } else { now }.map(str::to_owned)
}

/// Reduces a run to what [`Detail::Values`] loads.
pub(crate) fn values_only(mut run: Run) -> Run {
    for launch in run.figures.iter_mut().flat_map(|figure| &mut figure.launches) {
        *launch = model::Launch {
            round: launch.round,
            began: launch.began,
            wall: launch.wall,
            value: launch.value,
            warmup: launch.warmup,
            steady: launch.steady,
            steal: launch.steal,
            stolen: launch.stolen,
            throttled: launch.throttled,
            quantiles: std::mem::take(&mut launch.quantiles),
            frequency: launch.frequency,
            undisturbed: launch.undisturbed,
            invalid: launch.invalid.take(),
            ..model::Launch::default()
        };
    }
    run
}
