//! What carries a step out, and what may be launched in rounds.

mod mock;
mod process;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use model::{Figure, Identity, ReferenceLengths, ReferenceReading, Run, Topology};

pub use mock::{MockEngine, MockFigure};
pub use process::ProcessEngine;

use crate::outside::OutsideCounters;
use crate::step::{Reply, WorkerStep};

/// Something whose figures are measured by launches, one step at a time: probes in workers, the user's applications,
/// the components of a rating, flows between nodes. [`crate::MeasureSession`] decides what is launched when, how often
/// and which launches count, in the same way for all of them; an engine says what one launch found. A further kind of
/// subject is one more engine.
pub trait Engine {
    /// Carries out one step.
    ///
    /// # Errors
    /// When no complete answer came.
    fn launch(&mut self, step: &WorkerStep, patience: Duration, stopper: &Stopper) -> Result<Vec<Reply>, EngineError>;

    /// A CPU for each party of a figure that is about to be measured; none leaves the scheduler free.
    ///
    /// # Errors
    /// Why the figure cannot be measured here.
    fn place(&self, figure: &Figure, machine: &Topology, allowed: &[usize]) -> Result<Vec<usize>, String> {
        let probe = probes::find(&figure.probe).ok_or("this program does not have the probe any more")?;
        crate::place(probe, &figure.point, machine, allowed)
    }

    /// The figure that decides for how long this one is measured: launches are made for that one, and this one comes
    /// along with the interval that it gets.
    fn leader(&self, _figure: usize) -> Option<usize> {
        None
    }

    /// Adds what follows from the figures once the last round is over, behind those of the plan: a run that is resumed
    /// has it made anew.
    fn conclude(&mut self, _run: &mut Run) {}

    /// Seconds since some fixed moment.
    fn now(&self) -> f64 {
        kernels::clock::now() as f64 * 1e-9
    }

    /// Smallest step of the clock that times batches, nanoseconds.
    fn tick(&self) -> u64 {
        kernels::clock::tick()
    }

    /// Which machine and boot the launches run on.
    fn identity(&self) -> Identity {
        crate::identity()
    }

    /// Waits between launches, unless it is asked to stop.
    fn rest(&mut self, time: Duration, stopper: &Stopper) {
        /// How often a waiting harness looks whether to stop.
        const LOOK: Duration = Duration::from_millis(200);
        let until = Instant::now() + time;
        while let Some(left) = until.checked_duration_since(Instant::now()).filter(|_| !stopper.asked()) {
            kernels::timer::sleep(left.min(LOOK));
        }
    }

    /// Finds the lengths of the references on a CPU; `None` where this engine's launches do not read them.
    fn calibrate_references(&mut self, _cpu: usize) -> Option<Result<ReferenceLengths, String>> {
        None
    }

    /// Reads the references so many times in a row on a CPU.
    fn read_references(&mut self, _lengths: ReferenceLengths, _cpu: usize, _readings: usize) -> Vec<ReferenceReading> {
        Vec::new()
    }

    /// The CPUs by class of core: one class on most machines.
    fn core_classes(&self, allowed: &[usize]) -> Vec<Vec<u32>> {
        vec![allowed.iter().map(|cpu| u32::try_from(*cpu).unwrap_or(u32::MAX)).collect()]
    }

    /// What the outside has taken so far from the CPUs under test. An engine whose processes outlive a launch leaves
    /// out
    /// [`OutsideCounters::busy`]: their work, which is not counted before they end, would be that of others.
    fn outside(&self, cpus: &[usize]) -> OutsideCounters {
        OutsideCounters::now(cpus)
    }
}

/// Why a launch gave no complete answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// The worker ended before it had said everything.
    #[error("the worker ended early: {0}")]
    Crashed(String),
    /// The worker was killed by something else than this program: by a person, or for memory.
    #[error("the worker ended early: {0}")]
    Killed(String),
    /// The worker was killed because it took too long.
    #[error("the worker was killed after {0} seconds without an answer")]
    Hung(u64),
    /// The worker was killed because it said too much, or something else than replies.
    #[error("the worker was killed because {0}")]
    InvalidReply(String),
    /// The worker could not be started.
    #[error("could not start a worker: {0}")]
    NotStarted(String),
    /// A stop was requested.
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

    /// Whether a stop was requested.
    #[must_use]
    pub fn asked(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
