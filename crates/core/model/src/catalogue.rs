//! The catalogue as data, for crates that must not depend on the benchmarks.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{Class, Definition, Metric, Parameters, Primitive};

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
    /// Sets of parameters that this definition covers; empty for all that no earlier source of the same tool covers.
    #[serde(default, skip_serializing_if = "Parameters::is_empty")]
    pub at: Parameters,
    /// Whether its quantity there is that of the benchmark.
    #[serde(default, skip_serializing_if = "Definition::is_same")]
    pub definition: Definition,
}

/// A parameter of a benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ParameterDescription {
    /// Name in sets of parameters.
    pub name: String,
    /// Every value of the full suite, in order.
    pub values: Vec<String>,
    /// The values of the default suite.
    pub usual: Vec<String>,
}

/// A line of a run's key results that a benchmark may fill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KeyResult {
    /// The tens are its line; the lowest rank that a run has fills it.
    pub rank: u8,
    /// Title of the line.
    pub title: String,
    /// Parameters that must agree.
    pub at: Parameters,
}

/// The parts of one operation of a benchmark, declared for results without a measured footprint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Operation {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Operations in one unit of the result.
    pub times: f64,
    /// Units of other primitives in it, at most.
    pub uses: Cow<'static, [(Primitive, f64)]>,
    /// Primitives that a mixture uses without a count. A benchmark that has any defines no primitive's cost.
    pub touches: Cow<'static, [Primitive]>,
}

impl Operation {
    /// One operation that uses these units of other primitives.
    #[must_use]
    pub const fn new(name: &'static str, uses: &'static [(Primitive, f64)]) -> Self {
        Self::mixture(name, uses, &[])
    }

    /// A mixed operation, and what it also uses.
    #[must_use]
    pub const fn mixture(name: &'static str, uses: &'static [(Primitive, f64)], touches: &'static [Primitive]) -> Self {
        Self { name: Cow::Borrowed(name), times: 1.0, uses: Cow::Borrowed(uses), touches: Cow::Borrowed(touches) }
    }

    /// The same, for `times` operations in one unit of the result.
    #[must_use]
    pub const fn times(mut self, times: f64) -> Self {
        self.times = times;
        self
    }

    /// Whether it defines no primitive's cost.
    #[must_use]
    pub fn is_mixture(&self) -> bool {
        !self.touches.is_empty()
    }

    /// Operations in one unit of a result at a set of parameters: the parameter `concurrent` multiplies them.
    #[must_use]
    pub fn count(&self, parameters: &Parameters) -> f64 {
        let concurrent = parameters.get("concurrent").and_then(|value| value.parse::<u32>().ok());
        self.times * f64::from(concurrent.unwrap_or(1).max(1))
    }
}

/// What bounds a result on a healthy machine: a function of the machine's facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PartLimit {
    /// Transfers of all channels of main memory, bytes per second.
    DramBandwidth,
    /// Latency of the first-level data cache, seconds at the measured clock.
    FirstCache,
    /// Latency of the second-level cache, the same.
    SecondCache,
}

/// The range of a result on a healthy machine, as shares of what its parts can do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExpectedShare {
    /// Parameters that must agree.
    pub at: Parameters,
    /// The bound.
    pub limit: PartLimit,
    /// Lower end of the range over the bound.
    pub low: f64,
    /// Upper end of the range over the bound.
    pub high: f64,
}

/// Description of a benchmark, without its code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BenchmarkDescription {
    /// `family.name`.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its purpose, and the meaning of its value.
    pub about: String,
    /// Unit and direction.
    pub metric: Metric,
    /// Class of its drift between sessions.
    pub class: Class,
    /// Primitives that it stresses; it measures the first one.
    pub stresses: Vec<Primitive>,
    /// Whether its primitives are usually measured by it.
    #[serde(default)]
    pub usual: bool,
    /// Lines of a run's key results that it may fill.
    #[serde(default)]
    pub key: Vec<KeyResult>,
    /// The parts of one operation, if that is more than the primitive that it measures.
    #[serde(default)]
    pub operation: Option<Operation>,
    /// What is expected of it, by sets of parameters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<ExpectedShare>,
    /// Sources of its definition.
    pub sources: Vec<Reference>,
    /// Its parameters.
    pub parameters: Vec<ParameterDescription>,
}

impl BenchmarkDescription {
    /// How a source's result of this benchmark compares with its definition at a set of parameters; open parameters
    /// count as equal. `Same` where no source of that tool is known.
    #[must_use]
    pub fn definition(&self, tool: &str, parameters: &Parameters) -> Definition {
        let agrees = |source: &&Reference| {
            source.tool == tool
                && source
                    .at
                    .iter()
                    .all(|(parameter, value)| parameters.get(parameter).is_none_or(|stated| stated == value))
        };
        self.sources.iter().find(agrees).map(|source| source.definition.clone()).unwrap_or_default()
    }
}

/// All benchmarks, in the catalogue's order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Catalogue {
    /// The benchmarks.
    pub benchmarks: Vec<BenchmarkDescription>,
}

impl Default for &Catalogue {
    fn default() -> Self {
        static NO_BENCHMARKS: Catalogue = Catalogue { benchmarks: Vec::new() };
        &NO_BENCHMARKS
    }
}

impl Catalogue {
    /// A benchmark by id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&BenchmarkDescription> {
        self.benchmarks.iter().find(|benchmark| benchmark.id == id)
    }

    /// Position of a benchmark in the catalogue's order.
    #[must_use]
    pub fn position(&self, id: &str) -> Option<usize> {
        self.benchmarks.iter().position(|benchmark| benchmark.id == id)
    }

    /// Whether an id has the family of a benchmark and is not one.
    #[must_use]
    pub fn lacks(&self, id: &str) -> bool {
        let family = |id: &str| id.split_once('.').map(|(family, _)| family.to_owned());
        self.get(id).is_none() && self.benchmarks.iter().any(|benchmark| family(&benchmark.id) == family(id))
    }

    /// The benchmark by which a primitive is measured, among those that fit: a usual one before others, and one that
    /// measures it before one that only stresses it.
    #[must_use]
    pub fn measure_of(
        &self,
        primitive: Primitive,
        fits: impl Fn(&BenchmarkDescription) -> bool,
    ) -> Option<&BenchmarkDescription> {
        let those =
            self.benchmarks.iter().filter(|benchmark| benchmark.stresses.contains(&primitive) && fits(benchmark));
        those.min_by_key(|benchmark| (!benchmark.usual, benchmark.stresses.first() != Some(&primitive)))
    }
}
