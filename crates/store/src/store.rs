//! What every store does.

use std::collections::BTreeSet;

use model::{FigureKey, Run};

use crate::{Error, FigurePattern, FigureRow, Filter, SessionValue, Summary, index};

/// How much of a run is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The document as it was put.
    Whole,
    /// The document without what lies inside its launches (batches, readings, and each launch's own footprint and
    /// placement): outcomes, launch values and quantiles, facts and footprints of figures are all there. Several times
    /// faster.
    Values,
}

/// A place that keeps runs.
///
/// The label of a run: it is the one in its document until [`Store::set_label`] changes it, and stays so changed while the
/// run is put again and again by whoever measures; a put whose document carries another label than the put before it sets
/// it anew. [`Store::get`] returns the document with the label that holds. Labels may repeat over time: selecting by label
/// takes the run that was started last.
pub trait Store: Send {
    /// Where it is, for people.
    fn place(&self) -> String;

    /// Keeps runs and returns their numbers; a run whose id the store has is replaced under its number. All or none.
    ///
    /// # Errors
    /// When a run would not read back, or the place cannot be written; then everything is as before.
    fn put_all(&mut self, runs: &[Run]) -> Result<Vec<u64>, Error>;

    /// Keeps one run, in one step: whoever kills the program finds the run before or the run after, never a part.
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

    /// Every run in the order of numbers, without reading documents where the store can avoid it.
    ///
    /// # Errors
    /// When the place cannot be read.
    fn summaries(&self) -> Result<Vec<Summary>, Error>;

    /// Numbers of the runs that hold a figure, however it came out.
    ///
    /// # Errors
    /// When the place cannot be read.
    fn holding(&self, figure: &FigurePattern) -> Result<BTreeSet<u64>, Error>;

    /// The figures of a run, in the document's order, without their launches.
    ///
    /// # Errors
    /// When there is no such run, or the place cannot be read.
    fn figures(&self, id: &str) -> Result<Vec<FigureRow>, Error>;

    /// What the newest `limit` sessions of Prony on a machine found for a figure, oldest first: the history from which the
    /// session floor is taken. Figures without a single value, imported runs and machines without a fingerprint have none.
    ///
    /// # Errors
    /// When the place cannot be read.
    fn history(&self, key: &FigureKey, fingerprint: &str, limit: usize) -> Result<Vec<SessionValue>, Error>;

    /// The [history](Store::history) of several figures on one machine, in the order of `keys`: each figure has its own
    /// newest sessions, whatever else was measured there meanwhile.
    ///
    /// # Errors
    /// As [`Store::history`].
    fn histories(&self, keys: &[FigureKey], fingerprint: &str, limit: usize) -> Result<Vec<Vec<SessionValue>>, Error> {
        keys.iter().map(|key| self.history(key, fingerprint, limit)).collect()
    }

    /// Forgets runs, all or none, and gives their space back to the file system. Their numbers are not given again.
    ///
    /// # Errors
    /// When one of them is not there, or the place cannot be written.
    fn remove(&mut self, ids: &[&str]) -> Result<(), Error>;

    /// Gives a run a label, or takes it away.
    ///
    /// # Errors
    /// When there is no such run, the label would be taken for something else, or the place cannot be written.
    fn set_label(&mut self, id: &str, label: Option<&str>) -> Result<(), Error>;

    /// The runs that pass a filter, in the order of numbers.
    ///
    /// # Errors
    /// When the place cannot be read.
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

/// The label that holds after a put: what [`Store`] says of labels, in one place.
///
/// `written` is the label in the document put before, `held` the one that held, `now` the one in the document put now.
pub(crate) fn label_after(written: Option<&str>, held: Option<&str>, now: Option<&str>) -> Option<String> {
    if written == now { held } else { now }.map(str::to_owned)
}

/// What [`Detail::Values`] leaves of a run.
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
