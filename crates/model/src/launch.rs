//! One fresh process that measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Footprint;

/// One timed batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// Launch that it belongs to.
    pub launch: u16,
    /// Operations done, as the kernel counted them.
    pub ops: u64,
    /// Time that they took, nanoseconds.
    pub nanos: u64,
}

/// Outside evidence that a launch did not measure what it should. An unusual value is never such evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Invalid {
    /// The machine slept for this many seconds.
    Suspended(f64),
    /// The wall clock was set by this many seconds.
    ClockJump(f64),
    /// The hypervisor took this share of the launch's CPU time.
    Steal(f64),
    /// A party was not on the CPU where it should have been.
    Misplaced(Placement),
}

/// Where the parties of a launch should run, and where they were seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Placement {
    /// CPU asked for each party; empty when the scheduler was left free.
    pub asked: Vec<u32>,
    /// CPU on which each party was seen, before and after the batches.
    pub seen: Vec<Vec<u32>>,
}

impl Placement {
    /// Whether every party was seen only where it was asked to be.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.asked.is_empty()
            || self.asked.iter().zip(&self.seen).all(|(asked, seen)| seen.iter().all(|cpu| cpu == asked))
    }
}

/// What one fresh process found for one figure.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Launch {
    /// Round in which it ran, from 0.
    pub round: u32,
    /// When it began, seconds after the session did.
    pub began: f64,
    /// How long it took, preparation included, seconds.
    pub wall: f64,
    /// Its value: the median batch, in the figure's unit. A paired launch: the median difference.
    pub value: f64,
    /// Nanoseconds of every batch in time order. A paired launch alternates work and overhead.
    pub nanos: Vec<u64>,
    /// Operations of each batch, where they differ from the figure's fixed number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ops: Vec<u64>,
    /// Readings that the kernel took itself (a lateness, a ratio), in the figure's unit, where batches are not timed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readings: Vec<f64>,
    /// Warm-up batches before them.
    pub warmup: u32,
    /// Whether warm-up ended because groups of batches agreed, rather than at its cap.
    pub steady: bool,
    /// Quantiles of single operations, where the probe times them: (quantile, value).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quantiles: Vec<(f64, f64)>,
    /// Where the parties ran.
    pub placement: Placement,
    /// Share of CPU time that the hypervisor took.
    pub steal: Option<f64>,
    /// CPU frequency before and after, hertz, where it can be read.
    pub frequency: Option<(f64, f64)>,
    /// Resources used over the batches.
    pub footprint: Footprint,
    /// Why it does not count, when it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalid: Option<Invalid>,
}
