//! The subject that carries out steps in rounds.

mod mock;
mod process;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use benchmarks::Benchmark;
use model::{BenchmarkResult, Domain, Identity, Parameters, Run, SensorLengths, SensorReading, Topology};

pub use mock::{MockResult, MockSubject};
pub use process::Workers;

use crate::outside::OutsideCounters;
use crate::worker::{Reply, WorkerStep};
use crate::{placement, sizing};

/// A result's requirements, which the session reads once before measuring. In the default the scheduler places the
/// parties.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Description {
    /// A CPU for each party; empty leaves the scheduler free.
    pub cpus: Vec<usize>,
    /// Whether the result is independent, so that it may get more of a limited time than others. Commands, builds and
    /// applications are compared, so they have equal rounds.
    pub stands_alone: bool,
    /// Timed batches of a sample, if their number is fixed.
    pub batches: Option<u32>,
    /// Whether a sample times pairs, and the result is their difference.
    pub paired: bool,
    /// Whether its preparation is long because other results share it.
    pub shares: bool,
    /// The expected domain of its time.
    pub domain: Domain,
    /// Notes on its placement and size.
    pub remarks: Vec<String>,
}

impl Description {
    /// For a result without its place: that of its benchmark, or the default if it has none.
    #[must_use]
    pub fn of(result: &BenchmarkResult) -> Self {
        benchmarks::find(&result.benchmark)
            .map_or_else(Self::default, |benchmark| Self::of_benchmark(benchmark, &result.parameters))
    }

    fn of_benchmark(benchmark: &Benchmark, parameters: &Parameters) -> Self {
        Self {
            stands_alone: true,
            batches: benchmark.batch.batches,
            paired: benchmark.paired,
            shares: benchmark.shares.is_some(),
            domain: benchmark.domain_at(parameters),
            ..Self::default()
        }
    }

    /// For a benchmark's result, with its place on a machine.
    ///
    /// # Errors
    /// Why it cannot be measured there.
    pub fn placed(
        result: &BenchmarkResult,
        suite: &str,
        machine: &Topology,
        allowed: &[usize],
    ) -> Result<Self, String> {
        let benchmark =
            benchmarks::find(&result.benchmark).ok_or("this program does not have the benchmark any more")?;
        let cpus = placement::place(benchmark, &result.parameters, machine, allowed)?;
        let mut remarks: Vec<String> = placement::remark(benchmark, machine, &cpus).into_iter().collect();
        remarks.extend(sizing::remarks(suite, benchmark, &result.parameters, machine, &cpus));
        Ok(Self { cpus, remarks, ..Self::of_benchmark(benchmark, &result.parameters) })
    }
}

/// The machine that samples run on: its clock, its counters and its sensors.
pub trait Host {
    /// Seconds since some fixed moment.
    fn now(&self) -> f64 {
        kernels::clock::now() as f64 * 1e-9
    }

    /// Smallest step of the clock that times batches, nanoseconds.
    fn tick(&self) -> u64 {
        kernels::clock::tick()
    }

    /// Machine and boot of the samples.
    fn identity(&self) -> Identity {
        crate::identity()
    }

    /// Waits between samples, unless it is asked to stop.
    fn rest(&mut self, time: Duration, stopper: &Stopper) {
        /// How often a waiting harness checks whether to stop.
        const STEP: Duration = Duration::from_millis(200);
        let until = Instant::now() + time;
        while let Some(left) = until.checked_duration_since(Instant::now()).filter(|_| !stopper.asked()) {
            kernels::timer::sleep(left.min(STEP));
        }
    }

    /// Time and load taken so far from the CPUs under test by others. If processes of a subject outlive a sample, leave
    /// out [`OutsideCounters::busy`]: their work is not counted before they end, and would be attributed to others.
    fn outside(&self, cpus: &[usize]) -> OutsideCounters {
        OutsideCounters::now(cpus)
    }

    /// Finds the lengths of the sensors on a CPU; `None` if samples do not read them.
    fn calibrate_sensors(&mut self, _cpu: usize) -> Option<Result<SensorLengths, String>> {
        None
    }

    /// Reads the sensors several times in a row on a CPU.
    fn read_sensors(&mut self, _lengths: SensorLengths, _cpu: usize, _readings: usize) -> Vec<SensorReading> {
        Vec::new()
    }

    /// The CPUs by class of core: one class on most machines.
    fn core_classes(&self, allowed: &[usize]) -> Vec<Vec<u32>> {
        vec![allowed.iter().map(|cpu| u32::try_from(*cpu).unwrap_or(u32::MAX)).collect()]
    }
}

/// Something whose results are measured by samples: benchmarks in workers, the user's applications, the components of a
/// rating, flows between nodes. [`crate::MeasureSession`] decides the order and number of samples and which of them
/// count, in the same way for all subjects. A subject only reports one sample.
pub trait Subject: Host {
    /// Carries out one step.
    ///
    /// # Errors
    /// When no complete answer came.
    fn launch(&mut self, step: &WorkerStep, stopper: &Stopper) -> Result<Vec<Reply>, SampleError>;

    /// Description of a suite's result on a machine whose CPUs are `allowed`.
    ///
    /// # Errors
    /// Why the result cannot be measured here.
    fn describe(
        &self,
        _result: &BenchmarkResult,
        _suite: &str,
        _machine: &Topology,
        _allowed: &[usize],
    ) -> Result<Description, String> {
        Ok(Description::default())
    }

    /// The result that decides for how long this one is measured: samples are made for that one, and this one comes
    /// along with the interval that it gets.
    fn leader(&self, _result: usize) -> Option<usize> {
        None
    }

    /// Adds derived results after the last round, behind those of the plan; a resumed run computes them again.
    fn conclude(&mut self, _run: &mut Run) {}
}

/// Why a sample gave no complete answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SampleError {
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

/// A request to stop, from the code that watches for signals.
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
