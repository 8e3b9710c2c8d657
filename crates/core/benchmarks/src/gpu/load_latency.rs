//! Latency of one load of a device on which the next depends.

use gpu::Ring;

use super::device::{API, BLANK, DEVICE, compare, open, random, reading};
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "gpu.load_latency",
    title: "GPU memory latency",
    about: "One thread follows a random cycle of addresses through the working set, 256 bytes apart. Timed by the \
            clock of the device. The steps of the curve are the levels of its caches. The place after the last load \
            is compared with the host's copy of the cycle.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "load"),
    stresses: &[Primitive::GpuLatency],
    usual: true,
    parameters: &[Parameter::doubling("working_set", 4 * KIB, 4 * GIB, &["16KiB", "8MiB", "256MiB"]), API, DEVICE],
    prepare,
    ..BLANK
};

/// Bytes between places: two lines of the caches that are known.
const STRIDE: u64 = 256;
/// Fewest and most loads of a reading.
const STEPS: [u64; 2] = [1 << 15, 1 << 18];

fn prepare(at: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let device = open(at, context)?;
    let places = at.bytes("working_set")? / STRIDE;
    let order = cycle(places, context.seed());
    let ring = Ring::new(&device, STRIDE as usize, &order)?;
    let steps = places.clamp(STEPS[0], STEPS[1]).next_multiple_of(8);
    let start = order.iter().position(|place| *place == 0).unwrap_or(0) as u64;
    let last = u64::from(order[((start + steps) % places) as usize]) * STRIDE;
    Ok(reading(&device, move |device| {
        let (seconds, _, place) = ring.follow(device, steps)?;
        compare([place], [last])?;
        Ok(vec![seconds / steps as f64])
    }))
}

/// A random order of places.
fn cycle(places: u64, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..u32::try_from(places).unwrap_or(u32::MAX)).collect();
    for at in (1..order.len()).rev() {
        order.swap(at, (random(seed ^ at as u64) % (at as u64 + 1)) as usize);
    }
    order
}
