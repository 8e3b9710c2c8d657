//! What the driver of a fleet and its nodes say to each other.

use model::Run;
use serde::{Deserialize, Serialize};

/// What a node is to measure; the words of `prony run`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SuiteOrder {
    /// Suite by name.
    pub suite: Option<String>,
    /// Probes by name, beside or instead of it.
    pub probes: Vec<String>,
    /// Half-width of the interval at which a figure is settled, as a fraction.
    pub target: f64,
    /// No further round is begun after so many seconds.
    pub time_limit: Option<f64>,
    /// Seed of orders and memory layouts, the same everywhere: equal nodes do equal things.
    pub seed: u64,
    /// Name of the run.
    pub label: Option<String>,
    /// Directory for the file figures, on the node; its present one when absent.
    pub directory: Option<String>,
    /// The command line that asked.
    pub command: Vec<String>,
    /// What a reader of the run should know of the fleet.
    pub note: String,
}

/// What a driver says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuiteRequest {
    /// Measure this.
    Measure(SuiteOrder),
    /// End in order, and give what there is.
    Stop,
}

/// How a node's run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeEnd {
    /// Every figure is settled.
    Complete,
    /// Time was up.
    TimeLimit,
    /// It was asked to stop, or lost its driver.
    Stopped,
}

/// What a node says. The document comes after every round, so that a lost node loses one round at most.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuiteReply {
    /// What it does now.
    Doing {
        /// Figures that have ended.
        done: usize,
        /// All figures.
        of: usize,
        /// In words.
        what: String,
    },
    /// The run as it stands.
    Saved(Box<Run>),
    /// The run as it ended.
    Ended(Box<Run>, NodeEnd),
    /// It cannot go on.
    Failed(String),
}

/// Longest line of a node: the largest document that a store takes.
pub(super) const LONGEST: u64 = 64 << 20;
