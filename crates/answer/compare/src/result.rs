//! The result of a comparison, as plain data.

use model::{
    Class, CpuDistance, Definition, Direction, Flag, GateAnswer, Metric, Outcome, Parameters, ResultKey, Verdict,
};
use serde::{Deserialize, Serialize};

use super::options::Normalise;
use super::price::PerPrice;
use super::rank::Rank;
use super::ratio_basis::{ComparedClock, CoreRatio, FloorUsed, RatioBasis};
use super::relation::Relation;
use crate::conditions::RunDisturbance;

/// Several runs side by side, one of them the reference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Name of the reference among `machines`.
    pub reference: String,
    /// Form of ratios.
    pub normalise: Normalise,
    /// Half-width of the margin that counts as no change.
    pub band: f64,
    /// The same for ratios of cycles, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycles_band: Option<f64>,
    /// Confidence of every interval, and of all differences together.
    pub level: f64,
    /// Number of tests over which the p-values were adjusted (Holm).
    pub tests: usize,
    /// The runs, in the order in which they are shown.
    pub machines: Vec<Compared>,
    /// The results that at least two runs have.
    pub rows: Vec<CompareRow>,
    /// Conditions of the machines during the runs: the clock, and the share of time in which the core was shared. They
    /// do not measure speed, so they are in no count, mean or gate. They are no results of how fast something is:
    /// nothing counts, averages or gates them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<CompareRow>,
    /// Results that only one run has.
    pub unmatched: Vec<Unmatched>,
    /// Geometric means of the ratios, by family and overall.
    pub geometric_means: Vec<GeometricMean>,
    /// Performance per price of each machine but the reference, where prices were given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub per_price: Vec<PerPrice>,
    /// Result of the condition to fail on, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<CompareGate>,
}

/// One of the runs compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// Its unique name in this comparison: label, machine or id.
    pub name: String,
    /// Id of the run.
    pub run: String,
    /// Summary of the machine.
    pub summary: String,
    /// Its relation to the reference.
    pub relation: Relation,
    /// Its recorded disturbances.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbances: Vec<RunDisturbance>,
    /// The clock that it showed, where its references were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<ComparedClock>,
    /// How far apart its host had its CPUs for most of it, where that was read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distances: Vec<CpuDistance>,
    /// Environment variables that change results, as `NAME=value`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<String>,
    /// Rules with which it was measured that differ from the reference's: each with its number, then the reference's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<OtherRule>,
    /// When it was measured.
    pub started: String,
    /// Attribution, shown wherever its results are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribution: Option<String>,
    /// Number of results with each verdict.
    pub tally: VerdictCounts,
}

/// A rule that two runs were measured with in two ways.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OtherRule {
    /// Its name.
    pub name: String,
    /// The number that the run was measured with; absent if it had no such rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<f64>,
    /// The number of the reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<f64>,
}

/// Numbers of verdicts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictCounts {
    /// Slower, or worse.
    pub slower: usize,
    /// Faster, or better.
    pub faster: usize,
    /// Changed without one direction.
    pub changed: usize,
    /// No change.
    pub no_change: usize,
    /// Inconclusive.
    pub inconclusive: usize,
    /// Probably slower or faster: published values without error bars.
    pub probable: usize,
    /// Not comparable, for the reason in `reason`.
    pub not_comparable: usize,
}

/// One result over all runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompareRow {
    /// Id of the benchmark.
    pub benchmark: String,
    /// Its parameters, without the parameters across which results were matched.
    pub parameters: Parameters,
    /// Its title.
    pub title: String,
    /// Unit and direction.
    pub metric: Metric,
    /// Class of session floors.
    pub class: Class,
    /// Entries of the machines, in the order of `machines`.
    pub ratios: Vec<Ratio>,
}

impl Ratio {
    /// Adds both readings of core results. The ratio is that of the printed values, which are times; the verdict may be
    /// that of the cycles.
    pub(super) const fn state_time(&mut self, core: CoreRatio) {
        (self.value, self.low, self.high) = (Some(core.time.value), core.time.low, core.time.high);
        self.core = Some(core);
    }

    /// Whether it differs from the baseline, by a test.
    #[must_use]
    pub fn differs(&self) -> bool {
        self.verdict.is_some_and(Verdict::differs)
    }

    /// Which way it differs from the baseline, if it does.
    #[must_use]
    pub fn direction(&self) -> Option<Direction> {
        self.verdict.and_then(Verdict::direction)
    }
}

impl CompareRow {
    /// The result's key.
    #[must_use]
    pub fn key(&self) -> ResultKey {
        ResultKey::new(self.benchmark.clone(), self.parameters.clone())
    }

    /// The entry of a machine.
    #[must_use]
    pub fn ratio(&self, machine: &str) -> Option<&Ratio> {
        self.ratios.iter().find(|ratio| ratio.machine == machine)
    }

    /// Whether the result of any machine differs.
    #[must_use]
    pub fn changed(&self) -> bool {
        self.ratios.iter().any(Ratio::differs)
    }
}

/// One machine's result compared with the reference's.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// Name of the machine.
    pub machine: String,
    /// The parameters in this run, if it differs from the row's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Parameters>,
    /// Outcome of the result; absent if the run lacks it.
    pub outcome: Option<Outcome>,
    /// Its flags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<Flag>,
    /// How its definition compares with that of the baseline's result; a different one has no ratio.
    #[serde(default, skip_serializing_if = "Definition::is_same")]
    pub definition: Definition,
    /// Whether it is of two CPUs that the host of one machine had nearer to each other in one of the two sessions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub elsewhere: bool,
    /// The basis of the ratio.
    #[serde(default, skip_serializing_if = "RatioBasis::is_value")]
    pub basis: RatioBasis,
    /// The ratio of the two values in `outcome`, as `Comparison::normalise` says. Absent if there is no meaningful
    /// single one; `reason` then says why.
    pub value: Option<f64>,
    /// Lower end of its interval; absent without spread.
    pub low: Option<f64>,
    /// Upper end of its interval; absent without spread.
    pub high: Option<f64>,
    /// Method of the interval.
    pub method: RatioMethod,
    /// Two-sided p-value of "no difference".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_value: Option<f64>,
    /// The same, adjusted by Holm's method over the whole report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjusted_p: Option<f64>,
    /// The verdict; absent for the reference itself and if nothing can be compared.
    pub verdict: Option<Verdict>,
    /// What would decide, if inconclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub need: Option<NeededSamples>,
    /// What would help most, if inconclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<Help>,
    /// If inconclusive, the smallest change that would have been seen: a relative one (0.04 is 4%) of this size is
    /// called slower or faster with a probability of 80% ([`stats::detectable`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detectable: Option<f64>,
    /// The assumed spread, if a published value states none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assumed: Option<AssumedSpread>,
    /// Session noise that widened the interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<FloorUsed>,
    /// Comparison mode by mode, if either result has modes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<ModeRatio>,
    /// Why there is no ratio, interval or verdict, if one is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Cycles and time, where both results are core results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<CoreRatio>,
    /// Place among the machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<Rank>,
}

/// Method of a ratio's interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RatioMethod {
    /// Exact Mann-Whitney interval of the shift between sample values, widened to hold the ratio.
    Samples,
    /// Propagated from the intervals of the two results.
    Propagated,
    /// No interval.
    #[default]
    None,
}

/// What would decide an inconclusive result, with a chance of 80% if the observed ratio is the true one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NeededSamples {
    /// This many more samples of each result.
    Samples(usize),
    /// Samples cannot decide: this many sessions of each machine.
    Sessions(usize),
    /// The ratio is so close to the edge of the margin that no reasonable effort decides.
    TooClose,
}

/// What would help most to decide an inconclusive result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Help {
    /// More samples of each result.
    LongerRun,
    /// More runs of each machine: the variation from run to run is most of the interval.
    MoreRuns,
    /// Less interference: the samples of a run scatter too much.
    IdleMachine,
}

/// The spread assumed for values that are published without one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AssumedSpread {
    /// Half a unit in the last printed digit of the baseline's value, relative to it; absent if it has error bars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_rounding: Option<f64>,
    /// The same for the other's value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounding: Option<f64>,
    /// Session noise of the result's class.
    pub floor: f64,
    /// Lower end of the ratio's interval under these assumptions, in the form of `Comparison::normalise`.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Two modes that are nearest to each other, or one without a counterpart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModeRatio {
    /// Centre of the reference's mode, in the result's unit.
    pub reference_value: Option<f64>,
    /// Share of the reference's samples in it.
    pub reference_share: f64,
    /// Centre of the other's mode.
    pub other_value: Option<f64>,
    /// Share of the other's samples in it.
    pub other_share: f64,
    /// Two-sided p-value of "equal shares" (Fisher's exact test), if samples of one session were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_p: Option<f64>,
    /// Whether the shares differ, after Holm's adjustment.
    pub shares_differ: bool,
    /// Whether the shares are further apart than samples alone explain, in whatever sessions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shares_apart: bool,
    /// Ratio of the centres.
    pub value: Option<f64>,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end of its interval.
    pub high: Option<f64>,
    /// Verdict on the centres.
    pub verdict: Option<Verdict>,
}

/// A result that only one run has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unmatched {
    /// Name of the machine that has it.
    pub machine: String,
    /// The result.
    pub result: ResultKey,
}

/// Geometric mean of a machine's ratios.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GeometricMean {
    /// Family of the results; absent for the mean over all.
    pub family: Option<String>,
    /// Name of the machine.
    pub machine: String,
    /// The mean, of ratios or gains by `of`.
    pub value: f64,
    /// Lower end of its interval, at the level of the comparison; absent when no result has a known spread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end of its interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Number of results in it: those that all compared machines have with a known spread. If no result of the
    /// comparison has a known spread, those that all of them have.
    pub results: usize,
    /// Number of benchmarks among them; each counts once, however many sets of parameters it was measured at.
    #[serde(default)]
    pub benchmarks: usize,
    /// Results that some of the machines have and others lack.
    #[serde(default)]
    pub left_out: usize,
    /// The averaged quantity: gains if directions differ between the results, else the normalisation of the comparison.
    pub of: Normalise,
}

/// A condition to fail on: `slower`, `slower:5`, `different`, `different:5`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FailOn {
    /// Whether only changes for the worse count.
    pub worse_only: bool,
    /// Least change in percent: of time, or of the time that a rate implies. At least the margin.
    pub percent: f64,
}

/// The result with the results behind it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompareGate {
    /// The condition.
    pub condition: FailOn,
    /// The answer.
    pub answer: GateAnswer,
    /// Results that could be tested, over all machines.
    pub tested: usize,
    /// The smallest change that would have met the condition with a probability of 95%, a relative one: the median of
    /// the tested results and the largest. Absent if none has an interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visible: Option<(f64, f64)>,
    /// Results that meet the condition significantly.
    pub failing: Vec<GateResult>,
    /// Results that may meet it.
    pub open: Vec<GateResult>,
}

/// A result that meets the condition, or may.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GateResult {
    /// Name of the machine.
    pub machine: String,
    /// Name of the result.
    pub result: String,
    /// Its title.
    pub title: String,
    /// Gain over the reference, with its ends if it has an interval.
    pub gain: Option<f64>,
    /// Lower end.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// The effort that would decide it, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub need: Option<NeededSamples>,
    /// Why it is open, unless its interval shows that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
