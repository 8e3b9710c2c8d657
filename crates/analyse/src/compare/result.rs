//! What a comparison found, as plain data.

use model::{Class, FigureKey, Flag, Metric, Outcome, Point};
use serde::{Deserialize, Serialize};

use super::options::Normalise;
use super::ratio_basis::{CompareVerdict, ComparedClock, CoreRatio, RatioBasis};
use crate::conditions::RunDisturbance;

/// Several runs side by side, one of them the reference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Name of the reference among `machines`.
    pub reference: String,
    /// How ratios are written.
    pub normalise: Normalise,
    /// Half-width of the band that counts as the same.
    pub band: f64,
    /// The same for ratios of cycles, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycles_band: Option<f64>,
    /// Confidence of every interval, and of all verdicts DIFFERENT together.
    pub level: f64,
    /// Number of tests over which the p-values were adjusted (Holm).
    pub tests: usize,
    /// The runs, in the order in which they are shown.
    pub machines: Vec<Compared>,
    /// The figures that at least two runs have.
    pub rows: Vec<CompareRow>,
    /// Figures that only one run has.
    pub unmatched: Vec<Unmatched>,
    /// Geometric means of the ratios, by family and over all.
    pub geometric_means: Vec<GeometricMean>,
    /// What became of the condition to fail on, where one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<CompareGate>,
}

/// One of the runs compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// What it is called here: label, machine or id; no other run of the comparison has it.
    pub name: String,
    /// Id of the run.
    pub run: String,
    /// One line on the machine.
    pub summary: String,
    /// How it stands to the reference.
    pub relation: Relation,
    /// What disturbed it, by its own record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbances: Vec<RunDisturbance>,
    /// The clock that it showed, where its references were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<ComparedClock>,
    /// When it was measured.
    pub started: String,
    /// Who is to be named wherever its figures are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribution: Option<String>,
    /// How many figures got which verdict.
    pub tally: VerdictCounts,
}

/// How a run stands to the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// It is the reference.
    Reference,
    /// The very run that is the reference, named twice: nothing can be tested.
    SameRun,
    /// Measured in the same session: no session floor applies.
    SameSession,
    /// The same machine in another session.
    AnotherSession,
    /// Another machine, which always is another session.
    AnotherMachine,
}

/// Numbers of verdicts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictCounts {
    /// DIFFERENT.
    pub different: usize,
    /// SAME.
    pub same: usize,
    /// UNDECIDED.
    pub undecided: usize,
    /// DIFFERENT if the spread assumed for values printed without one is right.
    #[serde(default)]
    pub assumed: usize,
    /// Not comparable, each with its reason.
    pub without: usize,
}

/// One figure over all runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompareRow {
    /// Id of the probe.
    pub probe: String,
    /// Where on its axes; axes across which figures were matched are left out.
    pub point: Point,
    /// What people call it.
    pub title: String,
    /// Unit and direction.
    pub metric: Metric,
    /// Class of session floors.
    pub class: Class,
    /// One a machine, in the order of `machines`.
    pub ratios: Vec<Ratio>,
}

impl CompareRow {
    /// The figure's name.
    #[must_use]
    pub fn key(&self) -> FigureKey {
        FigureKey::new(self.probe.clone(), self.point.clone())
    }

    /// The entry of a machine.
    #[must_use]
    pub fn ratio(&self, machine: &str) -> Option<&Ratio> {
        self.ratios.iter().find(|ratio| ratio.machine == machine)
    }

    /// Whether any machine is DIFFERENT.
    #[must_use]
    pub fn changed(&self) -> bool {
        self.ratios.iter().any(|ratio| ratio.verdict == Some(CompareVerdict::Different))
    }
}

/// One machine's figure against the reference's.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// Name of the machine.
    pub machine: String,
    /// The point in this run, where it is not the row's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point: Option<Point>,
    /// What became of the figure; absent where the run lacks it.
    pub outcome: Option<Outcome>,
    /// Its flags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<Flag>,
    /// What the ratio is made of.
    #[serde(default, skip_serializing_if = "RatioBasis::is_value")]
    pub basis: RatioBasis,
    /// The ratio, as `Comparison::normalise` says; absent when there is no honest single one, and `reason` says why.
    pub value: Option<f64>,
    /// Lower end of its interval; absent without spread.
    pub low: Option<f64>,
    /// Upper end of its interval; absent without spread.
    pub high: Option<f64>,
    /// How the interval came about.
    pub method: RatioMethod,
    /// Two-sided p-value of "no difference".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_value: Option<f64>,
    /// The same after Holm over the whole report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjusted_p: Option<f64>,
    /// What may be said; absent for the reference itself and where nothing can be compared.
    pub verdict: Option<CompareVerdict>,
    /// Which way it moved, where DIFFERENT.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<GainDirection>,
    /// What would decide, where UNDECIDED.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub need: Option<NeededLaunches>,
    /// The spread that was assumed, where a published value states none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assumed: Option<AssumedSpread>,
    /// Session floor that widened the interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<FloorUsed>,
    /// Comparison mode by mode, where either figure has modes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<ModeRatio>,
    /// Why there is no ratio, no interval or no verdict, where one is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Cycles and time, where both figures are core figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<CoreRatio>,
    /// Place among the machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<Rank>,
}

/// How the interval of a ratio came about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RatioMethod {
    /// Hodges-Lehmann shift of the logarithms of launch values, exact Mann-Whitney interval.
    Launches,
    /// Propagated from the intervals that the two figures state.
    Propagated,
    /// No interval.
    #[default]
    None,
}

/// Which way a figure moved against the reference, in words that fit its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GainDirection {
    /// A time went down or a rate up.
    Faster,
    /// A time went up or a rate down.
    Slower,
    /// Any other figure moved the way its metric calls better.
    Better,
    /// Any other figure moved the other way.
    Worse,
}

/// What would decide an undecided figure, with a chance of 80% if the ratio seen is the true one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NeededLaunches {
    /// So many more launches of each figure.
    Launches(usize),
    /// Launches cannot do it: so many sessions of each machine.
    Sessions(usize),
    /// The ratio is so close to the edge of the band that no affordable effort decides.
    TooClose,
}

/// The spread assumed for values that a publication prints without one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AssumedSpread {
    /// Half a unit in the last printed digit of the reference's value, relative to it; absent where it states its spread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_rounding: Option<f64>,
    /// The same of the other's value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounding: Option<f64>,
    /// Session floor of the figure's class.
    pub floor: f64,
    /// Lower end of the ratio's interval under these assumptions, as `Comparison::normalise` says.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The session floor that was applied.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FloorUsed {
    /// Relative standard deviation between sessions.
    pub sd: f64,
    /// Sessions it was estimated from; absent where it is the default of the figure's class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<usize>,
}

/// Two modes that lie nearest to each other; or one that has no counterpart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModeRatio {
    /// Centre of the reference's mode, in the figure's unit.
    pub reference_value: Option<f64>,
    /// Share of the reference's launches in it.
    pub reference_share: f64,
    /// Centre of the other's mode.
    pub other_value: Option<f64>,
    /// Share of the other's launches in it.
    pub other_share: f64,
    /// Two-sided p-value of "equal shares" (Fisher's exact test), where launches of one session were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_p: Option<f64>,
    /// Whether the shares differ, after Holm.
    pub shares_differ: bool,
    /// Ratio of the centres.
    pub value: Option<f64>,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end of its interval.
    pub high: Option<f64>,
    /// What may be said of the centres.
    pub verdict: Option<CompareVerdict>,
}

/// A machine's place among all, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rank {
    /// Place by value alone; equal values share the better place.
    pub place: usize,
    /// Best place it may have: one more than the machines that are surely better.
    pub low: usize,
    /// Worst place it may have.
    pub high: usize,
}

/// A figure that only one run has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unmatched {
    /// Name of the machine that has it.
    pub machine: String,
    /// The figure.
    pub figure: FigureKey,
}

/// Geometric mean of a machine's ratios.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GeometricMean {
    /// Family of the figures; absent for the mean over all.
    pub family: Option<String>,
    /// Name of the machine.
    pub machine: String,
    /// The mean, of ratios or of gains as `of` says.
    pub value: f64,
    /// Lower end of its interval; equal to `value` when the spread of a figure is unknown.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// Confidence of the interval; 0 when the spread of a figure is unknown.
    pub level: f64,
    /// Number of figures in it: those that all compared machines have.
    pub figures: usize,
    /// Number of probes among them; each counts once, at however many points it was measured.
    #[serde(default)]
    pub probes: usize,
    /// Figures that some of the machines have and others lack.
    #[serde(default)]
    pub left_out: usize,
    /// What was averaged: gains where the figures do not all point one way, else as the comparison is normalised.
    pub of: Normalise,
}

/// A condition to fail on: `slower`, `slower:5`, `different`, `different:5`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FailOn {
    /// Whether only changes for the worse count.
    pub worse_only: bool,
    /// Least change in percent: by how much more time it takes, or would take for a rate. Never less than the band.
    pub percent: f64,
}

/// What becomes of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateAnswer {
    /// No figure meets it, surely.
    Pass,
    /// A figure surely meets it.
    Fail,
    /// Neither can be said, or nothing could be tested.
    Inconclusive,
}

/// The answer with the figures behind it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompareGate {
    /// What was asked.
    pub condition: FailOn,
    /// The answer.
    pub answer: GateAnswer,
    /// Figures that could be tested, over all machines.
    pub tested: usize,
    /// Figures that surely meet the condition.
    pub failing: Vec<GateFigure>,
    /// Figures that may meet it.
    pub open: Vec<GateFigure>,
}

/// A figure that meets the condition or may.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GateFigure {
    /// Name of the machine.
    pub machine: String,
    /// Name of the figure.
    pub figure: String,
    /// What people call it.
    pub title: String,
    /// Gain over the reference, with its ends where it has an interval.
    pub gain: Option<f64>,
    /// Lower end.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// What would decide, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub need: Option<NeededLaunches>,
    /// Why it is open, where its interval does not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
