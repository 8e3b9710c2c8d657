//! Messages between the driver of a fleet and its nodes.

use model::Run;
use serde::{Deserialize, Serialize};

/// Task of a node; the options of `prony run`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SuiteOrder {
    /// Suite by name.
    pub suite: Option<String>,
    /// Benchmarks by name, in addition to the suite or instead of it.
    pub benchmarks: Vec<String>,
    /// Relative half-width of the interval at which a result has converged.
    pub target: f64,
    /// Time limit after which no further round begins, seconds.
    pub time_limit: Option<f64>,
    /// Seed of orders and memory layouts, the same on all nodes so that equal nodes do equal work.
    pub seed: u64,
    /// Label of the run.
    pub label: Option<String>,
    /// Directory for the file results on the node; its current directory when absent.
    pub directory: Option<String>,
    /// Command line of the driver.
    pub command: Vec<String>,
    /// Note about the fleet for the run document.
    pub note: String,
}

/// A message of the driver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuiteRequest {
    /// Measure this.
    Measure(SuiteOrder),
    /// End in order and send the results so far.
    Stop,
}

/// How a node's run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeEnd {
    /// Every result has finished.
    Complete,
    /// The time limit was reached.
    TimeLimit,
    /// It was asked to stop, or lost its driver.
    Stopped,
}

/// A message of a node. The document is sent after every round, so that a lost node loses one round at most.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuiteReply {
    /// Progress.
    Doing {
        /// Completed results.
        done: usize,
        /// All results.
        of: usize,
        /// A description.
        what: String,
    },
    /// Nothing new: it is there. Sent at fixed intervals, since a sample may take long.
    Alive,
    /// The run so far.
    Saved(Box<Run>),
    /// The final run.
    Ended(Box<Run>, NodeEnd),
    /// The node failed.
    Failed(String),
}

/// Longest line of a node, bytes: the largest document that a store accepts.
pub(super) const LONGEST: u64 = 64 << 20;
