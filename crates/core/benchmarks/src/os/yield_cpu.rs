//! Yielding the CPU.

use os::usage::{Usage, Who};

use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "os.yield",
    title: "yield",
    about: "Offers the CPU by sched_yield while no other thread wants it. The scheduler searches and returns. A \
            sample in which other threads took the CPU does not count.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "call"),
    class: Class::Compute,
    stresses: &[Primitive::SyscallEntry, Primitive::ContextSwitch],
    sources: &[DefinitionSource::new("POSIX", "sched_yield", "sched_yield(2)")],
    // If others have the CPU during calibration, one call would fill a batch, and batches would keep one call.
    batch: BatchRule { least: 512, ..BatchRule::FILL },
    prepare: |_, _| Ok(Trial::one(Yield::default())),
    ..Benchmark::BLANK
};

/// Most calls between two readings of the clock. Busy threads take milliseconds at each call, so the batch must end
/// soon; the reading must cost only a thousandth.
const AT_ONCE: u64 = 256;
/// Calls that take this long together may have been others' time, nanoseconds; the kernel then says whether they were.
const LONG: u64 = 1_000_000;

#[derive(Default)]
struct Yield {
    /// Times that others had taken the CPU from this thread before the batch.
    taken: u64,
    handed_over: u32,
}

/// Times that others took the CPU from this thread while it was able to run.
fn taken() -> Result<u64, BenchmarkError> {
    Ok(Usage::of(Who::Thread)?.involuntary_switches)
}

impl Kernel for Yield {
    fn ready(&mut self, _: u64) -> Result<(), BenchmarkError> {
        self.taken = taken()?;
        Ok(())
    }

    /// Ends early if another thread took the CPU: a batch of a thousand calls would take seconds on a busy CPU.
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        let (mut offered, mut next) = (0, 1);
        let mut began = kernels::clock::now();
        while offered < ops {
            let until = ops.min(offered + next);
            while offered < until {
                kernels::process::raw::yield_now();
                offered += 1;
            }
            let now = kernels::clock::now();
            if now - began > LONG && taken()? > self.taken {
                self.handed_over += 1;
                break;
            }
            (began, next) = (now, AT_ONCE.min(2 * next));
        }
        Ok(BatchWork { ops: offered, token: offered })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        BenchmarkError::unless_equal(done.token, done.ops)
    }

    fn handed_over(&self) -> u32 {
        self.handed_over
    }
}
