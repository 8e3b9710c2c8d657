//! Clock of a device under load.

use gpu::{Launch, kernel};

use super::device::{BLANK, compare, open, random, reading, turns};
use super::fused::Fused;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "gpu.clock",
    title: "GPU clock under load",
    about: "One thread counts while multiply-adds of 32 bits load all units. It reads the cycle counter and the timer \
            of the device before and after. The timer has steps of a microsecond, so a reading takes 10 ms. Not \
            defined for OpenCL, which has no cycle counter.",
    metric: BenchmarkMetric::higher(Unit::Hertz, "cycles"),
    stresses: &[Primitive::GpuArithmetic],
    prepare,
    ..BLANK
};

/// Time of a reading, seconds.
const READING: f64 = 0.01;
/// Clocks that a device may have, hertz.
const POSSIBLE: [f64; 2] = [1e8, 1e10];

fn prepare(at: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let device = open(at, context)?;
    let count = |device: &gpu::Device, turns: u64| {
        let out = device.poisoned(24, 0xa5)?;
        let launch = Launch { kernel: kernel("tick"), blocks: 1, threads: 1, buffers: &[&out], scalars: &[turns] };
        device.timed(&launch, 1)
    };
    let turns = turns(READING, 1 << 40, |turns| count(&device, turns))?;
    // Half of the threads that fit, so that the one that counts finds room.
    let fused = Fused::new("fp32", &device, 4, 1.5 * READING, random(context.seed()))?;
    Ok(reading(&device, move |device| {
        let out = device.poisoned(24, 0xa5)?;
        let launch = Launch { kernel: kernel("tick"), blocks: 1, threads: 1, buffers: &[&out], scalars: &[turns] };
        fused.poison()?;
        device.together(&mut [fused.work(1)?, launch.work(1)?])?;
        fused.check()?;
        let found = out.words(0, 3)?;
        compare([found[2]], [turns])?;
        let hertz = found[1] as f64 / (found[0] as f64 * 1e-9);
        let possible = (POSSIBLE[0]..=POSSIBLE[1]).contains(&hertz) && found[1] >= turns;
        let refused = || BenchmarkError::new(format!("the device counted {} cycles in {} ns", found[1], found[0]));
        possible.then(|| vec![hertz]).ok_or_else(refused)
    }))
}
