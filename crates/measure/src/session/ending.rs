//! How a run ended, and with what.

use model::{Flag, Run};

use super::MeasureSession;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndReason {
    /// Every figure is finished.
    Complete,
    /// Time was up.
    TimeLimit,
    /// A stop was requested.
    Stopped,
    /// It could not be saved.
    NotSaved(String),
}

/// A run that ended.
#[derive(Debug)]
pub struct RunResult {
    /// The run document.
    pub run: Run,
    /// Why it ended.
    pub ending: EndReason,
}

impl MeasureSession<'_> {
    /// The end of the time is a look too: no value decided when it came, as one may when a person stops a run. Figures
    /// that are within their targets then are not unfinished.
    pub(super) fn look_last(&mut self, ending: &EndReason) {
        if *ending != EndReason::TimeLimit {
            return;
        }
        for index in 0..self.run.plan.entries.len().min(self.run.figures.len()) {
            let target = self.target(index);
            let figure = &mut self.run.figures[index];
            let narrow = |one: &model::Estimate| {
                one.level >= stats::CALLING_LEVEL && !one.is_range() && one.relative_half_width() <= target
            };
            if figure.outcome.estimate().is_some_and(narrow) {
                figure.flags.retain(|flag| *flag != Flag::Unfinished);
            }
        }
    }
}
