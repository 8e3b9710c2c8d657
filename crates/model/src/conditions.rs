//! What disturbed a run, as the machine itself recorded it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Share;

/// Time that was taken from the CPUs under test, out of the time in which it was looked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TakenTime {
    /// Seconds taken.
    pub seconds: f64,
    /// Seconds of CPU time in which they were taken.
    pub of: f64,
}

impl TakenTime {
    /// The share taken; `None` when nothing was watched.
    #[must_use]
    pub fn share(&self) -> Option<Share> {
        Share::of(self.seconds, self.of)
    }
}

/// What disturbed a run: outside evidence, recorded by the run itself. Absent fields were not looked for or could not be read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Conditions {
    /// Runnable tasks (load average over a minute) when the run began, the run's own not among them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// CPUs that the run may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// CPUs that are online.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub online: Option<u32>,
    /// CPU time that the hypervisor took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal: Option<TakenTime>,
    /// Time in which a control group's quota stopped the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled: Option<TakenTime>,
    /// Another measurement that was at work on this machine, in its own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<String>,
    /// Lowest and highest clock that was seen, hertz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<(f64, f64)>,
}

impl Conditions {
    /// Whether nothing at all was recorded, as in runs of older versions and of other tools.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
