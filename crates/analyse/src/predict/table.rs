//! What is known: probes on all machines, the application on some.

use model::{Better, Footprint, Metric, Primitive};

/// What kind of resource a column is about, as far as a footprint can tell them apart.
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

/// A probe at a point, or a metric of another tool.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictorColumn {
    /// Its name, unlike every other's.
    pub name: String,
    /// What people call it, without the point: shares of one label are added up.
    pub label: String,
    /// Program or family that made it: many columns of one tool count less each.
    pub tool: String,
    /// Which way is better.
    pub better: Better,
    /// What it stresses; empty where nobody says.
    pub stresses: Vec<Primitive>,
    /// Working set in bytes, where the point has one.
    pub working_set: Option<u64>,
}

/// One machine, its replicates already made one.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictorMachine {
    /// What people call it.
    pub name: String,
    /// Ids of the runs that told of it.
    pub runs: Vec<String>,
    /// Model of CPU: machines of one model are left out together.
    pub model: String,
    /// Family of CPU.
    pub family: String,
    /// Natural logarithm of each column's value, in its own unit; absent where it was not measured.
    pub probes: Vec<Option<f64>>,
    /// Natural logarithm of the application's value; absent where it did not run.
    pub application: Option<f64>,
}

/// What is to be predicted.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictedApplication {
    /// Its name.
    pub name: String,
    /// Unit and direction.
    pub metric: Metric,
    /// What it stresses, where somebody said so.
    pub stresses: Vec<Primitive>,
    /// Working set in bytes, where its point has one.
    pub working_set: Option<u64>,
    /// What it used of a machine, where that was measured.
    pub footprint: Option<Footprint>,
}

/// Machines by columns, and the application.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictorTable {
    /// What is to be predicted.
    pub application: PredictedApplication,
    /// The predictors. None of them may be a figure of the application itself.
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

    /// A probe's logarithm turned so that more is better.
    pub(crate) fn speed(&self, machine: usize, column: usize) -> Option<f64> {
        let value = self.machines[machine].probes.get(column).copied().flatten()?;
        value.is_finite().then_some(turned(value, self.columns[column].better))
    }

    /// The application's logarithm turned so that more is better.
    pub(crate) fn application_speed(&self, machine: usize) -> Option<f64> {
        let value = self.machines[machine].application?;
        value.is_finite().then_some(turned(value, self.application.metric.better))
    }

    /// An application's speed as a value in its own unit.
    pub(crate) fn value(&self, speed: f64) -> f64 {
        turned(speed, self.application.metric.better).exp()
    }
}

const fn turned(logarithm: f64, better: Better) -> f64 {
    match better {
        Better::Higher => logarithm,
        Better::Lower => -logarithm,
    }
}
