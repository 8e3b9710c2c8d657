//! The result of an explanation, as plain data.

use std::collections::BTreeMap;

use model::{Primitive, ResultKey};
use serde::{Deserialize, Serialize};

use super::stream_line::StreamLine;

/// Why run B differs from run A, by their results and facts. Times are B's minus A's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// Name of the reference run.
    pub a: String,
    /// Name of the run whose difference is explained.
    pub b: String,
    /// Matched results, without sets of parameters of curves over block sizes.
    pub tests: usize,
    /// Sets of parameters of such curves.
    pub curve_points: usize,
    /// The CPUs of A and B, if they are known to be different ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<[String; 2]>,
    /// Whether both runs are of one machine.
    #[serde(default)]
    pub same_machine: bool,
    /// Geometric mean of B's times over A's, as a comparison has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowdown: Option<f64>,
    /// Titles of the results, by their ids.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub names: BTreeMap<String, ResultName>,
    /// Recorded disturbances, one sentence for each run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbed: Vec<String>,
    /// The first disturbance of each run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interference: Vec<String>,
    /// Whether there is a difference to explain.
    pub difference: bool,
    /// How many results were decided, and what would decide the others.
    pub decided: Decided,
    /// The common factor of all work in user mode.
    pub common_factor: CommonFactor,
    /// Each primitive after removing the common factor.
    pub residuals: Vec<PrimitiveResidual>,
    /// Streams whose difference is described by two numbers: the time of a call and of a byte.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<StreamLine>,
    /// The smallest set of causes found, sorted by explained excess.
    pub causes: Vec<Cause>,
    /// Groups of tests that nothing measured explains.
    pub unmeasured: Vec<Unmeasured>,
    /// Primitives that cannot be the main cause, with their bounds.
    pub ruled_out: Vec<RuledOut>,
    /// Primitives that are not ruled out despite their own results, with the reason.
    pub not_ruled_out: Vec<NotRuledOut>,
    /// Differing tests without a cause, with the reason.
    pub left_open: Vec<LeftOpen>,
    /// Assumptions.
    pub assumed: Vec<String>,
    /// Facts recorded by both runs, settings and sets of parameters that differ and may matter.
    pub facts: Vec<RunDifference>,
    /// The next measurement, if a question is open.
    pub next_experiment: Option<Experiment>,
}

/// What a result is called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultName {
    /// Title of its benchmark.
    pub title: String,
    /// The title with the parameters in words.
    pub label: String,
}

/// How many results were decided, and what would decide the others with a chance of 80%.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// Results that were compared.
    pub results: usize,
    /// Those that neither differ nor are shown to be the same.
    pub inconclusive: usize,
    /// Inconclusive results that more samples would decide.
    pub by_samples: usize,
    /// Samples that decide each of them.
    pub samples: usize,
    /// Inconclusive results that more sessions would decide.
    pub by_sessions: usize,
    /// Sessions of each machine that decide each of them.
    pub sessions: usize,
    /// Inconclusive results that lie too close to the edge of the margin for any reasonable effort.
    pub too_close: usize,
}

/// Robust location of the time ratios of all work in user mode alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CommonFactor {
    /// Time of B over time of A; 1 without a common factor.
    pub value: f64,
    /// Lower end of its interval, if there are enough results for one.
    pub low: Option<f64>,
    /// Upper end of its interval.
    pub high: Option<f64>,
    /// The median before deciding whether it is a common factor.
    pub median: Option<f64>,
    /// Results of user CPU time alone, from which it was computed.
    pub from: Vec<ResultKey>,
    /// The results that it explains.
    pub explains: Vec<ResultKey>,
    /// Other results that agree with it.
    pub follows: Vec<ResultKey>,
    /// Clock of A over clock of B: the factor if the clock were the only cause.
    pub clock_ratio: Option<f64>,
    /// Whether these are measured clocks rather than nominal ones.
    #[serde(default)]
    pub clock_seen: bool,
    /// Whether the clocks agree with the factor. Otherwise the clock is not known to be the cause.
    #[serde(default)]
    pub is_clock: bool,
    /// Differing facts that agree with it.
    pub because: Vec<RunDifference>,
    /// Possible causes, if it is not the clock or not only the clock would have this effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rivals: Vec<Rival>,
}

/// One primitive after removing the common factor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrimitiveResidual {
    /// The primitive.
    pub primitive: Primitive,
    /// Remaining factor on its time: 1.05 is 5% slower than by the common factor.
    pub residual: f64,
    /// Lower end of its interval, if spread is known.
    pub low: Option<f64>,
    /// Upper end of its interval.
    pub high: Option<f64>,
    /// Time of B over time of A.
    pub slowdown: f64,
    /// Number of results behind the median.
    pub results: usize,
    /// Whether any of them is significant after Holm's adjustment, or beyond the limit used without spread.
    pub significant: bool,
}

/// A cause: what costs more, how much, and which tests it explains.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// Its title.
    pub title: String,
    /// The slower or faster primitives.
    pub primitives: Vec<Primitive>,
    /// The result that gives the excess.
    pub unit: ResultKey,
    /// Name of one operation.
    pub per: String,
    /// Excess of one operation over A's time scaled by the common factor, seconds; negative when B is faster.
    pub excess: f64,
    /// Lower end of its interval, if spread is known.
    pub excess_low: Option<f64>,
    /// Upper end of its interval.
    pub excess_high: Option<f64>,
    /// Time of B over time of A of the unit.
    pub slowdown: f64,
    /// Residual factor of the unit.
    pub factor: f64,
    /// Whether excess and factor are those at one clock, as cycles are compared: the clocks differ too little to count
    /// as a common factor.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_one_clock: bool,
    /// Tests that it explains, including its own.
    pub pays_for: Vec<Payment>,
    /// The explained change, summed over benchmarks as absolute logarithms; causes are sorted by this.
    pub explained: f64,
    /// Why it is named: differing facts that both runs recorded, if everything conclusive that they affect changed and
    /// no other cause would have changed it. Also parameters on which the results differ.
    pub because: Vec<RunDifference>,
    /// Tests that the named fact touches and that are inconclusive: they speak neither for it nor against it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inconclusive: Vec<ResultKey>,
    /// The known cause, if the evidence names a single one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_as: Option<String>,
    /// Possible causes, if the data cannot decide: disturbances of the runs first, then the likeliest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rivals: Vec<Rival>,
    /// The arithmetic, line by line.
    pub arithmetic: Vec<String>,
}

/// One possible cause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rival {
    /// Its title.
    pub title: String,
    /// The difference, as both runs recorded it.
    pub because: Vec<RunDifference>,
    /// Missing evidence for naming it; empty if only the other rivals prevent it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub but: Vec<String>,
}

/// One test that a cause explains.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Payment {
    /// The test.
    pub test: ResultKey,
    /// Its excess per operation, seconds.
    pub excess: f64,
    /// Its residual factor.
    pub factor: f64,
    /// Units of the cause that would explain it.
    pub units: f64,
    /// Units that it uses, if they explain it and their number is known or assumed.
    pub uses: Option<f64>,
}

/// Tests that nothing measured explains: an unmeasured resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unmeasured {
    /// The tests.
    pub tests: Vec<ResultKey>,
    /// Least and greatest excess per operation, seconds.
    pub excess: (f64, f64),
    /// Least and greatest slowdown.
    pub slowdown: (f64, f64),
    /// The slowest primitive that was measured: a mixture cannot be slower than its slowest part.
    pub slowest_measured: Option<SlowestMeasured>,
    /// Needed units of each cause: least and greatest.
    pub would_need: Vec<WouldNeed>,
    /// Primitives that the tests use and that were not measured.
    pub candidates: Vec<Primitive>,
    /// The arithmetic, line by line.
    pub arithmetic: Vec<String>,
}

/// The primitive whose slowdown may be the greatest of all that were measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SlowestMeasured {
    /// The primitive.
    pub primitive: Primitive,
    /// Its slowdown.
    pub slowdown: f64,
    /// Upper end of the interval of its slowdown; the slowdown itself without spread.
    pub at_most: f64,
}

/// Units of a cause that would be needed to explain a group of tests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WouldNeed {
    /// The cause's primitive.
    pub primitive: Primitive,
    /// Name of one unit.
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
    /// Their common title.
    pub title: String,
    /// Greatest slowdown that they can explain.
    pub bound: f64,
    /// Titles of the causes or groups to which this applies; all if empty.
    pub of: Vec<String>,
}

/// A primitive that is not ruled out despite its own result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NotRuledOut {
    /// Its title.
    pub title: String,
    /// Tests that it may still explain.
    pub tests: Vec<ResultKey>,
    /// Why it is not ruled out.
    pub why: String,
}

/// Why a test is left open that moved between runs that were disturbed unlike, where nothing else that differs would
/// move it.
pub(crate) const UNTOLD: &str = "interference alone may explain it";

/// A differing test without a cause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeftOpen {
    /// The test.
    pub test: ResultKey,
    /// Its residual factor, if it has one.
    pub factor: Option<f64>,
    /// The reason.
    pub why: String,
}

/// A difference between the runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunDifference {
    /// Its kind.
    pub kind: DifferenceKind,
    /// Its name.
    pub name: String,
    /// Value of A.
    pub a: String,
    /// Value of B.
    pub b: String,
    /// Primitives whose speed it may affect, by the fact itself.
    pub affects: Vec<Primitive>,
    /// Unit of both values, of a fact that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

impl RunDifference {
    /// Both values for people: bytes and hertz in three digits, shares as percentages, unless these are the same.
    #[must_use]
    pub fn in_words(&self) -> (String, String) {
        let unit = self.unit.as_deref();
        match (measured(&self.a, unit), measured(&self.b, unit)) {
            (Some(a), Some(b)) if a != b => (a, b),
            _ => (self.a.clone(), self.b.clone()),
        }
    }
}

fn measured(number: &str, unit: Option<&str>) -> Option<String> {
    let number: f64 = number.parse().ok()?;
    match unit? {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, and in range")]
        "B" if (0.0..1e18).contains(&number) => Some(model::spoken_size(number as u64)),
        "Hz" if number >= 1e9 => Some(format!("{:.2} GHz", number * 1e-9)),
        "Hz" if number >= 1e6 => Some(format!("{:.0} MHz", number * 1e-6)),
        "share" => Some(model::percent(number)),
        _ => None,
    }
}

/// Origin of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceKind {
    /// A fact of the machine.
    Fact,
    /// A parameter of matched sets of parameters.
    Parameter,
    /// A setting of the plan.
    Plan,
    /// A note of the session.
    Note,
    /// A recorded disturbance.
    Condition,
}

/// The next measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// Benchmarks, the most informative first.
    pub benchmarks: Vec<String>,
    /// Why these.
    pub why: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_clocks_are_said_in_words_as_far_as_these_tell_them_apart() {
        let said = |a: &str, b: &str, unit: Option<&str>| {
            let difference = RunDifference {
                kind: DifferenceKind::Fact,
                name: "fact".to_owned(),
                a: a.to_owned(),
                b: b.to_owned(),
                affects: Vec::new(),
                unit: unit.map(str::to_owned),
            };
            let (a, b) = difference.in_words();
            format!("{a}, {b}")
        };
        assert_eq!(said("1073741824", "536870912", Some("B")), "1 GiB, 512 MiB");
        assert_eq!(said("1730000000", "800000000", Some("Hz")), "1.73 GHz, 800 MHz");
        assert_eq!(said("25000000000", "25010000000", Some("Hz")), "25.00 GHz, 25.01 GHz");
        assert_eq!(said("1100000000", "1101000000", Some("B")), "1100000000, 1101000000", "both are 1.0 GiB");
        assert_eq!(said("none", "2", Some("1")), "none, 2");
        assert_eq!(said("Xeon 1", "Xeon 2", None), "Xeon 1, Xeon 2");
    }
}
