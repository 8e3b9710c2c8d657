//! The record of a farm run from its ledger: nodes, time windows and events.

use serde::{Deserialize, Serialize};

/// A farm's run, as far as no result states it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FarmRecord {
    /// The nodes, by name.
    pub nodes: Vec<FarmNode>,
    /// Events over time, in windows of equal length.
    pub windows: Vec<FarmWindow>,
    /// The event log, in the order of time.
    pub incidents: Vec<FarmIncident>,
}

/// Totals of one node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FarmNode {
    /// Its name.
    pub node: String,
    /// Chunks of it that count.
    pub chunks: u64,
    /// Events in them.
    pub events: u64,
    /// CPU time of them over their time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub efficiency: Option<f64>,
    /// Results that were refused since another one counts.
    pub refused: u64,
    /// Chunks that it could not do.
    pub failed: u64,
    /// Refused results that differ from the one that counts.
    pub differing: u64,
    /// Place and reading cost of its input.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub input: Vec<String>,
}

/// Events in one window of time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FarmWindow {
    /// Begin, seconds since the run began.
    pub began: f64,
    /// Length, seconds.
    pub wall: f64,
    /// Events of each node, in the order of the nodes.
    pub events: Vec<u64>,
}

/// Something that happened.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FarmIncident {
    /// When, seconds since the run began.
    pub since: f64,
    /// One word, such as `joined`, `failed` or `ended`.
    pub what: String,
    /// The node, empty if none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub node: String,
    /// The chunk, if one is concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk: Option<u64>,
    /// Details.
    pub detail: String,
}
