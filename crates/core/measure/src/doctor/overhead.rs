//! Cost of the harness itself: the clock, the loop around a batch, a worker.

use std::time::Duration;

use benchmarks::{BatchWork, BenchmarkError, Kernel};

use super::Check;
use crate::subject::{Stopper, Subject};
use crate::worker::{Purpose, WorkerStep};

/// Repetitions of a step; the median counts.
const REPEATS: usize = 11;
/// Share of a batch below which a cost is negligible.
const NEGLIGIBLE: f64 = 0.001;

struct Nothing;

impl Kernel for Nothing {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        Ok(BatchWork { ops, token: std::hint::black_box(ops) })
    }

    fn check(&mut self, _: &BatchWork) -> Result<(), BenchmarkError> {
        Ok(())
    }
}

pub(super) fn checks(subject: &mut dyn Subject) -> Vec<Check> {
    let (tick, read) = (kernels::clock::tick(), kernels::clock::read_cost());
    let batch = 1_000_000.0;
    let clock =
        format!("read cost {read:.0} ns, resolution {tick} ns: {}", share_of_batch((2.0 * read + tick as f64) / batch));
    let around = loop_cost(read).max(tick as f64);
    let around = format!("an empty batch takes at most {around:.0} ns: {}", share_of_batch(around / batch));
    vec![Check::fine("clock", clock), Check::fine("loop", around), worker(subject)]
}

/// What share of a batch of 1 ms something costs, in words.
fn share_of_batch(share: f64) -> String {
    if share < NEGLIGIBLE { "negligible".to_owned() } else { format!("{} of a 1 ms batch", model::percent(share)) }
}

/// Nanoseconds of the call through the table of the kernel, beyond reading the clock twice.
fn loop_cost(read: f64) -> f64 {
    let mut kernel: Box<dyn Kernel> = std::hint::black_box(Box::new(Nothing));
    let mut times: Vec<f64> = (0..1000)
        .map(|_| {
            let began = kernels::clock::now();
            // A kernel that does nothing cannot fail.
            let _ = std::hint::black_box(kernel.batch(1));
            (kernels::clock::now() - began) as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    (times[times.len() / 2] - read).max(0.0)
}

fn worker(subject: &mut dyn Subject) -> Check {
    let step = WorkerStep {
        purpose: Purpose::Measure,
        round: 0,
        seed: 0,
        batch_nanos: 1_000_000,
        directory: ".".into(),
        allowed: Vec::new(),
        sensors: None,
        tasks: Vec::new(),
        patience: Duration::from_secs(30),
    };
    let mut times = Vec::new();
    for _ in 0..REPEATS {
        let began = subject.now();
        if let Err(error) = subject.launch(&step, &Stopper::default()) {
            return Check { state: super::Health::Bad, ..Check::unknown("worker", error.to_string()) };
        }
        times.push(subject.now() - began);
    }
    let median = stats::median(&times).unwrap_or(f64::NAN) * 1e3;
    Check::fine("worker", format!("a fresh process for a sample takes {median:.1} ms to start and end (not timed)"))
}
