//! What a machine says of itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Primitive, Topology};

/// Value of a fact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FactValue {
    /// Words.
    Text(String),
    /// A number in the fact's unit.
    Number(f64),
    /// Several words, such as CPU flags.
    List(Vec<String>),
    /// Yes or no.
    Truth(bool),
    /// Not to be had, because.
    Unknown(String),
}

impl FactValue {
    /// The value in words; a number without its unit.
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

/// One fact, with where it was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fact {
    /// What it is about and its name: `cpu.model`, `memory.total`, `kernel.release`, `cache.l1d.size`.
    pub name: String,
    /// What it says.
    pub value: FactValue,
    /// Unit of a number: `Hz`, `B`, `s`, `1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The file, call or command that said so.
    pub source: String,
    /// Primitives whose speed it may change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub affects: Vec<Primitive>,
}

/// A machine: its name, a hash that tells it from others, and its facts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// What people call it.
    pub name: String,
    /// Hash over what identifies the machine; never the raw identifiers. Empty when unknown.
    #[serde(default)]
    pub fingerprint: String,
    /// One line: CPU, count, memory, system.
    #[serde(default)]
    pub summary: String,
    /// How its CPUs hang together; absent in documents of older versions.
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

    /// The number that a fact states.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.fact(name)?.value {
            FactValue::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The words of a fact, `None` when it is unknown.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        match &self.fact(name)?.value {
            FactValue::Unknown(_) => None,
            value => Some(value.text()),
        }
    }
}
