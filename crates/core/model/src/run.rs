//! The run document.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{BenchmarkResult, Conditions, FarmRecord, Machine, Plan, ResultKey, SessionSensors};

/// Identity of machine and boot, taken at the start and at the end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Identity {
    /// Hash over what identifies the machine.
    pub fingerprint: String,
    /// Id of the kernel's boot.
    pub boot: String,
    /// Host name.
    pub host: String,
}

/// Time and circumstances of the measurement.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Session {
    /// Start, RFC 3339 in UTC.
    pub started: String,
    /// End, RFC 3339 in UTC; absent while it runs or when it was interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// Duration of measuring, seconds, summed over resumed parts.
    #[serde(default)]
    pub seconds: f64,
    /// Version of Prony.
    #[serde(default)]
    pub version: String,
    /// Command line of the first part.
    #[serde(default)]
    pub command: Vec<String>,
    /// Completed rounds.
    #[serde(default)]
    pub rounds: u32,
    /// Whether everything planned was measured.
    #[serde(default)]
    pub complete: bool,
    /// Machine and boot at the start.
    #[serde(default)]
    pub began_on: Identity,
    /// Machine and boot at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_on: Option<Identity>,
    /// Notes on all results: virtualised, load, limits.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Disturbances recorded by the machine.
    #[serde(default, skip_serializing_if = "Conditions::is_empty")]
    pub conditions: Conditions,
    /// Sensor readings of the clock and of neighbours on the core, if they were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensors: Option<SessionSensors>,
    /// The ledger's record, for a farm run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub farm: Option<FarmRecord>,
}

/// Origin of results that Prony did not measure.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Origin {
    /// Program or publication.
    pub tool: String,
    /// Its version, if stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// File or document that was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// SHA-256 of the source's bytes, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Attribution, shown wherever the results are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribution: Option<String>,
}

/// The self-describing document of one session on one machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Run {
    /// Schema version of the document.
    pub schema: u32,
    /// Unique id.
    pub id: String,
    /// Label given by the owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Its origin, if Prony did not measure it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The machine.
    pub machine: Machine,
    /// Time and circumstances.
    pub session: Session,
    /// The plan.
    pub plan: Plan,
    /// The rules that it was measured with: every number that can move a value, by name. Empty if Prony did not measure
    /// it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rules: BTreeMap<String, f64>,
    /// The results, in the order of the catalogue.
    pub results: Vec<BenchmarkResult>,
}

impl Default for Run {
    fn default() -> Self {
        Self {
            schema: crate::SCHEMA,
            id: String::new(),
            label: None,
            origin: None,
            machine: Machine::default(),
            session: Session::default(),
            plan: Plan::default(),
            rules: BTreeMap::new(),
            results: Vec::new(),
        }
    }
}

impl Run {
    /// A result by key.
    #[must_use]
    pub fn result(&self, key: &ResultKey) -> Option<&BenchmarkResult> {
        self.results.iter().find(|result| result.benchmark == key.benchmark && result.parameters == key.parameters)
    }

    /// Whether the time limit of its plan ended it before every result was finished.
    #[must_use]
    pub fn ended_by_limit(&self) -> bool {
        !self.session.complete && self.plan.time_limit.is_some_and(|limit| self.session.seconds >= limit)
    }

    /// Whether it was interrupted: something planned was not measured, and no time limit asked for that.
    #[must_use]
    pub fn interrupted(&self) -> bool {
        self.origin.is_none() && !self.session.complete && !self.ended_by_limit()
    }

    /// Identifies its machine: the fingerprint, else the name that another source states. `None` if neither is known,
    /// so that it counts as a machine of its own.
    #[must_use]
    pub fn machine_identity(&self) -> Option<&str> {
        let named = self.origin.is_some().then_some(self.machine.name.as_str());
        [Some(self.machine.fingerprint.as_str()), named].into_iter().flatten().find(|mark| !mark.is_empty())
    }

    /// Its label, else its id.
    #[must_use]
    pub fn name(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.id)
    }
}
