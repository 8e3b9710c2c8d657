//! What an experiment with settings shows: how much each of them matters to one metric.
//!
//! The document of an experiment has the metric as found first, then a result for each row. Each sample of a row is the
//! time with the change over the time without it, from a block of fresh processes next to each other. The decision is
//! that of every comparison: an interval of the median of pairs, p-values adjusted over all rows (Holm), and two
//! one-sided tests for "no change".

use model::{BenchmarkResult, Estimate, Outcome, Run, Verdict};
use serde::Serialize;
use stats::equivalence::{self, EquivalenceVerdict};

/// Benchmark of the time with a setting changed over the time as found.
pub const RATIO: &str = "experiment.ratio";
/// Id of the setting that changes nothing.
pub const NOTHING: &str = "nothing";
/// Fewest blocks from which there is a verdict.
pub const FEWEST_BLOCKS: usize = model::CHECKPOINTS[0] as usize;

/// How much one row of an experiment changes the time of the metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SettingEffect {
    /// Id of the setting; several are joined by `+`.
    pub setting: String,
    /// Its name for readers.
    pub title: String,
    /// Its value as found.
    pub from: String,
    /// The value that was tried.
    pub to: String,
    /// Whether it is by how much two settings together do more than both alone.
    pub interaction: bool,
    /// Time with the change over time as found, and the ends of its interval; `None` without enough blocks.
    pub ratio: Option<[f64; 3]>,
    /// Blocks that count.
    pub blocks: usize,
    /// p-value of "no effect", adjusted for all rows.
    pub adjusted_p: Option<f64>,
    /// Whether it differs, is shown to be no change, or neither.
    pub verdict: Verdict,
    /// Why there is no ratio, if the result says so.
    pub reason: Option<String>,
}

impl SettingEffect {
    /// How far its time is from that as found, as the absolute logarithm of the ratio.
    #[must_use]
    pub fn size(&self) -> f64 {
        self.ratio.map_or(0.0, |[ratio, ..]| ratio.ln().abs())
    }
}

/// What an experiment shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SettingEffects {
    /// Id of the metric.
    pub benchmark: String,
    /// Its parameters.
    pub parameters: model::Parameters,
    /// The metric as found, in its own unit.
    pub as_found: Option<Estimate>,
    /// All rows: those that differ first, the largest effect first.
    pub effects: Vec<SettingEffect>,
    /// Seconds of measuring.
    pub seconds: f64,
}

/// The rows of an experiment; `None` if the run is none.
#[must_use]
pub fn effects(run: &Run) -> Option<SettingEffects> {
    let rows: Vec<&BenchmarkResult> = run.results.iter().filter(|result| result.benchmark == RATIO).collect();
    let metric = run.results.first().filter(|first| first.benchmark != RATIO && !rows.is_empty())?;
    let of_pairs = |row: &&BenchmarkResult| {
        let logs: Vec<f64> = row.values().iter().map(|value| value.ln()).collect();
        let enough = logs.len() >= FEWEST_BLOCKS;
        enough.then(|| equivalence::compare_pairs(&logs, run.plan.level)).flatten()
    };
    let ratios: Vec<_> = rows.iter().map(of_pairs).collect();
    let p_values: Vec<f64> = ratios.iter().flatten().map(|ratio| ratio.p_value).collect();
    let mut adjusted = stats::holm(&p_values).into_iter();
    let mut effects: Vec<SettingEffect> = rows
        .iter()
        .zip(&ratios)
        .map(|(row, ratio)| {
            let p = ratio.as_ref().and_then(|_| adjusted.next());
            let of = |name: &str| row.parameters.get(name).unwrap_or_default().to_owned();
            SettingEffect {
                setting: of("setting"),
                title: row.title.clone(),
                from: of("from"),
                to: of("to"),
                interaction: row.parameters.get("kind").is_some(),
                ratio: ratio.as_ref().map(|found| [found.shift, found.interval.low, found.interval.high].map(f64::exp)),
                blocks: row.values().len(),
                adjusted_p: p,
                verdict: ratio.as_ref().zip(p).map_or(Verdict::Inconclusive, |(found, p)| verdict(found, p, run)),
                reason: reason(&row.outcome),
            }
        })
        .collect();
    effects.sort_by(|a, b| order(b).partial_cmp(&order(a)).unwrap_or(std::cmp::Ordering::Equal));
    Some(SettingEffects {
        benchmark: metric.benchmark.clone(),
        parameters: metric.parameters.clone(),
        as_found: metric.outcome.estimate().cloned(),
        effects,
        seconds: run.session.seconds,
    })
}

/// Why a result has no value, if so.
fn reason(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::NotMeasured(reason) | Outcome::Failed(reason) => Some(reason.clone()),
        _ => None,
    }
}

fn order(effect: &SettingEffect) -> (bool, f64) {
    (effect.verdict.differs(), effect.size())
}

fn verdict(found: &equivalence::RatioEstimate, adjusted_p: f64, run: &Run) -> Verdict {
    match equivalence::verdict(found, adjusted_p, run.plan.band.ln_1p()) {
        EquivalenceVerdict::Different if found.shift > 0.0 => Verdict::Different(Some(model::Direction::Slower)),
        EquivalenceVerdict::Different => Verdict::Different(Some(model::Direction::Faster)),
        EquivalenceVerdict::NoChange => Verdict::NoChange,
        EquivalenceVerdict::Inconclusive => Verdict::Inconclusive,
    }
}

/// Which part of a difference between two machines a setting takes away.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExplainedPart {
    /// Id of the setting; several are joined by `+`.
    pub setting: String,
    /// Its name for readers.
    pub title: String,
    /// Its value on the machine that is explained.
    pub from: String,
    /// Its value on the other machine.
    pub to: String,
    /// The share, and the ends of its interval: 1 is all of it, and less than 0 means that the setting hides a part.
    /// `None` if its effect is not known.
    pub share: Option<[f64; 3]>,
}

/// Which parts of a difference settings take away.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExplainedDifference {
    /// Time on the machine that is explained over time on the other, and the ends of its interval.
    pub ratio: [f64; 3],
    /// Each setting by itself, the largest share first.
    pub parts: Vec<ExplainedPart>,
    /// All of them together; of one setting that one.
    pub together: Option<[f64; 3]>,
}

impl ExplainedDifference {
    /// What no setting explains, and the ends of its interval.
    #[must_use]
    pub fn unexplained(&self) -> Option<[f64; 3]> {
        self.together.map(|[share, low, high]| [1.0 - share, 1.0 - high, 1.0 - low])
    }
}

/// The parts of a difference, from the effects of the settings with the values of the other machine. `ratio` is the
/// time of the explained machine over that of the other, and the ends of its interval.
#[must_use]
pub fn explained(ratio: [f64; 3], found: &SettingEffects) -> ExplainedDifference {
    let share = |effect: &SettingEffect| {
        let effect = effect.ratio?.map(|ratio| -ratio.ln());
        let whole = ratio.map(f64::ln);
        let share = effect[0] / whole[0];
        // Relative errors of a quotient add in quadrature (the delta method).
        let half = |[_, low, high]: [f64; 3]| (high - low).abs() / 2.0;
        let error = (half(effect) / whole[0]).hypot(share * half(whole) / whole[0]);
        Some([share, share - error.abs(), share + error.abs()])
    };
    let tried = || found.effects.iter().filter(|effect| effect.setting != NOTHING);
    let single = |effect: &&SettingEffect| !effect.setting.contains('+');
    let part = |effect: &SettingEffect| ExplainedPart {
        setting: effect.setting.clone(),
        title: effect.title.clone(),
        from: effect.from.clone(),
        to: effect.to.clone(),
        share: share(effect),
    };
    let mut parts: Vec<ExplainedPart> = tried().filter(single).map(part).collect();
    let first = |part: &ExplainedPart| part.share.map_or(f64::NEG_INFINITY, |[share, ..]| share);
    parts.sort_by(|a, b| first(b).total_cmp(&first(a)));
    let joint = tried().find(|effect| !single(effect)).and_then(share);
    let together = joint.or_else(|| parts.first().filter(|_| parts.len() == 1).and_then(|part| part.share));
    ExplainedDifference { ratio, parts, together }
}
