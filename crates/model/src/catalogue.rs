//! The catalogue as data, for crates that must not depend on the probes.

use serde::{Deserialize, Serialize};

use crate::{Class, Definition, Metric, Point, Primitive};

/// Source of a definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reference {
    /// Program or publication.
    pub tool: String,
    /// Its name there.
    pub name: String,
    /// Paper, document or page.
    pub document: String,
    /// Points of the probe that this is said of; empty for all that no earlier source of the same tool covers.
    #[serde(default, skip_serializing_if = "Point::is_origin")]
    pub at: Point,
    /// Whether it measures there what the probe measures.
    #[serde(default, skip_serializing_if = "Definition::is_same")]
    pub definition: Definition,
}

/// An axis of a probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AxisDescription {
    /// Name in points.
    pub name: String,
    /// Every value of the full suite, in order.
    pub values: Vec<String>,
    /// The values of the default suite.
    pub usual: Vec<String>,
}

/// Description of a probe, without its code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProbeDescription {
    /// `family.name`.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What it does, and the meaning of its value.
    pub about: String,
    /// Unit and direction.
    pub metric: Metric,
    /// Class of its drift between sessions.
    pub class: Class,
    /// Primitives that it stresses.
    pub stresses: Vec<Primitive>,
    /// Sources of its definition.
    pub sources: Vec<Reference>,
    /// Its axes.
    pub axes: Vec<AxisDescription>,
}

impl ProbeDescription {
    /// How a source's figure of this probe stands to its definition at a point; what a point leaves open counts as
    /// agreeing. The same where no source of that tool is known.
    #[must_use]
    pub fn definition(&self, tool: &str, point: &Point) -> Definition {
        let agrees = |source: &&Reference| {
            source.tool == tool
                && source.at.iter().all(|(axis, value)| point.get(axis).is_none_or(|stated| stated == value))
        };
        self.sources.iter().find(agrees).map(|source| source.definition.clone()).unwrap_or_default()
    }
}

/// All probes, in the catalogue's order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Catalogue {
    /// The probes.
    pub probes: Vec<ProbeDescription>,
}

impl Catalogue {
    /// A probe by id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&ProbeDescription> {
        self.probes.iter().find(|probe| probe.id == id)
    }

    /// Position of a probe in the catalogue's order.
    #[must_use]
    pub fn position(&self, id: &str) -> Option<usize> {
        self.probes.iter().position(|probe| probe.id == id)
    }
}
