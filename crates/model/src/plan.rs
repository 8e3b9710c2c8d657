//! What will be measured, and by which rules.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Point;

/// One figure to measure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanEntry {
    /// Id of the probe.
    pub probe: String,
    /// Where on its axes.
    pub point: Point,
    /// Half-width that ends it, relative: 0.02 is +-2%.
    pub target: f64,
    /// Key of the launches that it shares with others, when it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shares: Option<String>,
}

/// The rules of a run and everything that it will measure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Name of the suite, or `probes` when they were named one by one.
    pub suite: String,
    /// Seed of every random choice.
    pub seed: u64,
    /// Confidence of the intervals.
    pub level: f64,
    /// Half-width that ends a figure, relative.
    pub target: f64,
    /// Numbers of launches at which a figure may end.
    pub looks: Vec<u32>,
    /// Timed batches of a launch.
    pub batches: u32,
    /// Shortest batch, nanoseconds.
    pub batch_nanos: u64,
    /// Relative difference that counts as none.
    pub band: f64,
    /// Seconds after which no further round begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<f64>,
    /// Directory for the file figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Whether batches are timed between readings of the references.
    #[serde(default)]
    pub references: bool,
    /// The figures, in the order of the catalogue.
    pub entries: Vec<PlanEntry>,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            suite: "probes".to_owned(),
            seed: 0,
            level: 0.95,
            target: 0.02,
            looks: vec![10, 14, 20, 28, 40],
            batches: 20,
            batch_nanos: 1_000_000,
            band: 0.02,
            time_limit: None,
            directory: None,
            references: false,
            entries: Vec::new(),
        }
    }
}
