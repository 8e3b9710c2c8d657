//! Options of a comparison.

use model::{Better, Metric};
use serde::{Deserialize, Serialize};

use super::session::SessionRecord;

/// Form of ratios.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Normalise {
    /// Value over the reference's value, as in printed tables: a time of 2 against 1 is 2.
    Ratio,
    /// Gain over the reference, above 1 is better in either direction: a time of 2 against 1 is 0.5.
    #[default]
    Gain,
}

impl Normalise {
    /// Converts a ratio of a metric from this form to another.
    #[must_use]
    pub fn rewritten(self, metric: &Metric, value: f64, other: Self) -> f64 {
        if self == other || metric.better == Better::Higher { value } else { 1.0 / value }
    }

    /// Converts the ends of an interval to another form, the lower first.
    #[must_use]
    pub fn rewritten_ends(self, metric: &Metric, ends: (f64, f64), other: Self) -> (f64, f64) {
        let (a, b) = (self.rewritten(metric, ends.0, other), self.rewritten(metric, ends.1, other));
        (a.min(b), a.max(b))
    }
}

/// Options of a comparison; the default is that of `prony compare`.
#[derive(Debug, Clone)]
pub struct CompareOptions<'a> {
    /// The user's names of the runs, in order, which may become their names on the page. If empty, runs are called by
    /// label or id.
    pub handles: Vec<String>,
    /// Name or id of the reference; the first run when absent.
    pub reference: Option<String>,
    /// Patterns of results, separated by commas, with `*` and `?`; all when absent.
    pub results: Option<String>,
    /// Parameters whose value may differ between matched results, such as `placement`.
    pub across: Vec<String>,
    /// Form of ratios.
    pub normalise: Normalise,
    /// A result (machines are then sorted best first) or a machine (results are then sorted worst first).
    pub sort_by: Option<String>,
    /// Half-width of the margin that counts as no change, as a logarithm of the ratio: 0.02 is 2%. Cycles of one
    /// machine use half of it.
    pub band: f64,
    /// Confidence of the intervals and of the whole report.
    pub level: f64,
    /// Values of earlier sessions; those on the same machines give the session noise.
    pub history: &'a [SessionRecord],
    /// Seed of the Monte Carlo intervals.
    pub seed: u64,
}

impl Default for CompareOptions<'_> {
    fn default() -> Self {
        Self {
            handles: Vec::new(),
            reference: None,
            results: None,
            across: Vec::new(),
            normalise: Normalise::default(),
            sort_by: None,
            band: stats::BAND,
            level: 0.95,
            history: &[],
            seed: 0,
        }
    }
}
