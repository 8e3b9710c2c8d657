//! The definition of a benchmark: static data and one function that prepares it.

use model::{
    AxisDescription, BenchmarkDescription, Better, Class, Definition, Domain, KeyResult, Operation, Point, Primitive,
    Reference, Unit,
};

use crate::{Axis, BenchmarkContext, Trial, Unsupported};

/// The origin of a definition: the program or publication that a result continues, and its name there.
#[derive(Debug, Clone, Copy)]
pub struct DefinitionSource {
    /// Program or publication.
    pub tool: &'static str,
    /// The name of the result there.
    pub name: &'static str,
    /// Paper, document or page.
    pub document: &'static str,
    /// The points that this is said of, as a partial point.
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

    /// The same with a small difference, which is said wherever the two stand side by side.
    #[must_use]
    pub const fn near(self, differs: &'static str) -> Self {
        Self { stands: SourceStanding::Near(differs), ..self }
    }

    /// Another quantity than the source's, and why.
    #[must_use]
    pub const fn other(self, differs: &'static str) -> Self {
        Self { stands: SourceStanding::Other(differs), ..self }
    }

    /// Only of these points: the first source of a tool that agrees with a point is the one that is said of it.
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
    /// A result of which less is better.
    #[must_use]
    pub const fn lower(unit: Unit, per: &'static str) -> Self {
        Self { unit, per, better: Better::Lower }
    }

    /// A result of which more is better.
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
    /// Two or more, placed by the axis `placement`: all on one CPU, alternately on two, or not pinned.
    Placed,
    /// One pinned thread per CPU, as many as the axis `threads` specifies.
    Threads,
    /// One thread on the NUMA node that the axis `cpu_node` names.
    OnNode,
    /// One pinned thread on each core of the NUMA node that the axis `cpu_node` names.
    CoresOfNode,
    /// Two, each pinned to the CPU that the axes `cpu` and `other` name.
    NamedPair,
    /// Not pinned.
    Free,
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
    /// As many operations as the shortest batch of the plan takes.
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
    /// What it does and what its value means.
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
    /// Lines of a run's key results that it may fill: rank (the tens are the line), title, and a partial point.
    pub key: &'static [(u8, &'static str, &'static str)],
    /// What one operation consists of, if that is more than the primitive that it measures.
    pub operation: Option<Operation>,
    /// Arrays of STREAM's rule in its working set, if it is one of STREAM's loops.
    pub arrays: u64,
    /// The program that it needs on the search path, if any.
    pub program: &'static str,
    /// The definitions that it continues.
    pub sources: &'static [DefinitionSource],
    /// The axes along which it is measured.
    pub axes: &'static [Axis],
    /// Its parties and their CPUs.
    pub parties: Parties,
    /// Size of a batch.
    pub batch: BatchRule,
    /// What its time follows at a point, where its class does not say so.
    pub domain: Option<fn(&Point) -> Domain>,
    /// Whether the result is a difference: preparation then yields [`Trial::Paired`].
    pub paired: bool,
    /// Shared preparation: benchmarks with the same key and the same values on `axes` may share a sample.
    pub shares: Option<Shares>,
    /// Points that are invalid, such as an axis that has no effect with a value of another one.
    pub skips: fn(&Point) -> bool,
    /// Prepares the measurement at a point, outside the clock.
    pub prepare: fn(&Point, &mut BenchmarkContext) -> Result<Trial, Unsupported>,
}

/// The shared preparation of several benchmarks.
#[derive(Debug, Clone, Copy)]
pub struct Shares {
    /// Key of the shared preparation, such as `arena`.
    pub key: &'static str,
    /// Axes on which the sharers must agree.
    pub axes: &'static [&'static str],
}

/// The value of an axis that a benchmark does not have: results of memory are of one thread and base pages where nothing
/// says otherwise.
fn implied(axis: &str) -> &'static str {
    match axis {
        "threads" => "1",
        "pages" => "base",
        _ => "-",
    }
}

impl Benchmark {
    /// Defaults of most benchmarks: one pinned party, no axes, full batches. Every literal specifies at least id, title,
    /// about, metric, class, stresses and prepare.
    pub const BLANK: Self = Self {
        id: "",
        title: "",
        about: "",
        metric: BenchmarkMetric::lower(Unit::Seconds, ""),
        class: Class::Compute,
        stresses: &[],
        usual: false,
        key: &[],
        operation: None,
        arrays: 0,
        program: "",
        sources: &[],
        axes: &[],
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

    /// What its time follows at a point: the core's clock or something else. Samples check it.
    #[must_use]
    pub fn domain_at(&self, point: &Point) -> Domain {
        self.domain.map_or_else(|| usual_domain(self.class, point), |domain| domain(point))
    }

    /// Every point of the full suite; the first axis varies slowest.
    #[must_use]
    pub fn points(&self) -> Vec<Point> {
        self.product(|axis| axis.all())
    }

    /// The default points.
    #[must_use]
    pub fn default_points(&self) -> Vec<Point> {
        self.product(|axis| axis.defaults.iter().map(|value| (*value).to_owned()).collect())
    }

    /// A partial point, completed with the default values of each axis.
    ///
    /// # Errors
    /// Names the axis or value that the benchmark does not have.
    pub fn complete(&self, part: &Point) -> Result<Vec<Point>, String> {
        for (name, value) in part.iter() {
            let Some(axis) = self.axes.iter().find(|axis| axis.name == name) else {
                let names: Vec<_> = self.axes.iter().map(|axis| axis.name).collect();
                return Err(match names.is_empty() {
                    true => format!("{} has no axes, so no {name}", self.id),
                    false => format!("{} has no axis {name}; it has {}", self.id, names.join(", ")),
                });
            };
            if !axis.accepts(value) {
                return Err(format!("{} cannot be measured at {name}={value}; {name} is {}", self.id, range(axis)));
            }
        }
        let points = self.product(|axis| match part.get(axis.name) {
            Some(value) => vec![value.to_owned()],
            None => axis.defaults.iter().map(|value| (*value).to_owned()).collect(),
        });
        if points.is_empty() { Err(format!("{} is not defined at {part}", self.id)) } else { Ok(points) }
    }

    fn product(&self, values: impl Fn(&Axis) -> Vec<String>) -> Vec<Point> {
        let mut points = vec![Point::origin()];
        for axis in self.axes {
            let values = values(axis);
            points = points
                .iter()
                .flat_map(|point| values.iter().map(|value| point.clone().with(axis.name, value.clone())))
                .collect();
        }
        points.retain(|point| !(self.skips)(point));
        points
    }

    /// Key of the samples that this benchmark may share at a point.
    #[must_use]
    pub fn sharing(&self, point: &Point) -> Option<String> {
        let shares = self.shares.as_ref()?;
        let values: Vec<_> = shares.axes.iter().map(|axis| point.get(axis).unwrap_or(implied(axis))).collect();
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
            operation: self.operation.clone(),
            sources: self.sources.iter().map(DefinitionSource::describe).collect(),
            axes: self.axes.iter().map(Axis::describe).collect::<Vec<AxisDescription>>(),
        }
    }
}

fn key_result((rank, title, at): &(u8, &str, &str)) -> KeyResult {
    KeyResult { rank: *rank, title: (*title).to_owned(), at: at.parse().unwrap_or_default() }
}

/// Largest working set that lies in the caches of one core on every machine of the last ten years.
const NEAR_CACHES: u64 = 256 * model::KIB;

/// What results of a class follow unless their benchmark says otherwise.
fn usual_domain(class: Class, point: &Point) -> Domain {
    let near = |bytes: Result<u64, model::Error>| bytes.is_ok_and(|bytes| bytes <= NEAR_CACHES);
    match class {
        Class::Compute | Class::Fault | Class::Process => Domain::Core,
        Class::Bandwidth | Class::MemoryLatency if near(point.bytes("working_set")) => Domain::Core,
        Class::Bandwidth | Class::MemoryLatency => Domain::Memory,
        // Two CPUs wake each other through a timer's or a hypervisor's delays.
        Class::Ipc if point.get("placement") == Some("same_cpu") => Domain::Core,
        Class::FileMetadata if point.get("place") == Some("tmpfs") => Domain::Core,
        Class::FileMetadata => Domain::Device,
        Class::Ipc | Class::FileData | Class::Application | Class::Network => Domain::Mixed,
    }
}

fn range(axis: &Axis) -> String {
    match axis.values {
        crate::Values::Choice(words) => {
            let more = match axis.name {
                "placement" | "relation" => ", sibling, same_cache, same_node, other_node, other_package",
                "cpu_node" | "memory_node" | "cpu" | "other" => ", another number, each",
                "load" if (axis.besides)("cores") => ", cores",
                "threads" => ", cores, a number such as 8, or 8_scatter",
                "place" if (axis.besides)("target2") => ", target2 to target9",
                "length" => ", a multiple of 4MiB from 128MiB to 1024GiB",
                _ => "",
            };
            format!("one of {}{more}", words.join(", "))
        }
        crate::Values::Sizes { from, to, .. } => {
            let to = if (axis.besides)("1024GiB") { 1024 * model::GIB } else { to };
            format!("a size from {} to {}", model::format_size(from), model::format_size(to))
        }
    }
}
