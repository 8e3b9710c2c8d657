//! Disturbances of a run, as the machine recorded them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Share;

/// Time taken from the CPUs under test, and the time over which it was counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TakenTime {
    /// Time taken, seconds.
    pub seconds: f64,
    /// CPU time over which it was counted, seconds.
    pub of: f64,
}

impl TakenTime {
    /// The share taken; `None` when nothing was counted.
    #[must_use]
    pub fn share(&self) -> Option<Share> {
        Share::of(self.seconds, self.of)
    }

    /// The sum of both.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self { seconds: self.seconds + other.seconds, of: self.of + other.of }
    }
}

impl fmt::Display for TakenTime {
    /// For example "10 ms of 0.41 s".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", Seconds(self.seconds), Seconds(self.of))
    }
}

/// Seconds with two or three significant digits.
struct Seconds(f64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            s if s < 0.01 => write!(f, "{:.1} ms", s * 1e3),
            s if s < 0.1 => write!(f, "{:.0} ms", s * 1e3),
            s if s < 10.0 => write!(f, "{s:.2} s"),
            s => write!(f, "{s:.0} s"),
        }
    }
}

/// Disturbances of a run: outside evidence, recorded during the run. Absent fields could not be read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conditions {
    /// Runnable tasks (load average over a minute) when the run began, without the run itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// CPU time of other processes on this run's CPUs during the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<TakenTime>,
    /// CPUs that the run may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// CPUs that are online.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub online: Option<u32>,
    /// CPU time stolen by the hypervisor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal: Option<TakenTime>,
    /// Time for which a control group's quota stopped the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled: Option<TakenTime>,
    /// Another measurement on this machine at the same time, as it described itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<String>,
    /// Lowest and highest clock of the run, hertz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<(f64, f64)>,
}

impl Conditions {
    /// Whether nothing was recorded, as in runs of other tools.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taken_time_says_how_much_of_how_much() {
        let text = |seconds, of| TakenTime { seconds, of }.to_string();
        assert_eq!(text(0.01, 0.41), "10 ms of 0.41 s");
        assert_eq!(text(0.0005, 0.05), "0.5 ms of 50 ms");
        assert_eq!(text(1.5, 263.2), "1.50 s of 263 s");
        assert_eq!(TakenTime { seconds: 3.0, of: 2.0 }.share(), Some(Share::ALL));
        assert_eq!(TakenTime::default().share(), None);
    }
}
