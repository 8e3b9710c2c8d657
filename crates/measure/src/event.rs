//! What the measuring path tells while it works.

use model::{FigureKey, Run};

/// Something that happened.
#[derive(Debug)]
pub enum MeasureEvent<'a> {
    /// A run begins or goes on.
    Began(&'a Run),
    /// A figure is about to be calibrated.
    Calibrating {
        /// The figure.
        key: &'a FigureKey,
        /// How many were calibrated before it.
        done: usize,
        /// How many there are.
        of: usize,
    },
    /// A round begins.
    Round {
        /// Its number, from 1.
        number: u32,
        /// Figures still measured.
        active: usize,
    },
    /// A launch begins.
    Launching {
        /// Its figures.
        keys: &'a [FigureKey],
        /// Which launch of its figures this is, from 1.
        launch: u32,
        /// The figures' next look.
        look: u32,
    },
    /// A launch counted for nothing, by outside evidence, and is repeated.
    Repeated {
        /// The figure.
        key: &'a FigureKey,
        /// The evidence.
        reason: String,
    },
    /// A figure ended, one way or another.
    Finished {
        /// The figure.
        key: &'a FigureKey,
        /// How many have ended.
        done: usize,
        /// How many there are.
        of: usize,
    },
    /// A round ended and was saved.
    Saved {
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

/// Somebody who wants to know.
pub trait Observer {
    /// Hears of an event. Called between launches, never inside one.
    fn on_event(&mut self, event: &MeasureEvent<'_>);
}

/// Nobody.
pub struct NullObserver;

impl Observer for NullObserver {
    fn on_event(&mut self, _: &MeasureEvent<'_>) {}
}
