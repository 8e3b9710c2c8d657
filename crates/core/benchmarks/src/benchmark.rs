//! The definition of a benchmark: static data and one function that prepares it.

use model::{
    BenchmarkDescription, Better, Class, Definition, Domain, ExpectedShare, KeyResult, Operation, ParameterDescription,
    Parameters, PartLimit, Primitive, Reference, Unit,
};

use crate::{BenchmarkContext, Parameter, Trial, Unsupported};

/// The origin of a definition: the program or publication that a result continues, and its name there.
#[derive(Debug, Clone, Copy)]
pub struct DefinitionSource {
    /// Program or publication.
    pub tool: &'static str,
    /// The name of the result there.
    pub name: &'static str,
    /// Paper, document or page.
    pub document: &'static str,
    /// The sets of parameters that this covers, given as some of the parameters.
    at: &'static str,
    stands: SourceStanding,
}

/// [`Definition`] in the form of a literal.
#[derive(Debug, Clone, Copy)]
enum SourceStanding {
    Same,
    Near(&'static str),
    Other(&'static str),
}

impl DefinitionSource {
    /// A source that measures the same.
    #[must_use]
    pub const fn new(tool: &'static str, name: &'static str, document: &'static str) -> Self {
        Self { tool, name, document, at: "", stands: SourceStanding::Same }
    }

    /// The same with a small difference, which comparisons of the two state.
    #[must_use]
    pub const fn near(self, differs: &'static str) -> Self {
        Self { stands: SourceStanding::Near(differs), ..self }
    }

    /// Another quantity than the source's, and why.
    #[must_use]
    pub const fn other(self, differs: &'static str) -> Self {
        Self { stands: SourceStanding::Other(differs), ..self }
    }

    /// Only of these sets of parameters: the first source of a tool that agrees with a set of parameters is the one
    /// that counts.
    #[must_use]
    pub const fn at(self, at: &'static str) -> Self {
        Self { at, ..self }
    }

    /// The source as data.
    #[must_use]
    pub fn describe(&self) -> Reference {
        Reference {
            tool: self.tool.to_owned(),
            name: self.name.to_owned(),
            document: self.document.to_owned(),
            at: self.at.parse().unwrap_or_default(),
            definition: match self.stands {
                SourceStanding::Same => Definition::Same,
                SourceStanding::Near(text) => Definition::Near(text.to_owned()),
                SourceStanding::Other(text) => Definition::Other(text.to_owned()),
            },
        }
    }
}

/// Unit, counted item and direction: a [`model::Metric`] in the form of a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BenchmarkMetric {
    /// Unit of the stored value.
    pub unit: Unit,
    /// The item that is counted, or that the time is for.
    pub per: &'static str,
    /// Which way is better.
    pub better: Better,
}

impl BenchmarkMetric {
    /// A result that is better if lower.
    #[must_use]
    pub const fn lower(unit: Unit, per: &'static str) -> Self {
        Self { unit, per, better: Better::Lower }
    }

    /// A result that is better if higher.
    #[must_use]
    pub const fn higher(unit: Unit, per: &'static str) -> Self {
        Self { unit, per, better: Better::Higher }
    }

    /// The metric in the form that documents store.
    #[must_use]
    pub const fn model(&self) -> model::Metric {
        model::Metric { unit: self.unit, per: std::borrow::Cow::Borrowed(self.per), better: self.better }
    }
}

/// The parties of a measurement and their CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parties {
    /// One thread, pinned.
    One,
    /// Two or more, placed by the parameter `placement`: all on one CPU, alternately on two, or not pinned.
    Placed,
    /// One pinned thread per CPU; the parameter `threads` gives the number.
    Threads,
    /// One thread on the NUMA node that the parameter `cpu_node` names.
    OnNode,
    /// One pinned thread on each core of the NUMA node that the parameter `cpu_node` names.
    CoresOfNode,
    /// Two, each pinned to the CPU that the parameters `cpu` and `other` name.
    NamedPair,
    /// One, pinned to the CPU that the parameter `cpu` names.
    Named,
}

/// Operations per batch and batches per sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BatchRule {
    /// Fewest operations.
    pub least: u64,
    /// Most operations, where more would exhaust a resource (ports, descriptors, disk).
    pub most: u64,
    /// Batches per sample, if operations are so long that the number of the plan would take minutes.
    pub batches: Option<u32>,
}

impl BatchRule {
    /// The number of operations in the shortest batch of the plan.
    pub const FILL: Self = Self { least: 1, most: u64::MAX, batches: None };

    /// The same with a limit on the operations.
    #[must_use]
    pub const fn at_most(most: u64) -> Self {
        Self { least: 1, most, batches: None }
    }

    /// One operation per batch, and a number of batches per sample.
    #[must_use]
    pub const fn single(batches: u32) -> Self {
        Self { least: 1, most: 1, batches: Some(batches) }
    }
}

/// A measurable operation.
pub struct Benchmark {
    /// `family.name`: permanent, and its meaning never changes.
    pub id: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Its purpose and the meaning of its value.
    pub about: &'static str,
    /// Unit and direction.
    pub metric: BenchmarkMetric,
    /// Class, from which its drift between sessions is known.
    pub class: Class,
    /// The primitives that it stresses; it measures the first one.
    pub stresses: &'static [Primitive],
    /// Whether its primitives are usually measured by it: it is proposed where one is in question, and a rung of the
    /// ladder of latencies.
    pub usual: bool,
    /// Lines of a run's key results that it may fill: rank (the tens are the line), title, and a partial parameters.
    pub key: &'static [(u8, &'static str, &'static str)],
    /// The range of a healthy machine's value: a partial parameters, a bound, and both ends over the bound.
    pub expected: &'static [(&'static str, PartLimit, f64, f64)],
    /// The parts of one operation, if that is more than the primitive that it measures.
    pub operation: Option<Operation>,
    /// Arrays of STREAM's rule in its working set, if it is one of STREAM's loops.
    pub arrays: u64,
    /// The program that it needs on the search path, if any.
    pub program: &'static str,
    /// The definitions that it continues.
    pub sources: &'static [DefinitionSource],
    /// The parameters along which it is measured.
    pub parameters: &'static [Parameter],
    /// Its parties and their CPUs.
    pub parties: Parties,
    /// Size of a batch.
    pub batch: BatchRule,
    /// The domain of its time at a set of parameters, if its class does not give it.
    pub domain: Option<fn(&Parameters) -> Domain>,
    /// Whether the result is a difference: preparation then yields [`Trial::Paired`].
    pub paired: bool,
    /// Shared preparation: benchmarks with the same key and the same values on `parameters` may share a sample.
    pub shares: Option<Shares>,
    /// Sets of parameters that are invalid, such as a parameter that has no effect with a value of another one.
    pub skips: fn(&Parameters) -> bool,
    /// Prepares the measurement at a set of parameters, outside the clock.
    pub prepare: fn(&Parameters, &mut BenchmarkContext) -> Result<Trial, Unsupported>,
}

/// The shared preparation of several benchmarks.
#[derive(Debug, Clone, Copy)]
pub struct Shares {
    /// Key of the shared preparation, such as `arena`.
    pub key: &'static str,
    /// Parameters on which the sharers must agree.
    pub parameters: &'static [&'static str],
}

/// The value of a parameter that a benchmark does not have: results of memory are of one thread and base pages where
/// nothing says otherwise.
fn implied(parameter: &str) -> &'static str {
    match parameter {
        "threads" => "1",
        "pages" => "base",
        _ => "-",
    }
}

impl Benchmark {
    /// Defaults of most benchmarks: one pinned party, no parameters, full batches. Every literal specifies at least id,
    /// title, about, metric, class, stresses and prepare.
    pub const BLANK: Self = Self {
        id: "",
        title: "",
        about: "",
        metric: BenchmarkMetric::lower(Unit::Seconds, ""),
        class: Class::Compute,
        stresses: &[],
        usual: false,
        key: &[],
        expected: &[],
        operation: None,
        arrays: 0,
        program: "",
        sources: &[],
        parameters: &[],
        parties: Parties::One,
        batch: BatchRule::FILL,
        domain: None,
        paired: false,
        shares: None,
        skips: |_| false,
        prepare: |_, _| Err(Unsupported::new("it has no preparation")),
    };

    /// The part of the id before the dot.
    #[must_use]
    pub fn family(&self) -> &'static str {
        self.id.split('.').next().unwrap_or_default()
    }

    /// The domain of its time at a set of parameters: the core's clock or something else. Samples check it.
    #[must_use]
    pub fn domain_at(&self, parameters: &Parameters) -> Domain {
        self.domain.map_or_else(|| usual_domain(self.class, parameters), |domain| domain(parameters))
    }

    /// Every set of parameters of the full suite; the first parameter varies slowest.
    #[must_use]
    pub fn points(&self) -> Vec<Parameters> {
        self.product(|parameter| parameter.all())
    }

    /// The default sets of parameters.
    #[must_use]
    pub fn default_points(&self) -> Vec<Parameters> {
        self.product(|parameter| parameter.defaults.iter().map(|value| (*value).to_owned()).collect())
    }

    /// A partial parameters, completed with the default values of each parameter.
    ///
    /// # Errors
    /// Names the parameter or value that the benchmark does not have.
    pub fn complete(&self, part: &Parameters) -> Result<Vec<Parameters>, String> {
        for (name, value) in part.iter() {
            let Some(parameter) = self.parameters.iter().find(|parameter| parameter.name == name) else {
                let names: Vec<_> = self.parameters.iter().map(|parameter| parameter.name).collect();
                return Err(match names.is_empty() {
                    true => format!("{} has no parameters, so no {name}", self.id),
                    false => format!("{} has no parameter {name}; it has {}", self.id, names.join(", ")),
                });
            };
            if !parameter.accepts(value) {
                return Err(format!(
                    "{} cannot be measured at {name}={value}; {name} is {}",
                    self.id,
                    range(parameter)
                ));
            }
        }
        let points = self.product(|parameter| match part.get(parameter.name) {
            Some(value) => vec![value.to_owned()],
            None => parameter.defaults.iter().map(|value| (*value).to_owned()).collect(),
        });
        if points.is_empty() { Err(format!("{} is not defined at {part}", self.id)) } else { Ok(points) }
    }

    fn product(&self, values: impl Fn(&Parameter) -> Vec<String>) -> Vec<Parameters> {
        let mut points = vec![Parameters::none()];
        for parameter in self.parameters {
            let values = values(parameter);
            points = points
                .iter()
                .flat_map(|parameters| {
                    values.iter().map(|value| parameters.clone().with(parameter.name, value.clone()))
                })
                .collect();
        }
        points.retain(|parameters| !(self.skips)(parameters));
        points
    }

    /// Key of the samples that this benchmark may share at a set of parameters.
    #[must_use]
    pub fn sharing(&self, parameters: &Parameters) -> Option<String> {
        let shares = self.shares.as_ref()?;
        let values: Vec<_> =
            shares.parameters.iter().map(|parameter| parameters.get(parameter).unwrap_or(implied(parameter))).collect();
        Some(format!("{}:{}", shares.key, values.join(",")))
    }

    /// The benchmark as data.
    #[must_use]
    pub fn describe(&self) -> BenchmarkDescription {
        BenchmarkDescription {
            id: self.id.to_owned(),
            title: self.title.to_owned(),
            about: self.about.to_owned(),
            metric: self.metric.model(),
            class: self.class,
            stresses: self.stresses.to_vec(),
            usual: self.usual,
            key: self.key.iter().map(key_result).collect(),
            expected: self.expected.iter().map(expected_share).collect(),
            operation: self.operation.clone(),
            sources: self.sources.iter().map(DefinitionSource::describe).collect(),
            parameters: self.parameters.iter().map(Parameter::describe).collect::<Vec<ParameterDescription>>(),
        }
    }
}

fn key_result((rank, title, at): &(u8, &str, &str)) -> KeyResult {
    KeyResult { rank: *rank, title: (*title).to_owned(), at: at.parse().unwrap_or_default() }
}

fn expected_share(&(at, limit, low, high): &(&str, PartLimit, f64, f64)) -> ExpectedShare {
    ExpectedShare { at: at.parse().unwrap_or_default(), limit, low, high }
}

/// Largest working set that fits the caches of one core on every machine of the last ten years.
const NEAR_CACHES: u64 = 256 * model::KIB;

/// The domain of a class's results unless their benchmark overrides it.
fn usual_domain(class: Class, parameters: &Parameters) -> Domain {
    let near = |bytes: Result<u64, model::Error>| bytes.is_ok_and(|bytes| bytes <= NEAR_CACHES);
    match class {
        Class::Compute | Class::Fault | Class::Process => Domain::Core,
        Class::Bandwidth | Class::MemoryLatency if near(parameters.bytes("working_set")) => Domain::Core,
        Class::Bandwidth | Class::MemoryLatency => Domain::Memory,
        // Two CPUs wake each other through a timer's or a hypervisor's delays.
        Class::Ipc if parameters.get("placement") == Some("same_cpu") => Domain::Core,
        Class::FileMetadata if parameters.get("place") == Some("tmpfs") => Domain::Core,
        Class::FileMetadata | Class::Accelerator => Domain::Device,
        Class::Ipc | Class::FileData | Class::Application | Class::Network => Domain::Mixed,
    }
}

fn range(parameter: &Parameter) -> String {
    match parameter.values {
        crate::Values::Choice(words) => {
            let more = match parameter.name {
                "placement" | "relation" => ", sibling, same_cache, same_node, other_node, other_package",
                "cpu_node" | "memory_node" | "cpu" | "other" => ", another number, each",
                "load" if (parameter.besides)("cores") => ", cores",
                "threads" => ", cores, a number such as 8, or 8_scatter",
                "place" if (parameter.besides)("target2") => ", target2 to target9",
                "length" => ", a multiple of 4MiB from 128MiB to 1024GiB",
                _ => "",
            };
            format!("one of {}{more}", words.join(", "))
        }
        crate::Values::Sizes { from, to, .. } => {
            let to = if (parameter.besides)("1024GiB") { 1024 * model::GIB } else { to };
            format!("a size from {} to {}", model::format_size(from), model::format_size(to))
        }
    }
}
