//! The run document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Conditions, Figure, FigureKey, Machine, Plan, SessionReferences};

/// Which machine and boot it was, taken at the start and at the end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Identity {
    /// Hash over what identifies the machine.
    pub fingerprint: String,
    /// Boot of the kernel.
    pub boot: String,
    /// Host name.
    pub host: String,
}

/// When and how it was measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Session {
    /// Start, RFC 3339 in UTC.
    pub started: String,
    /// End, RFC 3339 in UTC; absent while it runs or when it was cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// Seconds that measuring took, resumed parts added up.
    #[serde(default)]
    pub seconds: f64,
    /// Version of Prony that measured.
    #[serde(default)]
    pub version: String,
    /// Command line that began it.
    #[serde(default)]
    pub command: Vec<String>,
    /// Rounds done.
    #[serde(default)]
    pub rounds: u32,
    /// Whether everything planned was done.
    #[serde(default)]
    pub complete: bool,
    /// Machine and boot at the start.
    #[serde(default)]
    pub began_on: Identity,
    /// Machine and boot at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_on: Option<Identity>,
    /// What a reader of every figure should know: virtualised, load beside it, limits.
    #[serde(default)]
    pub notes: Vec<String>,
    /// What disturbed it, as the machine recorded it meanwhile.
    #[serde(default, skip_serializing_if = "Conditions::is_empty")]
    pub conditions: Conditions,
    /// What the references say of the clock and of neighbours on the core, where they were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub references: Option<SessionReferences>,
}

/// Where figures come from that Prony did not measure.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Origin {
    /// Program or publication.
    pub tool: String,
    /// Its version, where stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// File or document it was read from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// SHA-256 of the source's bytes, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Who is to be named wherever the figures are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribution: Option<String>,
}

/// The self-describing document of one session on one machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Version of the document's form.
    pub schema: u32,
    /// Name that no other run has.
    pub id: String,
    /// Name that its owner gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Where it comes from, when Prony did not measure it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The machine.
    pub machine: Machine,
    /// When and how.
    pub session: Session,
    /// What was planned.
    pub plan: Plan,
    /// What was found, in the order of the catalogue.
    pub figures: Vec<Figure>,
}

impl Run {
    /// A figure by name.
    #[must_use]
    pub fn figure(&self, key: &FigureKey) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.probe == key.probe && figure.point == key.point)
    }

    /// The same run with its core figures printed at another clock, hertz.
    pub fn set_clock(&mut self, hertz: f64) {
        self.figures.iter_mut().for_each(|figure| figure.set_clock(hertz));
    }

    /// What to call it: its label, else its id.
    #[must_use]
    pub fn name(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.id)
    }
}
