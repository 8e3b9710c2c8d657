//! The interface of all stores.

use model::{ResultKey, Run};

use crate::{EnvironmentChange, Error, MachineSummary, RunFilter, SessionValue, Summary, index};

/// How much of a run is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The document as stored.
    Whole,
    /// The document without the inside of its samples (batches, readings, and each sample's footprint and, unless the
    /// machine has several classes of cores, placement). It keeps outcomes, sample values and quantiles, facts, and the
    /// footprints of results. If the run states how far its CPUs are apart, it keeps the CPUs of several threads or
    /// processes too. Several times faster.
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

    /// Every run, sorted by number; no document is read.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn summaries(&self) -> Result<Vec<Summary>, Error>;

    /// Values of each of these results in its newest `limit` Prony sessions on a machine, oldest first: the histories
    /// for session noise. Results without a single value, imported runs and machines without a fingerprint have none.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn histories(&self, keys: &[ResultKey], fingerprint: &str, limit: usize) -> Result<Vec<Vec<SessionValue>>, Error>;

    /// A page of runs, the newest first, after the first `offset` of them; no document is read.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn page(&self, filter: &RunFilter<'_>, limit: usize, offset: usize) -> Result<Vec<Summary>, Error>;

    /// A page of machines, the one with the newest run first; with a suite, only its runs count.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn machines(&self, suite: Option<&str>, limit: usize, offset: usize) -> Result<Vec<MachineSummary>, Error>;

    /// The hundred most frequent suites, each with the number of its runs.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn suites(&self) -> Result<Vec<(String, u64)>, Error>;

    /// The results that a machine has a history of.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn keys(&self, fingerprint: &str) -> Result<Vec<ResultKey>, Error>;

    /// What changed on a machine between its runs, in the order of time. A run that was stored when stores kept no
    /// environments has none.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn environments(&self, fingerprint: &str) -> Result<Vec<EnvironmentChange>, Error>;

    /// Queues runs for a site; a run that waits already, or does not exist, changes nothing.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn enqueue(&mut self, site: &str, ids: &[&str]) -> Result<(), Error>;

    /// The runs that wait for a site, by number.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn queued(&self, site: &str) -> Result<Vec<Summary>, Error>;

    /// Takes a run from the queue of a site.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn dequeue(&mut self, site: &str, id: &str) -> Result<(), Error>;

    /// Removes runs, all or none, and returns their space to the file system. Their numbers are not reused.
    ///
    /// # Errors
    /// When one of them does not exist, or the store cannot be written.
    fn remove(&mut self, ids: &[&str]) -> Result<(), Error>;

    /// Whether its file was removed after it was opened, so that later runs are in a new one.
    fn began_anew(&self) -> bool {
        false
    }

    /// Sets or removes the label of a run.
    ///
    /// # Errors
    /// When there is no such run, a selector would read the label as something else, or the store cannot be written.
    fn set_label(&mut self, id: &str, label: Option<&str>) -> Result<(), Error>;
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
    // The cores of a sample matter on a machine with several classes.
    let several = run.session.sensors.as_ref().is_some_and(|sensors| sensors.exclusive.len() > 1);
    let apart = run.session.sensors.as_ref().is_some_and(|sensors| !sensors.distances.is_empty());
    for sample in run.results.iter_mut().flat_map(|result| &mut result.samples) {
        *sample = model::Sample {
            round: sample.round,
            began: sample.began,
            wall: sample.wall,
            value: sample.value,
            warmup: sample.warmup,
            steady: sample.steady,
            stolen: sample.stolen,
            throttled: sample.throttled,
            quantiles: std::mem::take(&mut sample.quantiles),
            frequency: sample.frequency,
            clean: sample.clean,
            placement: match std::mem::take(&mut sample.placement) {
                whole if several => whole,
                // The two CPUs of a sample matter if the host may have moved them.
                whole if apart && whole.seen.len() > 1 => model::Placement { seen: whole.seen, ..Default::default() },
                _ => model::Placement::default(),
            },
            invalid: sample.invalid.take(),
            ..model::Sample::default()
        };
    }
    run
}
