//! Events of the measuring path.

use model::{FigureKey, Run};

/// One event.
#[derive(Debug)]
pub enum MeasureEvent<'a> {
    /// A run begins or is resumed.
    Began(&'a Run),
    /// A figure is about to be calibrated.
    Calibrating {
        /// Its key.
        key: &'a FigureKey,
        /// Number of figures calibrated before it.
        done: usize,
        /// Total number of figures.
        of: usize,
    },
    /// A round begins.
    Round {
        /// Its number, from 1.
        number: u32,
        /// Figures still being measured.
        active: usize,
    },
    /// A launch begins.
    Launching {
        /// Its figures.
        keys: &'a [FigureKey],
        /// The number of the launch for its figures, from 1.
        launch: u32,
        /// The next look of the figures.
        look: u32,
    },
    /// A launch was excluded by outside evidence, and is repeated.
    Repeated {
        /// Its key.
        key: &'a FigureKey,
        /// The evidence.
        reason: String,
    },
    /// A figure ended, with any outcome.
    Finished {
        /// The figure.
        key: &'a FigureKey,
        /// Number of figures that have ended.
        done: usize,
        /// Total number of figures.
        of: usize,
    },
    /// A round ended and was saved.
    Saved {
        /// The run so far.
        run: &'a Run,
        /// Figures within their target.
        converged: usize,
        /// All figures.
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
    /// Receives an event. Called between launches, never inside one.
    fn on_event(&mut self, event: &MeasureEvent<'_>);
}

/// Ignores all events.
pub struct NullObserver;

impl Observer for NullObserver {
    fn on_event(&mut self, _: &MeasureEvent<'_>) {}
}
