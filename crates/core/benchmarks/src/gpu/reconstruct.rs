//! Track fits of a physics experiment on a device.

use super::device::{BLANK, open, reading};
use super::tracks::Fits;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "gpu.reconstruct",
    title: "GPU track fits",
    about: "Fits the circles of simulated events of a drift chamber by least squares, in doubles, one track in each \
            thread. Every operation is that of the built-in reconstruction. Timed by the clock of the device. The \
            digest of all bits must be the CPU's.",
    metric: BenchmarkMetric::higher(Unit::PerSecond, "events"),
    stresses: &[Primitive::GpuArithmetic, Primitive::GpuMemory],
    prepare: |at, context| {
        let device = open(at, context)?;
        let fits = Fits::new(&device, context.seed())?;
        let once = fits.run(&device, 1)?.0;
        let times = (READING / once).clamp(1.0, 1000.0) as u32;
        Ok(reading(&device, move |device| {
            let (seconds, events) = fits.run(device, times)?;
            Ok(vec![events / seconds])
        }))
    },
    ..BLANK
};

/// Time of a reading, seconds.
const READING: f64 = 0.01;
