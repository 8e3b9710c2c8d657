//! Known values: benchmarks on all machines, the application on some.

use model::{Better, Footprint, Metric, Primitive};

/// Kind of resource of a column, as far as a footprint distinguishes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ResourceKind {
    /// Instructions and the caches near the core.
    Core,
    /// Main memory.
    Memory,
    /// The kernel: calls, faults, switches, processes, sockets, the page cache.
    Kernel,
    /// Devices: disks and networks.
    Device,
}

impl ResourceKind {
    /// The kind of a primitive.
    #[must_use]
    pub const fn of(primitive: Primitive) -> Self {
        use Primitive as P;
        match primitive {
            P::CoreClock | P::IntegerAlu | P::FloatingPoint | P::Divide | P::Vector | P::Aes | P::Sha => Self::Core,
            P::IntMatrix | P::BitCounting | P::Branch | P::L1 | P::L2 | P::L3 | P::CacheLatency => Self::Core,
            P::DramLatency | P::DramRead | P::DramWrite | P::Tlb | P::CoreToCore => Self::Memory,
            P::Durability | P::DiskRead | P::DiskWrite | P::NetworkLink => Self::Device,
            _ => Self::Kernel,
        }
    }
}

/// A benchmark at a point, or a metric of another tool.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictorColumn {
    /// Its id and point; columns of one name are counted in different units or defined differently.
    pub name: String,
    /// Title without the point; shares with the same label are added up.
    pub label: String,
    /// Program or family of the column: many columns of one tool have a smaller weight each.
    pub tool: String,
    /// Direction.
    pub better: Better,
    /// Primitives that it stresses; empty if unknown.
    pub stresses: Vec<Primitive>,
    /// Working set in bytes, if the point has one.
    pub working_set: Option<u64>,
    /// Whether it is a fact of the machine, such as its clock, and no measurement.
    pub fact: bool,
}

/// One machine, with its replicates merged.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictorMachine {
    /// Its name.
    pub name: String,
    /// Ids of its runs.
    pub runs: Vec<String>,
    /// Model of CPU: machines of one model are left out together.
    pub model: String,
    /// Family of CPU.
    pub family: String,
    /// Natural logarithm of each column's value in its own unit; absent if it was not measured.
    pub benchmarks: Vec<Option<f64>>,
    /// Natural logarithm of the application's value; absent if it did not run.
    pub application: Option<f64>,
}

/// The application to be predicted.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictedApplication {
    /// Its name.
    pub name: String,
    /// Unit and direction.
    pub metric: Metric,
    /// Primitives that it stresses, if known.
    pub stresses: Vec<Primitive>,
    /// Working set in bytes, if its point has one.
    pub working_set: Option<u64>,
    /// Its footprint, if measured.
    pub footprint: Option<Footprint>,
}

/// Machines by columns, and the application.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictorTable {
    /// The application to be predicted.
    pub application: PredictedApplication,
    /// The predictors, without results of the application.
    pub columns: Vec<PredictorColumn>,
    /// The machines.
    pub machines: Vec<PredictorMachine>,
}

impl PredictorTable {
    /// Positions of machines on which the application ran.
    #[must_use]
    pub fn known(&self) -> Vec<usize> {
        (0..self.machines.len()).filter(|&m| self.machines[m].application.is_some()).collect()
    }

    /// A benchmark's logarithm with the sign of a speed.
    pub(crate) fn speed(&self, machine: usize, column: usize) -> Option<f64> {
        let value = self.machines[machine].benchmarks.get(column).copied().flatten()?;
        value.is_finite().then_some(turned(value, self.columns[column].better))
    }

    /// The application's logarithm with the sign of a speed.
    pub(crate) fn application_speed(&self, machine: usize) -> Option<f64> {
        let value = self.machines[machine].application?;
        value.is_finite().then_some(turned(value, self.application.metric.better))
    }

    /// The application's rate on a machine, whatever its unit: a value, or one over a time.
    #[must_use]
    pub fn true_rate(&self, machine: usize) -> Option<f64> {
        self.application_speed(machine).map(f64::exp)
    }

    /// The rate that a value in the application's unit is.
    #[must_use]
    pub fn rate_of(&self, value: f64) -> f64 {
        turned(value.ln(), self.application.metric.better).exp()
    }

    /// An application's speed as a value in its own unit.
    pub(crate) fn value(&self, speed: f64) -> f64 {
        turned(speed, self.application.metric.better).exp()
    }
}

/// A logarithm with the sign of a speed, or one of a speed with the sign of the unit.
pub(crate) const fn turned(logarithm: f64, better: Better) -> f64 {
    match better {
        Better::Higher => logarithm,
        Better::Lower => -logarithm,
    }
}

#[cfg(test)]
impl PredictorTable {
    /// Machines with this many benchmarks of one tool, and an application without further information.
    pub(crate) fn simulated(benchmarks: usize, machines: Vec<PredictorMachine>) -> Self {
        let column = |k: usize| PredictorColumn {
            name: format!("benchmark {k}"),
            label: format!("benchmark {k}"),
            tool: "table".to_owned(),
            better: Better::Higher,
            stresses: Vec::new(),
            working_set: None,
            fact: false,
        };
        let application = PredictedApplication {
            name: "application".to_owned(),
            metric: Metric::higher(model::Unit::PerSecond, "score"),
            stresses: Vec::new(),
            working_set: None,
            footprint: None,
        };
        Self { application, columns: (0..benchmarks).map(column).collect(), machines }
    }
}
