//! Energy of track fits on a device.

use super::device::{BLANK, open, reading};
use super::tracks::Fits;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "gpu.energy",
    title: "energy of GPU track fits",
    about: "The energy for each event that the device itself reports while it fits tracks as `gpu.reconstruct` does. \
            Idle power is included, the host is not. The counter is renewed about ten times a second, so a reading \
            takes half a second.",
    metric: BenchmarkMetric::lower(Unit::Joules, "event"),
    stresses: &[Primitive::GpuArithmetic],
    batch: BatchRule::single(1),
    prepare: |at, context| {
        let device = open(at, context)?;
        if device.sense().energy.is_none() {
            return Err(Unsupported::new("the device reports no energy"));
        }
        let fits = Fits::new(&device, context.seed())?;
        let once = fits.run(&device, 1)?.0;
        let times = (READING / once).clamp(1.0, 1e6) as u32;
        Ok(reading(&device, move |device| {
            let used = |device: &gpu::Device| device.sense().energy.unwrap_or(f64::NAN);
            let before = used(device);
            let (_, events) = fits.run(device, times)?;
            let joules = used(device) - before;
            let refused = || BenchmarkError::new(format!("the device reports {joules} J for {READING} s of work"));
            if joules > 0.0 { Ok(vec![joules / events]) } else { Err(refused()) }
        }))
    },
    ..BLANK
};

/// Time of a reading, seconds.
const READING: f64 = 0.5;
