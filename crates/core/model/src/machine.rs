//! Facts about a machine.

use serde::{Deserialize, Serialize};

use crate::{Primitive, Topology};

/// Value of a fact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FactValue {
    /// A text.
    Text(String),
    /// A number in the fact's unit.
    Number(f64),
    /// Several words, such as CPU flags.
    List(Vec<String>),
    /// Yes or no.
    Truth(bool),
    /// Not available; the reason.
    Unknown(String),
}

impl FactValue {
    /// The value as text; a number without its unit.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
            Self::List(items) => items.join(" "),
            Self::Truth(truth) => if *truth { "yes" } else { "no" }.to_owned(),
            Self::Unknown(reason) => format!("unknown: {reason}"),
        }
    }
}

/// One fact and its source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fact {
    /// Its name: `cpu.model`, `memory.total`, `kernel.release`, `cache.l1d.size`.
    pub name: String,
    /// Its value.
    pub value: FactValue,
    /// Unit of a number: `Hz`, `B`, `s`, `1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The file, call or command that provided it.
    pub source: String,
    /// Primitives whose speed it may affect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub affects: Vec<Primitive>,
}

impl Fact {
    /// A fact without a unit.
    #[must_use]
    pub fn new(name: &str, value: impl Into<FactValue>, source: &str, affects: &[Primitive]) -> Self {
        let (name, source) = (name.to_owned(), source.to_owned());
        Self { name, value: value.into(), unit: None, source, affects: affects.to_vec() }
    }
}

impl From<&str> for FactValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for FactValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<f64> for FactValue {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for FactValue {
    fn from(truth: bool) -> Self {
        Self::Truth(truth)
    }
}

/// Beginning of the names of facts about variables of the environment.
const VARIABLE: &str = "environment.";

/// A machine: name, identifying hash, and facts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Machine {
    /// Its name.
    pub name: String,
    /// Hash over what identifies the machine, without the raw identifiers. Empty when unknown.
    #[serde(default)]
    pub fingerprint: String,
    /// Summary in one line: CPU, count, memory, system.
    #[serde(default)]
    pub summary: String,
    /// How its CPUs hang together, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<Topology>,
    /// Everything else.
    #[serde(default)]
    pub facts: Vec<Fact>,
}

impl Machine {
    /// A fact by name.
    #[must_use]
    pub fn fact(&self, name: &str) -> Option<&Fact> {
        self.facts.iter().find(|fact| fact.name == name)
    }

    /// The value of a numeric fact.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.fact(name)?.value {
            FactValue::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The value of a fact as text; `None` when it is unknown.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        match &self.fact(name)?.value {
            FactValue::Unknown(_) => None,
            value => Some(value.text()),
        }
    }

    /// Variables of the environment with their values that change how programs are linked and how their library works.
    pub fn variables(&self) -> impl Iterator<Item = (&str, String)> {
        self.facts.iter().filter_map(|fact| Some((fact.name.strip_prefix(VARIABLE)?, fact.value.text())))
    }

    /// Whether it is a virtual machine; false where that is unknown.
    #[must_use]
    pub fn is_guest(&self) -> bool {
        self.text("virtual.hypervisor").is_some_and(|name| name != "none")
    }
}
