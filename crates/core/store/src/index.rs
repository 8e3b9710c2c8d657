//! The index of a document, which finds runs without reading them. It is always derived from the document.

use model::{ResultKey, Run};
use serde::Serialize;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// One line of a list of runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Number in this store: 1, 2, 3, as in "run 3". Numbers are never reused.
    pub number: u64,
    /// Unique name.
    pub id: String,
    /// Name given by the owner.
    pub label: Option<String>,
    /// Start, RFC 3339 in UTC.
    pub started: String,
    /// Duration of measuring, seconds.
    pub seconds: f64,
    /// Completed rounds.
    pub rounds: u32,
    /// Whether everything planned was measured.
    pub complete: bool,
    /// Whether it was interrupted; a run that its time limit ended was not.
    pub interrupted: bool,
    /// Name of the machine.
    pub machine: String,
    /// Hash that identifies the machine; empty when unknown.
    pub fingerprint: String,
    /// Suite of the plan.
    pub suite: String,
    /// Program or publication that measured, if it was not Prony.
    pub tool: Option<String>,
    /// Version of Prony that measured or imported.
    pub version: String,
    /// Results in the document.
    pub results: u32,
    /// Results with a value.
    pub measured: u32,
}

impl Summary {
    /// Identifies the machine: its fingerprint, else its name.
    #[must_use]
    pub fn identity(&self) -> &str {
        if self.fingerprint.is_empty() { &self.machine } else { &self.fingerprint }
    }
}

/// A result's single value, for histories.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ResultValue {
    pub(crate) key: ResultKey,
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) samples: u32,
}

/// The value of a result in one session on a machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionValue {
    /// Number of the run.
    pub number: u64,
    /// Id of the run.
    pub id: String,
    /// Start of the session, RFC 3339 in UTC.
    pub started: String,
    /// Value in the result's unit.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Samples behind the value.
    pub samples: u32,
}

/// The whole index entry of a document.
#[derive(Debug, Clone)]
pub(crate) struct Index {
    pub(crate) summary: Summary,
    /// Start in microseconds since 1970; 0 when unknown.
    pub(crate) moment: i64,
    /// Fingerprint of the machine whose history includes the run. `None` for results that Prony did not measure, and
    /// for a machine without a fingerprint.
    pub(crate) history: Option<String>,
    /// The results with a single value that is the machine's own; none if the run belongs to no history.
    pub(crate) results: Vec<ResultValue>,
}

impl Index {
    /// The index entry of a run with this number in the store.
    pub(crate) fn of(number: u64, run: &Run) -> Self {
        let measured = run.results.iter().filter(|result| result.outcome.estimate().is_some()).count();
        let fingerprint = run.machine.fingerprint.clone();
        let history = (run.origin.is_none() && !fingerprint.is_empty()).then(|| fingerprint.clone());
        Self {
            moment: moment(&run.session.started),
            summary: Summary {
                number,
                id: run.id.clone(),
                label: run.label.clone(),
                started: run.session.started.clone(),
                seconds: run.session.seconds,
                rounds: run.session.rounds,
                complete: run.session.complete,
                interrupted: run.interrupted(),
                machine: run.machine.name.clone(),
                fingerprint,
                suite: run.plan.suite.clone(),
                tool: run.origin.as_ref().map(|origin| origin.tool.clone()),
                version: run.session.version.clone(),
                results: run.results.len().try_into().unwrap_or(u32::MAX),
                measured: measured.try_into().unwrap_or(u32::MAX),
            },
            results: if history.is_some() { ResultValue::of_history(run) } else { Vec::new() },
            history,
        }
    }
}

impl ResultValue {
    /// The values with which sessions of a machine are compared. A value changed by a neighbour on the core is no value
    /// of the machine: it would only add scatter to other sessions.
    fn of_history(run: &Run) -> Vec<Self> {
        run.results.iter().filter(|result| !result.is_shared_core()).filter_map(Self::of).collect()
    }

    fn of(result: &model::BenchmarkResult) -> Option<Self> {
        let model::Estimate { value, low, high, samples, .. } = *result.outcome.estimate()?;
        Some(Self { key: result.key(), value, low, high, samples })
    }
}

/// Microseconds since 1970 of an RFC 3339 time; 0 when it is invalid.
pub(crate) fn moment(text: &str) -> i64 {
    OffsetDateTime::parse(text, &Rfc3339)
        .ok()
        .and_then(|moment| i64::try_from(moment.unix_timestamp_nanos() / 1000).ok())
        .unwrap_or(0)
}
