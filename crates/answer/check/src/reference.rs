//! The public table of current machines, by CPU model.
//!
//! Its definitions are near ours and not the same: it widens ranges, and is no basis of an expectation by itself.

use model::{BenchmarkResult, Better, Machine};

use crate::population::Population;

/// What the table holds of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PublicQuantity {
    /// lmbench's `bw_mem rd` of 256 MB on every CPU, bytes per second: near `memory.read`.
    Read,
    /// lmbench's `bw_mem wr` of 256 MB on every CPU, bytes per second: near `memory.write`.
    Write,
    /// PassMark's memory latency, seconds: near `memory.load_latency`.
    Latency,
}

impl PublicQuantity {
    /// Every quantity, in the order of the columns.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Latency];

    /// Which way is better.
    #[must_use]
    pub const fn better(self) -> Better {
        if matches!(self, Self::Latency) { Better::Lower } else { Better::Higher }
    }

    /// Base units in one unit of its column.
    const fn scale(self) -> f64 {
        if matches!(self, Self::Latency) { 1e-9 } else { 1e6 }
    }

    /// Whether a machine of the table has as many CPUs as another one, where that matters.
    fn is_of(self, other: &PublicMachine, machine: &Machine) -> bool {
        self == Self::Latency || machine.number("cpu.online") == Some(f64::from(other.cpus))
    }

    /// The quantity that is near a result.
    #[must_use]
    pub fn of(result: &BenchmarkResult) -> Option<Self> {
        let at = |name| result.parameters.get(name);
        let large = result.parameters.bytes("working_set").is_ok_and(|bytes| bytes >= 64 << 20);
        let base = at("pages") != Some("huge");
        match result.benchmark.as_str() {
            "memory.read" if at("threads") == Some("all") && large && base => Some(Self::Read),
            "memory.write" if at("threads") == Some("all") && large && base => Some(Self::Write),
            "memory.load_latency" if large && base => Some(Self::Latency),
            "memory.hierarchy_latency" if at("level") == Some("memory") => Some(Self::Latency),
            _ => None,
        }
    }
}

/// One machine of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct PublicMachine {
    /// Model of its CPU.
    pub cpu: String,
    /// Its CPUs, on which its bandwidths depend.
    pub cpus: u32,
    /// Values in base units, in the order of [`PublicQuantity::ALL`].
    pub values: [Option<f64>; 3],
}

/// The table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PublicTable {
    /// Its machines.
    pub machines: Vec<PublicMachine>,
}

impl PublicTable {
    /// Reads a CSV file with a CPU model, CPUs, read and write in MB/s, and latency in ns. Lines with `#` say who made it. What
    /// is no number is absent.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).flexible(true).from_reader(text.as_bytes());
        let machine = |record: csv::StringRecord| {
            let value = |quantity: PublicQuantity| {
                let number: f64 = record.get(2 + quantity as usize)?.parse().ok()?;
                (number.is_finite() && number > 0.0).then_some(number * quantity.scale())
            };
            let cpus = record.get(1).and_then(|text| text.parse().ok()).unwrap_or_default();
            let cpu = record.get(0).unwrap_or_default().to_owned();
            PublicMachine { cpu, cpus, values: PublicQuantity::ALL.map(value) }
        };
        Self { machines: reader.records().filter_map(Result::ok).map(machine).collect() }
    }

    /// The healthy range of what is near a result on a machine with this CPU model and number of CPUs.
    pub(crate) fn near(&self, machine: &Machine, result: &BenchmarkResult) -> Option<Population> {
        let (quantity, cpu) = (PublicQuantity::of(result)?, machine.text("cpu.model")?);
        let those = self.machines.iter().filter(|other| other.cpu == cpu && quantity.is_of(other, machine));
        Population::of(&those.filter_map(|machine| machine.values[quantity as usize]).collect::<Vec<f64>>())
    }
}
