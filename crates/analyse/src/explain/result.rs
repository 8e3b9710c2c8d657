//! What an explanation says, as plain data.

use model::{FigureKey, Primitive};
use serde::{Deserialize, Serialize};

use super::stream_line::StreamLine;

/// Why run B differs from run A, as far as their figures and facts say. Times are B's less A's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// Name of the run that is taken as it is.
    pub a: String,
    /// Name of the run whose difference is explained.
    pub b: String,
    /// Figures set side by side; a curve over block sizes does not count as tests.
    pub tests: usize,
    /// Points of such curves.
    pub curve_points: usize,
    /// What disturbed the runs, one sentence a run, as they recorded it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbed: Vec<String>,
    /// Whether there is anything to explain.
    pub difference: bool,
    /// What moves everything that runs in user mode.
    pub common_factor: CommonFactor,
    /// Each primitive after removing the common factor.
    pub residuals: Vec<PrimitiveResidual>,
    /// Streams whose difference two numbers give: the time of a call and of a byte.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<StreamLine>,
    /// The smallest set of causes found, by explained excess.
    pub causes: Vec<Cause>,
    /// Groups of tests that nothing measured can pay for.
    pub unmeasured: Vec<Unmeasured>,
    /// Primitives that cannot be the main cause, with their bounds.
    pub ruled_out: Vec<RuledOut>,
    /// Primitives that look innocent and are not ruled out, with the reason.
    pub not_ruled_out: Vec<NotRuledOut>,
    /// Tests that differ and were given to no cause, with the reason.
    pub left_open: Vec<LeftOpen>,
    /// What had to be assumed.
    pub assumed: Vec<String>,
    /// Facts that both runs recorded, settings and points that differ and may matter.
    pub facts: Vec<RunDifference>,
    /// What to measure next, where a question is open.
    pub next_experiment: Option<Experiment>,
}

/// Robust location of the time ratio of everything that runs in user mode alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CommonFactor {
    /// Time of B over time of A; 1 when there is no common factor.
    pub value: f64,
    /// Lower end of its interval, where there are enough figures for one.
    pub low: Option<f64>,
    /// Upper end of its interval.
    pub high: Option<f64>,
    /// The median before it was decided whether it counts.
    pub median: Option<f64>,
    /// Figures whose footprint is user CPU alone, which it was made from.
    pub from: Vec<FigureKey>,
    /// Of these the ones that it explains.
    pub explains: Vec<FigureKey>,
    /// Other figures that follow it too.
    pub follows: Vec<FigureKey>,
    /// Clock of A over clock of B: what the factor should be if the clock were all.
    pub clock_ratio: Option<f64>,
    /// Whether that is of the clocks that the runs saw, rather than of nominal ones.
    #[serde(default)]
    pub clock_seen: bool,
    /// Whether the clocks agree with the factor. Without that it is not known to be the clock.
    #[serde(default)]
    pub is_clock: bool,
    /// Facts that differ and say so too.
    pub because: Vec<RunDifference>,
    /// What it is consistent with, where it is not the clock or something else would do it as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rivals: Vec<Rival>,
}

/// One primitive after removing the common factor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrimitiveResidual {
    /// The primitive.
    pub primitive: Primitive,
    /// Factor on its time that is left: 1.05 is 5% slower than the common factor says.
    pub residual: f64,
    /// Lower end of its interval, where spread is known.
    pub low: Option<f64>,
    /// Upper end of its interval.
    pub high: Option<f64>,
    /// Time of B over time of A as it stands.
    pub slowdown: f64,
    /// Figures it is the median of.
    pub figures: usize,
    /// Whether any of them is significant after Holm, or beyond the limit that stands in for it without spread.
    pub significant: bool,
}

/// A cause: what costs more, how much, and which tests that pays for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// What it is called.
    pub title: String,
    /// What is slower or faster.
    pub primitives: Vec<Primitive>,
    /// The figure that the excess is read from.
    pub unit: FigureKey,
    /// What one operation is called.
    pub per: String,
    /// Excess of one operation over A's time by the common factor, seconds; negative when B is faster.
    pub excess: f64,
    /// Lower end of its interval, where spread is known.
    pub excess_low: Option<f64>,
    /// Upper end of its interval.
    pub excess_high: Option<f64>,
    /// Residual factor of the unit.
    pub factor: f64,
    /// Tests it pays for, itself included.
    pub pays_for: Vec<Payment>,
    /// What it explains, summed over probes as absolute logarithms: the order of causes.
    pub explained: f64,
    /// What brings it about: facts that both runs recorded and that differ, where everything that they touch moved and
    /// nothing else would have moved it; and axes on which the figures differ.
    pub because: Vec<RunDifference>,
    /// The known cause, where the evidence names a single one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_as: Option<String>,
    /// What it is consistent with, where the data cannot tell: what disturbed the runs first, then the likeliest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rivals: Vec<Rival>,
    /// The arithmetic, line by line.
    pub arithmetic: Vec<String>,
}

/// One thing that a cause is consistent with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rival {
    /// What it is called.
    pub title: String,
    /// What differs, as both runs recorded it.
    pub because: Vec<RunDifference>,
    /// What is missing to name it; empty where nothing but the other rivals is in the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub but: Vec<String>,
}

/// One test that a cause pays for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Payment {
    /// The test.
    pub test: FigureKey,
    /// Its excess per operation, seconds.
    pub excess: f64,
    /// Its residual factor.
    pub factor: f64,
    /// Units of the cause that would pay for it.
    pub units: f64,
    /// Units that it uses, where they are what pays for it and their number is known or assumed.
    pub uses: Option<f64>,
}

/// Tests that nothing measured can pay for: an unmeasured resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unmeasured {
    /// The tests.
    pub tests: Vec<FigureKey>,
    /// Least and greatest excess per operation, seconds.
    pub excess: (f64, f64),
    /// Least and greatest slowdown as it stands.
    pub slowdown: (f64, f64),
    /// The slowest primitive that was measured, and its slowdown: a mixture cannot be slower than its slowest part.
    pub slowest_measured: Option<(Primitive, f64)>,
    /// How many units of each cause would be needed: least and greatest.
    pub would_need: Vec<WouldNeed>,
    /// Primitives that the tests use and that were not measured.
    pub candidates: Vec<Primitive>,
    /// The arithmetic, line by line.
    pub arithmetic: Vec<String>,
}

/// Units of a cause that would be needed to pay for a group of tests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WouldNeed {
    /// The cause's primitive.
    pub primitive: Primitive,
    /// What one unit is called.
    pub per: String,
    /// Least number of units.
    pub least: f64,
    /// Greatest number of units.
    pub most: f64,
    /// Greatest number that a test of the group uses, known or assumed.
    pub uses: f64,
}

/// A primitive that cannot be the main cause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RuledOut {
    /// The primitives, of one kind.
    pub primitives: Vec<Primitive>,
    /// What they are called together.
    pub title: String,
    /// Greatest slowdown that they can explain.
    pub bound: f64,
    /// Of which causes or groups, by title; all when every one.
    pub of: Vec<String>,
}

/// A primitive that its own figure does not clear.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NotRuledOut {
    /// What it is called.
    pub title: String,
    /// Tests that it may still explain.
    pub tests: Vec<FigureKey>,
    /// Why it is not ruled out.
    pub why: String,
}

/// A test that differs and belongs to no cause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeftOpen {
    /// The test.
    pub test: FigureKey,
    /// Its residual factor, where it has one.
    pub factor: Option<f64>,
    /// Why.
    pub why: String,
}

/// Something that differs between the runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunDifference {
    /// What kind of thing it is.
    pub kind: DifferenceKind,
    /// Its name.
    pub name: String,
    /// What A says.
    pub a: String,
    /// What B says.
    pub b: String,
    /// Primitives whose speed it may change, by the fact itself.
    pub affects: Vec<Primitive>,
}

/// Where a difference stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceKind {
    /// A fact of the machine.
    Fact,
    /// An axis of the points that were set side by side.
    Axis,
    /// A choice of the plan.
    Plan,
    /// A note of the session.
    Note,
    /// What disturbed a run, as it recorded it.
    Condition,
}

/// What to measure next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// Probes, in the order in which they tell most.
    pub probes: Vec<String>,
    /// Why these.
    pub why: String,
}
