//! The catalogue as data, for the floors that must not know the probes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Class, Metric, Primitive};

/// Where a definition comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reference {
    /// Program or publication whose definition the figure continues.
    pub tool: String,
    /// Its name there.
    pub name: String,
    /// Paper, document or page.
    pub document: String,
}

/// An axis of a probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AxisDescription {
    /// Name in points.
    pub name: String,
    /// Every value of the full suite, in order.
    pub values: Vec<String>,
    /// The representative values, which the default suite measures.
    pub usual: Vec<String>,
}

/// What can be measured, without the means to measure it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeDescription {
    /// `family.name`.
    pub id: String,
    /// What people call it.
    pub title: String,
    /// What it does and what its value means.
    pub about: String,
    /// Unit and direction.
    pub metric: Metric,
    /// How far it drifts from session to session by habit.
    pub class: Class,
    /// What it stresses.
    pub stresses: Vec<Primitive>,
    /// Whose definition it continues.
    pub sources: Vec<Reference>,
    /// Its axes.
    pub axes: Vec<AxisDescription>,
}

/// Everything that can be measured, in the catalogue's order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Catalogue {
    /// One a probe.
    pub probes: Vec<ProbeDescription>,
}

impl Catalogue {
    /// A probe by id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&ProbeDescription> {
        self.probes.iter().find(|probe| probe.id == id)
    }

    /// Place of a probe in the catalogue's order.
    #[must_use]
    pub fn position(&self, id: &str) -> Option<usize> {
        self.probes.iter().position(|probe| probe.id == id)
    }
}
