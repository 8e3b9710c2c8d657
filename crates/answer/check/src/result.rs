//! The answer, as plain data.

use model::{Estimate, Metric};
use serde::{Deserialize, Serialize};

/// Where an expectation comes from, the strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// What the parts can do.
    Parts,
    /// Machines of the same CPU model elsewhere.
    SameModel,
    /// Equal parts inside the machine.
    Symmetry,
    /// Earlier runs of the machine.
    OwnPast,
    /// The design of the CPU.
    Microarchitecture,
}

/// The range of a healthy value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExpectedRange {
    /// Lower end, in the result's unit.
    pub low: f64,
    /// Upper end, in the result's unit.
    pub high: f64,
    /// Where it comes from.
    pub basis: Basis,
    /// The arithmetic or the population behind it, as a clause.
    pub says: String,
}

/// What a row shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CheckVerdict {
    /// Not below the expected range.
    Ok,
    /// Below the expected range.
    Low,
    /// Better than the parts can be: a fault of the measurement.
    Impossible,
    /// It looks low, and the measurement was disturbed or has too few samples.
    Busy,
    /// No basis for an expectation.
    #[default]
    NoExpectation,
}

impl CheckVerdict {
    /// The verdict in a word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Low => "LOW",
            Self::Impossible => "measuring fault",
            Self::Busy => "busy, try again",
            Self::NoExpectation => "no expectation",
        }
    }
}

/// A cause that a recorded fact supports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NamedCause {
    /// Its name, as `prony explain` calls it.
    pub title: String,
    /// The fact, as a clause.
    pub because: String,
    /// What to do, as an imperative.
    pub cure: String,
}

/// One line of the answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckRow {
    /// The result's key, or the name of the fact.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The measured value, of a result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Estimate>,
    /// Unit and direction of the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<Metric>,
    /// What was found, of a part that is seen and not measured, or in place of the value.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub found: String,
    /// What was expected of such a part.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub wanted: String,
    /// The range that was expected of a value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<ExpectedRange>,
    /// The verdict.
    pub verdict: CheckVerdict,
    /// Chance of such a low value on a healthy machine, adjusted over all rows by Holm's method; absent of parts that
    /// are seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// Causes of a low value: the likeliest first, then its rivals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<NamedCause>,
    /// A remark: why it is busy, or what to measure next.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// The answer for one machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MachineCheck {
    /// Name of the machine.
    pub machine: String,
    /// The machine in one line.
    pub summary: String,
    /// Duration of measuring, seconds.
    pub seconds: f64,
    /// The rows, in the order in which they are read.
    pub rows: Vec<CheckRow>,
    /// What is worth a look although nothing that was measured is low by it.
    pub look: Vec<NamedCause>,
    /// What could not be seen, and how to see it.
    pub hints: Vec<String>,
}

impl MachineCheck {
    /// The low rows.
    pub fn low(&self) -> impl Iterator<Item = &CheckRow> {
        self.rows.iter().filter(|row| row.verdict == CheckVerdict::Low)
    }

    /// Whether any row was judged.
    #[must_use]
    pub fn says_anything(&self) -> bool {
        let judged = |row: &CheckRow| {
            row.verdict == CheckVerdict::Low || (row.verdict == CheckVerdict::Ok && row.value.is_some())
        };
        self.rows.iter().any(judged)
    }
}
