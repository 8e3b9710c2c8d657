//! Readings of the clock sensor and the contention sensor around the batches of a sample, and the values derived
//! from them.
//!
//! The readings are raw and remain in the document. [`CleanBatches`], [`ResultSensors`] and
//! [`SessionSensors`] are derived from them and from the batch times, and can be recomputed.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{CpuDistance, Estimate, Share, SmallSteps};

/// Instructions of each sensor, calibrated once per run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SensorLengths {
    /// Adds of the clock sensor: one chain, one add per cycle.
    pub clock: u32,
    /// Adds of the contention sensor, on six chains together.
    pub contention: u32,
    /// Instructions of the issue sensor, which use only the front end of the core; 0 if it is not read.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub issue: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl SensorLengths {
    /// Clock from a duration of the clock sensor in nanoseconds, hertz.
    #[must_use]
    pub fn hertz(&self, clock_nanos: u32) -> f64 {
        f64::from(self.clock) * 1e9 / f64::from(clock_nanos.max(1))
    }

    /// Cycles per add of the contention sensor: the same at any clock, smallest on an exclusive core.
    #[must_use]
    pub fn ratio(&self, clock_nanos: u32, contention_nanos: u32) -> f64 {
        let clock = f64::from(clock_nanos.max(1)) / f64::from(self.clock.max(1));
        f64::from(contention_nanos) / f64::from(self.contention.max(1)) / clock
    }

    /// Instructions per cycle of the issue sensor, the same at any clock; `None` if it was not read.
    #[must_use]
    pub fn issued(&self, clock_nanos: u32, issue_nanos: u32) -> Option<f64> {
        let cycles_per_nano = f64::from(self.clock) / f64::from(clock_nanos.max(1));
        (self.issue > 0 && issue_nanos > 0).then(|| f64::from(self.issue) / f64::from(issue_nanos) / cycles_per_nano)
    }
}

/// One reading of the sensors between samples, nanoseconds each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SensorReading {
    /// Time of the clock sensor.
    pub clock: u32,
    /// Time of the contention sensor.
    pub contention: u32,
    /// Time of the issue sensor; 0 if it was not read.
    pub issue: u32,
}

/// Readings of the sensors on one CPU. With one reading more than batches, batch i is between readings i and i + 1.
/// With twice as many, it is between 2i and 2i + 1, because batches of other results are in between.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SensorTrack {
    /// The CPU.
    pub cpu: u32,
    /// Times of the clock sensor, nanoseconds.
    pub clock: SmallSteps,
    /// Times of the contention sensor right after it, nanoseconds.
    pub contention: SmallSteps,
}

/// Readings of a sample around its batches: outside evidence about each of them, independent of their duration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SampleSensors {
    /// Adds of either sensor.
    pub lengths: SensorLengths,
    /// One track for each CPU that was read: that of the only party, or of each pinned party.
    pub tracks: Vec<SensorTrack>,
    /// Involuntary context switches of the timing thread during each batch; empty where there were none.
    #[serde(default, skip_serializing_if = "SmallSteps::is_empty")]
    pub switches: SmallSteps,
    /// Voluntary context switches of the timing thread during each batch; empty where there were none.
    #[serde(default, skip_serializing_if = "SmallSteps::is_empty")]
    pub waits: SmallSteps,
    /// Time of each batch minus the CPU time of the timing thread in it, nanoseconds; empty if not recorded.
    #[serde(default, skip_serializing_if = "SmallSteps::is_empty")]
    pub off_cpu: SmallSteps,
    /// The same tracks after the batches, around null batches of equal length without access to memory or the system:
    /// one reading more than null batches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub null: Vec<SensorTrack>,
    /// Times of the distance sensor: a cache line passed between the first CPU of the tracks and each other one in
    /// their order, before the batches, then after them. Picoseconds a hand-over; empty where one CPU is read.
    #[serde(default, skip_serializing_if = "SmallSteps::is_empty")]
    pub distances: SmallSteps,
}

/// The clean batches of a sample: those on an exclusive core with a steady clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CleanBatches {
    /// Number of clean batches (of a difference: pairs).
    pub batches: u32,
    /// Total number.
    pub of: u32,
    /// Their median in the unit of the result, at their own clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Their median in cycles: cycles per operation; of a rate, counted items per cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycles: Option<f64>,
    /// Their median clock, hertz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<f64>,
}

/// The domain of a result: what its time depends on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Domain {
    /// The clock of the core: a result in cycles, a **core result**.
    Core,
    /// Memory and the caches that several cores share.
    Memory,
    /// A device, or a file system on one.
    Device,
    /// A timer.
    Timer,
    /// Several of these, or unknown.
    #[default]
    Mixed,
}

/// Why the value of a result is raw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RawReason {
    /// The readings of the run do not show the ratio of an exclusive core.
    ExclusiveNeverSeen,
    /// Hardly any sample had an exclusive core.
    FewClean {
        /// Samples that had one.
        samples: u32,
        /// Total number of samples.
        of: u32,
    },
    /// A batch cannot be short (3 ms): filtering would select quiet minutes for long operations only.
    LongOperation,
    /// Its kernel reads its own values.
    OwnReadings,
    /// It runs on more CPUs than are read.
    ManyCpus,
    /// Its own work disturbs the readings.
    OwnWork,
}

impl RawReason {
    /// Whether the reason is another thread on the core, or the possibility that there was one all the time.
    #[must_use]
    pub const fn is_contention(&self) -> bool {
        matches!(self, Self::ExclusiveNeverSeen | Self::FewClean { .. })
    }
}

impl fmt::Display for RawReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ExclusiveNeverSeen => f.write_str("the core was never seen without a busy sibling hyperthread"),
            Self::FewClean { samples, of } => {
                write!(f, "the sibling hyperthread was idle in only {samples} of {of} samples")
            }
            Self::LongOperation => f.write_str("one operation takes too long to filter"),
            Self::OwnReadings => f.write_str("it has its own timing"),
            Self::ManyCpus => f.write_str("it uses more CPUs than Prony watches"),
            Self::OwnWork => f.write_str("its own work disturbs the sensors"),
        }
    }
}

/// The basis of the values of a result's samples.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ValueBasis {
    /// Cycles of the clean batches, printed as time at `clock`.
    Cycles,
    /// Time of the clean batches at their own clock.
    Clean,
    /// All batches of first attempts, for this reason.
    Raw(RawReason),
    /// All batches: no filtering is necessary. Samples of documents without sensors have this basis, too.
    #[default]
    All,
}

/// Results of the sensors for a result.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResultSensors {
    /// Its domain: declared by its benchmark, or `mixed` if the samples contradict that.
    pub domain: Domain,
    /// Slope of the logarithm of the time against that of the clock over samples, with reversed sign, and the
    /// half-width of its 95% interval: 1 if the core alone is decisive, 0 if it has no effect. Absent if the clock
    /// hardly changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slope: Option<(f64, f64)>,
    /// The basis of the values of its samples.
    pub basis: ValueBasis,
    /// Ratio of the exclusive core on each track of its samples, as known at the end of the session; empty if unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclusive: Vec<f64>,
    /// The clock at which a value in cycles is printed as time, hertz: the median of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<f64>,
    /// The raw value: over all batches of all samples, including contention and clock steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<Estimate>,
    /// Share of all timed batches that were clean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Share>,
    /// Largest relative difference of the value if batches within 1, 2 or 5% of the sensors are used instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<f64>,
}

/// Source of the ratio of an exclusive core.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ExclusiveSource {
    /// The lower of several modes of the run's own readings.
    LowerMode,
    /// The only mode of the run's readings, which agrees with earlier runs of this CPU model.
    EarlierRuns,
    /// The only mode of the run's readings, which agrees with the table in the program.
    Table,
    /// The readings at which this thread issued as many instructions per cycle as the core can: another thread would
    /// have taken a share of them.
    IssueWidth,
    /// The machine shows that no other thread shares the core: SMT is off, or the siblings are visible and were idle.
    Siblings,
    /// Unknown: no batch is filtered.
    #[default]
    Unknown,
}

/// Ratio of the exclusive core of one class of cores.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExclusiveCore {
    /// CPUs of this class.
    pub cpus: Vec<u32>,
    /// Cycles per add of the contention sensor on an exclusive core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// Its source.
    pub source: ExclusiveSource,
    /// Number of readings on which it is based.
    pub readings: u32,
    /// Share of them on an exclusive core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclusive: Option<Share>,
}

/// Readings of the sensors over a whole run, including waits and excluded samples.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SensorSamples {
    /// Time of each, milliseconds of the session.
    pub millis: SmallSteps,
    /// CPU of each.
    pub cpu: SmallSteps,
    /// Time of the clock sensor, nanoseconds.
    pub clock: SmallSteps,
    /// Time of the contention sensor, nanoseconds.
    pub contention: SmallSteps,
    /// Time of the issue sensor, nanoseconds; 0 where it was not read, empty where it never was.
    #[serde(default, skip_serializing_if = "SmallSteps::is_empty")]
    pub issue: SmallSteps,
}

impl SensorSamples {
    /// Adds a reading.
    pub fn push(&mut self, millis: u32, cpu: u32, reading: SensorReading) {
        if reading.issue > 0 || !self.issue.is_empty() {
            // Readings of an earlier part of the run may be without it.
            self.issue.0.resize(self.clock.0.len(), 0);
            self.issue.0.push(reading.issue);
        }
        self.millis.0.push(millis);
        self.cpu.0.push(cpu);
        self.clock.0.push(reading.clock);
        self.contention.0.push(reading.contention);
    }

    /// All readings with their CPUs.
    pub fn readings(&self) -> impl Iterator<Item = (u32, SensorReading)> {
        let issue = self.issue.0.iter().copied().chain(std::iter::repeat(0));
        let rows = self.cpu.0.iter().zip(&self.clock.0).zip(&self.contention.0).zip(issue);
        rows.map(|(((cpu, clock), contention), issue)| {
            (*cpu, SensorReading { clock: *clock, contention: *contention, issue })
        })
    }
}

/// Results of the sensors for a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionSensors {
    /// Instructions of each sensor.
    pub lengths: SensorLengths,
    /// The exclusive core, for each class of cores.
    pub exclusive: Vec<ExclusiveCore>,
    /// How far apart the host had the CPUs of results with several parties.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distances: Vec<CpuDistance>,
    /// Median clock over the time of the run, hertz: `cpu.clock` is its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<f64>,
    /// Share of the time of the run in which another thread was on the core: `cpu.core_shared` is its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core_shared: Option<Share>,
    /// The readings on which both are based.
    #[serde(default)]
    pub samples: SensorSamples,
    /// The reason for their absence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

#[cfg(test)]
#[path = "sensors_tests.rs"]
mod tests;
