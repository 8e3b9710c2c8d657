//! One measured quantity at one set of parameters.

use std::fmt;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::{
    Class, Definition, Estimate, Footprint, Invalid, Metric, Outcome, Parameters, Primitive, QuantileEstimate,
    ResultSensors, Sample, TakenTime, ValueBasis, parse_size,
};

/// Prefix of notes for the record, which are stored in documents and not shown in tables.
pub const RECORD: &str = "record: ";

/// Prefix of the note with which a result that times a compiler says which one.
pub const COMPILER: &str = "compiler: ";

/// Reason of a result that was not reached, with which every result begins.
pub const NOT_REACHED: &str = "no time was left";

/// Beginning of the variant of a result of the memory hierarchy: the ranges of the levels that the survey of its run
/// found follow, separated by commas.
pub const SURVEYED_LEVELS: &str = "level over ";

/// The benchmark of the clock during a run, a result of every run that reads the sensors.
pub const CLOCK: &str = "cpu.clock";

/// The benchmark of the share of time in which another thread was on the core, also of every such run.
pub const CORE_SHARED: &str = "cpu.core_shared";

/// A remark on the reliability of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Flag {
    /// The interval did not reach the target at the last checkpoint.
    CannotConverge,
    /// Samples fall into groups.
    Modes,
    /// Values drift over the session.
    Drift,
    /// Many batches took more than 1.5 times the median.
    Noisy,
    /// The hypervisor took CPU time.
    Steal,
    /// A control group's quota stopped it.
    Throttled,
    /// Warm-up reached its limit without a steady state.
    NoSteadyState,
    /// The value is near the resolution of the clock.
    Floor,
    /// The run ended before the result converged, by its time limit or by the user.
    Unfinished,
    /// Samples were repeated because of outside evidence.
    Repeated,
    /// The value is raw: the core was shared, or may have been.
    SharedCore,
}

impl Flag {
    /// The flag in words.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::CannotConverge => "did not reach the target",
            Self::Modes => "multimodal",
            Self::Drift => "drifts over time",
            Self::Noisy => "noisy",
            Self::Steal => "steal time",
            Self::Throttled => "stopped by a CPU quota",
            Self::NoSteadyState => "warm-up did not converge",
            Self::Floor => "near the timer's resolution",
            Self::Unfinished => "stopped early",
            Self::Repeated => "samples repeated",
            Self::SharedCore => "raw value",
        }
    }
}

/// Name of a result: benchmark and parameters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResultKey {
    /// Id of the benchmark, `family.name`.
    pub benchmark: String,
    /// Its parameters.
    pub parameters: Parameters,
}

impl ResultKey {
    /// The key of a benchmark at a set of parameters.
    #[must_use]
    pub fn new(benchmark: impl Into<String>, parameters: Parameters) -> Self {
        Self { benchmark: benchmark.into(), parameters }
    }

    /// The part of the id before the first dot.
    #[must_use]
    pub fn family(&self) -> &str {
        self.benchmark.split('.').next().unwrap_or_default()
    }
}

impl fmt::Display for ResultKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.parameters.is_empty() {
            f.write_str(&self.benchmark)
        } else {
            write!(f, "{}:{}", self.benchmark, self.parameters)
        }
    }
}

/// One measured quantity at one set of parameters, with everything needed to read it without the program that measured
/// it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BenchmarkResult {
    /// Id of the benchmark, `family.name`.
    pub benchmark: String,
    /// Its parameters.
    pub parameters: Parameters,
    /// The parameters in whose place this machine has it: its size of memory was moved beyond the caches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stands_for: Option<Parameters>,
    /// How it compares with the catalogue's definition, if another program or a document states it.
    #[serde(default, skip_serializing_if = "Definition::is_same")]
    pub definition: Definition,
    /// Title, without the parameters.
    pub title: String,
    /// Unit and direction.
    pub metric: Metric,
    /// Class of its drift between sessions.
    pub class: Class,
    /// Primitives that it stresses.
    pub stresses: Vec<Primitive>,
    /// Its outcome.
    pub outcome: Outcome,
    /// Remarks on its reliability.
    #[serde(default)]
    pub flags: Vec<Flag>,
    /// Operations in a batch, fixed for the run.
    #[serde(default)]
    pub ops: u64,
    /// Amount of the metric in one operation: bytes for a data rate, 1 for most others.
    #[serde(default = "one")]
    pub amount: f64,
    /// Variant of the kernel that ran, if several were tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Resolution of a paired difference: the least difference from zero that can be detected, in the result's unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<f64>,
    /// Half a unit in the last printed digit of the source, relative to the value. Absent if it was measured, or if the
    /// source's digits are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounding: Option<f64>,
    /// Quantiles of single operations, if the benchmark times them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quantiles: Vec<QuantileEstimate>,
    /// Further notes: the shell used, the file system.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Resources used over all valid samples.
    #[serde(default)]
    pub footprint: Footprint,
    /// Sensor evidence, if sensors were read between its batches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensors: Option<ResultSensors>,
    /// Every sample in the order of time, including invalid ones.
    #[serde(default)]
    pub samples: Vec<Sample>,
}

const fn one() -> f64 {
    1.0
}

/// The range of working sets of one surveyed level, as its run's variant states it.
#[must_use]
pub fn surveyed_level(range: &str) -> Option<RangeInclusive<u64>> {
    let (from, to) = range.split_once('-')?;
    Some(parse_size(from).ok()?..=parse_size(to).ok()?)
}

impl BenchmarkResult {
    /// Levels of memory that the survey of its run found, of a result of the memory hierarchy: the working sets, in
    /// bytes, over which each was level.
    #[must_use]
    pub fn surveyed_levels(&self) -> Option<Vec<RangeInclusive<u64>>> {
        let ranges = self.variant.as_deref()?.strip_prefix(SURVEYED_LEVELS)?;
        let (ranges, _pages) = ranges.split_once(" on ").unwrap_or((ranges, ""));
        ranges.split(", ").map(surveyed_level).collect()
    }

    /// A result without a measurement: not reached, so far.
    #[must_use]
    pub fn unmeasured(key: ResultKey, title: impl Into<String>, metric: Metric, class: Class) -> Self {
        Self {
            benchmark: key.benchmark,
            parameters: key.parameters,
            stands_for: None,
            definition: Definition::Same,
            title: title.into(),
            metric,
            class,
            stresses: Vec::new(),
            outcome: Outcome::NotMeasured(NOT_REACHED.to_owned()),
            flags: vec![Flag::Unfinished],
            ops: 0,
            amount: one(),
            variant: None,
            resolution: None,
            rounding: None,
            quantiles: Vec::new(),
            notes: Vec::new(),
            footprint: Footprint::default(),
            sensors: None,
            samples: Vec::new(),
        }
    }

    /// The same result with these primitives.
    #[must_use]
    pub fn stressing(mut self, primitives: &[Primitive]) -> Self {
        self.stresses = primitives.to_vec();
        self
    }

    /// Its key.
    #[must_use]
    pub fn key(&self) -> ResultKey {
        ResultKey { benchmark: self.benchmark.clone(), parameters: self.parameters.clone() }
    }

    /// The part of the id before the first dot.
    #[must_use]
    pub fn family(&self) -> &str {
        self.benchmark.split('.').next().unwrap_or_default()
    }

    /// The basis of the values of its samples.
    #[must_use]
    pub fn basis(&self) -> &ValueBasis {
        self.sensors.as_ref().map_or(&ValueBasis::All, |sensors| &sensors.basis)
    }

    /// Whether its value is raw because other threads were on the core, or may have been all the time.
    #[must_use]
    pub fn is_shared_core(&self) -> bool {
        matches!(self.basis(), ValueBasis::Raw(reason) if reason.is_contention())
    }

    /// The samples that count, in time order. If the value is raw, those are all raw samples.
    #[must_use]
    pub fn counted(&self) -> Vec<&Sample> {
        self.samples.iter().filter(|sample| self.counts(sample)).collect()
    }

    /// Whether a sample of this result counts.
    #[must_use]
    pub fn counts(&self, sample: &Sample) -> bool {
        match sample.invalid {
            None => true,
            Some(Invalid::SharedCore { .. }) => matches!(self.basis(), ValueBasis::Raw(_)),
            Some(_) => false,
        }
    }

    /// Every sample, whether or not it had its core to itself at a steady clock: only outside evidence of another kind
    /// excludes one.
    #[must_use]
    pub fn raw_samples(&self) -> Vec<&Sample> {
        let counts = |sample: &&Sample| matches!(sample.invalid, None | Some(Invalid::SharedCore { .. }));
        self.samples.iter().filter(counts).collect()
    }

    /// Value of a sample in the result's unit, on the same basis as the result's estimate; `None` without one on that
    /// basis.
    #[must_use]
    pub fn value_of(&self, sample: &Sample) -> Option<f64> {
        let clock = self.sensors.as_ref().and_then(|sensors| sensors.clock);
        match self.basis() {
            ValueBasis::Cycles => Some(self.metric.at_clock(sample.clean?.cycles?, clock?)),
            ValueBasis::Clean => sample.clean?.value,
            ValueBasis::Raw(_) | ValueBasis::All => Some(sample.value),
        }
    }

    /// Values of the samples that count, in time order, on the basis of the result's estimate.
    #[must_use]
    pub fn values(&self) -> Vec<f64> {
        self.counted().into_iter().filter_map(|sample| self.value_of(sample)).collect()
    }

    /// Cycles of the samples that count, in time order, if it is a core result: cycles of one operation, or for a rate
    /// the count per cycle.
    #[must_use]
    pub fn cycles(&self) -> Option<Vec<f64>> {
        let of = |sample: &Sample| sample.clean.and_then(|clean| clean.cycles);
        (*self.basis() == ValueBasis::Cycles).then(|| self.counted().into_iter().filter_map(of).collect())
    }

    /// Time stolen by the hypervisor during the valid samples.
    #[must_use]
    pub fn stolen(&self) -> TakenTime {
        self.taken(|sample| sample.stolen)
    }

    /// Time for which a control group's quota stopped the valid samples.
    #[must_use]
    pub fn throttled(&self) -> TakenTime {
        self.taken(|sample| sample.throttled)
    }

    fn taken(&self, of: impl Fn(&Sample) -> Option<TakenTime>) -> TakenTime {
        self.counted().into_iter().filter_map(of).fold(TakenTime::default(), |sum, one| sum.plus(&one))
    }

    /// Whether the result has converged. It has a single value and an interval of at least the wanted `level` within
    /// the target. It neither ended early nor was found unable to converge.
    #[must_use]
    pub fn is_within(&self, target: f64, level: f64) -> bool {
        let narrow = |one: &Estimate| one.is_within(target, level);
        !self.has(Flag::Unfinished) && !self.has(Flag::CannotConverge) && self.outcome.estimate().is_some_and(narrow)
    }

    /// Whether it describes the conditions of a run, rather than a requested measurement.
    #[must_use]
    pub fn is_condition(&self) -> bool {
        [CLOCK, CORE_SHARED].contains(&self.benchmark.as_str())
    }

    /// Whether a flag is set.
    #[must_use]
    pub fn has(&self, flag: Flag) -> bool {
        self.flags.contains(&flag)
    }
}
