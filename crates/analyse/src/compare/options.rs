//! What a reader may choose about a comparison.

use model::{Better, Metric};
use serde::{Deserialize, Serialize};

use super::session::SessionRecord;

/// How ratios are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Normalise {
    /// Value over the reference's value, as tables are printed: a time of 2 against 1 is 2.
    Ratio,
    /// Gain over the reference, above 1 is better whatever the direction: a time of 2 against 1 is 0.5.
    #[default]
    Gain,
}

impl Normalise {
    /// A ratio of a metric that is written in this way, written in another.
    #[must_use]
    pub fn rewritten(self, metric: &Metric, value: f64, other: Self) -> f64 {
        if self == other || metric.better == Better::Higher { value } else { 1.0 / value }
    }

    /// Ends of an interval, the lower first, written in another way.
    #[must_use]
    pub fn rewritten_ends(self, metric: &Metric, ends: (f64, f64), other: Self) -> (f64, f64) {
        let (a, b) = (self.rewritten(metric, ends.0, other), self.rewritten(metric, ends.1, other));
        (a.min(b), a.max(b))
    }
}

/// Choices of a comparison; the default is what `prony compare` does without options.
#[derive(Debug, Clone)]
pub struct CompareOptions<'a> {
    /// What a person typed to name each run, in the order of the runs: it may become its name on the page. Where it is
    /// empty, runs are called by label or id.
    pub handles: Vec<String>,
    /// Name or id of the reference; the first run when absent.
    pub reference: Option<String>,
    /// Patterns of figures, separated by commas, with `*` and `?`; all when absent.
    pub figures: Option<String>,
    /// Axes whose value may differ between two figures that are set side by side, such as `placement`.
    pub across: Vec<String>,
    /// How ratios are written.
    pub normalise: Normalise,
    /// A figure (machines are then ordered best first) or a machine (figures are then ordered worst first).
    pub sort_by: Option<String>,
    /// Whether figures that are DIFFERENT come first.
    pub changed_first: bool,
    /// Half-width of the band that counts as the same, as a logarithm of the ratio: 0.02 is 2%. Cycles of one machine are
    /// judged within half of it.
    pub band: f64,
    /// Clock at which core figures are printed, hertz, instead of the reference's; it changes no ratio and no verdict.
    pub at_clock: Option<f64>,
    /// Confidence of the intervals and of the whole report.
    pub level: f64,
    /// What earlier sessions found; those on the same machines say how far sessions lie apart.
    pub history: &'a [SessionRecord],
    /// Seed of the Monte-Carlo intervals.
    pub seed: u64,
}

impl Default for CompareOptions<'_> {
    fn default() -> Self {
        Self {
            handles: Vec::new(),
            reference: None,
            figures: None,
            across: Vec::new(),
            normalise: Normalise::default(),
            sort_by: None,
            changed_first: false,
            band: stats::BAND,
            at_clock: None,
            level: 0.95,
            history: &[],
            seed: 0,
        }
    }
}
