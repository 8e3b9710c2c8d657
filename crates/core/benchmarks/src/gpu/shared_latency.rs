//! Latency of the memory that the threads of a group share.

use gpu::{Launch, kernel};

use super::device::{BLANK, compare, open, random, reading};
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "gpu.shared_latency",
    title: "GPU shared memory latency",
    about: "One thread follows a ring of 1024 words, with a random stride, in the memory that a group of threads \
            shares. Timed by the clock of the device. The place after the last load is compared with the one that the \
            host computes.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "load"),
    stresses: &[Primitive::GpuLatency],
    usual: true,
    prepare,
    ..BLANK
};

/// Loads of a reading: filling the ring is a thousandth of it.
const STEPS: u64 = 1 << 20;

fn prepare(at: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let device = open(at, context)?;
    let stride = random(context.seed()) % 512 * 2 + 1;
    let steps = STEPS + random(context.seed() + 1) % 128 * 8;
    Ok(reading(&device, move |device| {
        let out = device.poisoned(16, 0xa5)?;
        let kernel = kernel("shared");
        let seconds =
            device.timed(&Launch { kernel, blocks: 1, threads: 1, buffers: &[&out], scalars: &[stride, steps] }, 1)?;
        compare([out.words(0, 2)?[0]], [stride * steps % 1024])?;
        Ok(vec![seconds / steps as f64])
    }))
}
