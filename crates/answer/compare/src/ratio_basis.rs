//! The basis of a ratio and its verdict, as plain data.

use model::Verdict;
use serde::{Deserialize, Serialize};

use crate::shown_clock::ShownClock;

/// The values behind a ratio.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RatioBasis {
    /// The values as both documents state them: nothing was filtered on either side.
    #[default]
    Value,
    /// Cycles of clean batches: two runs of one machine and core class.
    Cycles,
    /// Time of clean batches at the clock that each machine showed, with the error of both clocks.
    ClockTime,
    /// Time of clean batches at the clock that they had.
    Clean,
    /// All batches of all samples: a run has no clean value, or the two are of different kinds.
    Raw,
}

impl RatioBasis {
    /// Whether the documents' own values were compared, which goes without saying.
    #[must_use]
    pub fn is_value(&self) -> bool {
        *self == Self::Value
    }

    /// Its name in a table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Cycles => "cycles",
            Self::ClockTime => "time",
            Self::Clean => "clean",
            Self::Raw => "raw",
        }
    }
}

/// The clock of one of the runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ComparedClock {
    /// The clock that it showed.
    pub shown: ShownClock,
    /// The clock that it showed over the reference's, where both are known; absent for the reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<RatioEnds>,
}

/// Two core results, written as `Comparison::normalise` says. The time is the cycles times the effect of the clock, and
/// equals `Ratio::value`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CoreRatio {
    /// Cycles: what changed besides the clock. Between runs of one machine the result's verdict is about cycles,
    /// otherwise there is none.
    pub cycles: RatioEnds,
    /// Time at the clock that each machine showed, the error of both clocks in its interval: what means, ranks and
    /// gates use.
    pub time: RatioEnds,
    /// What the clock gives.
    pub clock: RatioEnds,
}

/// A ratio with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RatioEnds {
    /// The ratio.
    pub value: f64,
    /// Lower end of its interval; absent without spread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// The verdict, if it was tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

/// The applied session noise.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FloorUsed {
    /// Relative standard deviation between sessions.
    pub sd: f64,
    /// Sessions it was estimated from; absent for the default of the result's class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<usize>,
}
