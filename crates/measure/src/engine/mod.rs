//! What carries a step out.

mod mock;
mod process;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use model::Identity;

pub use mock::{MockEngine, MockFigure};
pub use process::ProcessEngine;

use crate::outside::OutsideCounters;
use crate::step::{Reply, Step};

/// Carries steps out, one at a time.
pub trait Engine {
    /// Carries out one step.
    ///
    /// # Errors
    /// When no complete answer came.
    fn launch(&mut self, step: &Step, patience: Duration, stopper: &Stopper) -> Result<Vec<Reply>, EngineError>;

    /// Seconds since some fixed moment.
    fn now(&self) -> f64;

    /// Smallest step of the clock that times batches, nanoseconds.
    fn tick(&self) -> u64;

    /// Which machine and boot the launches run on.
    fn identity(&self) -> Identity;

    /// Waits between launches, unless it is asked to stop.
    fn rest(&mut self, time: Duration, stopper: &Stopper);

    /// What the outside has taken so far from the CPUs under test.
    fn outside(&self, cpus: &[usize]) -> OutsideCounters;
}

/// Why a launch gave no complete answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// The worker ended before it had said everything.
    #[error("the worker ended early: {0}")]
    Crashed(String),
    /// The worker was killed because it took too long.
    #[error("the worker was killed after {0} seconds without an answer")]
    Hung(u64),
    /// The worker was killed because it said too much, or something else than replies.
    #[error("the worker was killed because {0}")]
    Babbled(String),
    /// The worker could not be started.
    #[error("could not start a worker: {0}")]
    NotStarted(String),
    /// Somebody asked to stop.
    #[error("stopped")]
    Stopped,
}

/// A request to stop, from whoever watches for signals.
#[derive(Debug, Clone, Default)]
pub struct Stopper(Arc<AtomicBool>);

impl Stopper {
    /// A stopper that watches a flag which a signal handler sets.
    #[must_use]
    pub fn watching(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }

    /// Asks to stop.
    pub fn stop(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether somebody asked.
    #[must_use]
    pub fn asked(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
