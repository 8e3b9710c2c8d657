//! The plan of a run: results and rules.

use serde::{Deserialize, Serialize};

use crate::Parameters;

/// Numbers of samples after which a result is judged.
pub const CHECKPOINTS: [u32; 12] = [8, 10, 14, 20, 28, 40, 56, 80, 112, 160, 224, 320];
/// Most samples of a result in a run without a time limit. If a limit ends the run, the remaining time goes to results
/// that need up to all of [`CHECKPOINTS`].
pub const USUAL_SAMPLES: u32 = 40;

/// Usual spacing of rounds in runs without a time limit, seconds. In 320 samples of sixteen results on a shared guest,
/// one every 0.53 seconds, converged intervals covered the median of all in 85% of runs; with every second sample in
/// 94%, with every fourth in 98%.
pub const SPACING: f64 = 1.0;

/// Usual spacing of executions of whole programs, seconds. In 3,000 executions on an idle guest, one every twentieth of
/// a second, intervals of 40 covered the median of all in 86% of runs at that distance and in 98% half a second apart.
pub const EXECUTION_SPACING: f64 = 0.5;

fn is_zero(seconds: &f64) -> bool {
    *seconds == 0.0
}

/// The checkpoints up to this many samples, at least the first.
#[must_use]
pub fn checkpoints(most: u32) -> Vec<u32> {
    CHECKPOINTS.into_iter().filter(|checkpoint| *checkpoint <= most.max(CHECKPOINTS[0])).collect()
}

/// One result to measure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanEntry {
    /// Id of the benchmark.
    pub benchmark: String,
    /// Its parameters.
    pub parameters: Parameters,
    /// Target of the relative half-width: 0.02 is +-2%.
    pub target: f64,
    /// Key of the samples that it shares with other results, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shares: Option<String>,
}

/// The results and rules of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plan {
    /// Name of the suite; `benchmarks` if they were named one by one.
    pub suite: String,
    /// Seed of all random choices.
    pub seed: u64,
    /// Confidence level of the intervals.
    pub level: f64,
    /// Target of the relative half-width at which a result ends.
    pub target: f64,
    /// Numbers of samples at which a result may end.
    pub checkpoints: Vec<u32>,
    /// Timed batches of a sample.
    pub batches: u32,
    /// Shortest batch, nanoseconds.
    pub batch_nanos: u64,
    /// Relative difference that counts as the same.
    pub band: f64,
    /// Time limit after which no further round begins, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<f64>,
    /// Least time from the beginning of a round to that of the next, seconds. Samples of a result that lie closer
    /// together meet the same neighbour and the same state of a shared memory, and agree more than the minutes around
    /// them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub spacing: f64,
    /// Directory for the file results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Further directories for them: `place=target2` is in the first of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more_directories: Vec<String>,
    /// Whether batches are timed between readings of the sensors.
    #[serde(default)]
    pub sensors: bool,
    /// The results, in the order of the catalogue.
    pub entries: Vec<PlanEntry>,
}

impl Plan {
    /// The directory for the file results at a set of parameters.
    #[must_use]
    pub fn directory_at(&self, parameters: &Parameters) -> Option<&str> {
        let place = parameters.get("place").and_then(target_number).unwrap_or(1);
        if place <= 1 { self.directory.as_deref() } else { self.more_directories.get(place - 2).map(String::as_str) }
    }
}

/// Number of the directory that a value of the parameter `place` names: 1 for `target`, 2 for `target2`. `None` for
/// other places.
#[must_use]
pub fn target_number(place: &str) -> Option<usize> {
    match place.strip_prefix("target")? {
        "" => Some(1),
        number => number.parse().ok().filter(|found: &usize| *found >= 2 && found.to_string() == number),
    }
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            suite: "benchmarks".to_owned(),
            seed: 0,
            level: 0.95,
            target: 0.02,
            checkpoints: checkpoints(USUAL_SAMPLES),
            batches: 20,
            batch_nanos: 1_000_000,
            band: 0.02,
            time_limit: None,
            spacing: 0.0,
            directory: None,
            more_directories: Vec::new(),
            sensors: false,
            entries: Vec::new(),
        }
    }
}
