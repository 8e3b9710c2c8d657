//! How a run ended, and with what.

use model::Run;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndReason {
    /// Every figure is finished.
    Complete,
    /// Time was up.
    TimeLimit,
    /// Somebody asked to stop.
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
