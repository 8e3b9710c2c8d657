//! Events of the measuring path.

use model::{ResultKey, Run};

/// One event.
#[derive(Debug)]
pub enum MeasureEvent<'a> {
    /// A run begins or is resumed.
    Began(&'a Run),
    /// A result is about to be calibrated.
    Calibrating {
        /// Its key.
        key: &'a ResultKey,
        /// Number of results calibrated before it.
        done: usize,
        /// Total number of results.
        of: usize,
    },
    /// A round begins.
    Round {
        /// Its number, from 1.
        number: u32,
        /// Results still being measured.
        active: usize,
    },
    /// A sample begins.
    Launching {
        /// Its results.
        keys: &'a [ResultKey],
        /// The number of the sample for its results, from 1.
        sample: u32,
        /// The next checkpoint of the results.
        look: u32,
    },
    /// A sample was excluded by outside evidence, and is repeated.
    Repeated {
        /// Its key.
        key: &'a ResultKey,
        /// The evidence.
        reason: String,
    },
    /// A result ended, with any outcome.
    Finished {
        /// The result.
        key: &'a ResultKey,
        /// Number of results that have ended.
        done: usize,
        /// Total number of results.
        of: usize,
    },
    /// A round ended and was saved.
    Saved {
        /// The run so far.
        run: &'a Run,
        /// Results within their target.
        converged: usize,
        /// All results.
        of: usize,
        /// Seconds measured.
        elapsed: f64,
        /// Seconds left, estimated.
        left: f64,
    },
    /// The run ended.
    Ended(&'a Run),
}

/// Receives events.
pub trait Observer {
    /// Receives an event. Called between samples, never inside one.
    fn on_event(&mut self, event: &MeasureEvent<'_>);
}

/// Ignores all events.
pub struct NullObserver;

impl Observer for NullObserver {
    fn on_event(&mut self, _: &MeasureEvent<'_>) {}
}
