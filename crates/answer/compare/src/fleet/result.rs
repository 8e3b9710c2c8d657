//! The spread of a fleet, as plain data.

use model::{Estimate, Metric, Parameters, ResultKey, Unit};
use serde::{Deserialize, Serialize};

/// Runs of machines that should be equal, compared with the most typical of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FleetSpread {
    /// Names of the nodes, in the order of the runs.
    pub nodes: Vec<String>,
    /// The node nearest to the median of all results, with which the others are compared.
    pub typical: String,
    /// Comparisons over which the verdicts are adjusted.
    pub tests: usize,
    /// Every result that at least two nodes measured.
    pub results: Vec<ResultSpread>,
    /// Outlier nodes, the worst first; none with fewer than three nodes.
    pub outliers: Vec<OutlierNode>,
}

/// One result over all nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResultSpread {
    /// Id of the benchmark.
    pub benchmark: String,
    /// Its parameters.
    pub parameters: Parameters,
    /// Its title.
    pub title: String,
    /// Unit and direction.
    pub metric: Metric,
    /// The value of each node, in the order of nodes; `None` where it has no single value.
    pub values: Vec<Option<Estimate>>,
    /// Median of the values.
    pub median: f64,
    /// The node's with the smallest value.
    pub least: Estimate,
    /// The node's with the largest value.
    pub most: Estimate,
    /// Largest over smallest, minus 1: 0.1 is 10%.
    pub range: f64,
    /// Names of the nodes that differ from the typical one: beyond the variation of samples and sessions, and the
    /// margin.
    pub different: Vec<String>,
    /// Names of the outlier nodes: different, while most others are not.
    pub outliers: Vec<String>,
}

/// An outlier node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutlierNode {
    /// Its name.
    pub node: String,
    /// The node that it is compared with: a typical one.
    pub baseline: String,
    /// The results in which it is an outlier, the farthest first.
    pub results: Vec<OutlierResult>,
}

/// A result in which a node is an outlier.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutlierResult {
    /// The result.
    pub result: ResultKey,
    /// Its title.
    pub title: String,
    /// Unit of the result.
    pub unit: Unit,
    /// The node's gain over the typical one: above 1 is better.
    pub gain: f64,
    /// Ends of its interval including the session noise, if there is one.
    pub interval: Option<(f64, f64)>,
    /// Whether it is for the worse.
    pub worse: bool,
}
