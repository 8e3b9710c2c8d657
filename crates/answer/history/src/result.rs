//! Findings.

use model::{Metric, Primitive, ResultKey};
use serde::Serialize;

use crate::ledger::LedgerEntry;
use crate::shape::Shape;

/// The runs of one machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct History {
    /// Name of the machine.
    pub machine: String,
    /// Its runs in the order of time.
    pub runs: Vec<HistoryRun>,
    /// Its metrics in the order of the newest run that has them.
    pub metrics: Vec<MetricHistory>,
    /// What changed, the newest first.
    pub events: Vec<Event>,
    /// What was recorded to be different, in the order of time.
    pub ledger: Vec<LedgerEntry>,
    /// Indices of the runs with which another machine of the same name begins.
    pub replaced: Vec<usize>,
    /// Expected false alarms in a year of as many runs a day.
    pub false_alarms: f64,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HistoryRun {
    /// Its name on a command line.
    pub handle: String,
    /// Start, RFC 3339.
    pub started: String,
}

/// One metric over the runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricHistory {
    /// The result.
    pub key: ResultKey,
    /// Its title.
    pub title: String,
    /// Unit and direction.
    pub metric: Metric,
    /// Primitives that it stresses.
    #[serde(skip)]
    pub stresses: Vec<Primitive>,
    /// Its values in the order of time.
    pub points: Vec<MetricPoint>,
    /// Indices of the runs in which it was far from its level, once.
    pub spikes: Vec<usize>,
    /// Standard deviation of the logarithm of the value between neighbouring runs.
    pub noise: f64,
}

/// The value of a metric in one run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MetricPoint {
    /// Index of the run.
    pub run: usize,
    /// Value in the unit of the metric.
    pub value: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
}

/// A change of one or many metrics at the same time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Event {
    /// Its course.
    pub shape: Shape,
    /// Index of its first run.
    pub run: usize,
    /// Index of the first run after it, where it went away or a drift ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<usize>,
    /// Index of the run after which it was found.
    pub found: usize,
    /// The family of metrics whose mean shows it, if one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// The metrics that changed, the most changed first.
    pub members: Vec<Member>,
    /// What else was different from that run on, the likeliest first: indices into the ledger.
    pub with: Vec<usize>,
}

/// A metric of an event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Member {
    /// Index of the metric.
    pub metric: usize,
    /// How many times slower it became; below 1 is faster.
    pub slower: f64,
    /// Lower end of its interval at 95%.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}
