//! Peak rate of fused multiply-adds of a device.

use super::device::{API, BLANK, DEVICE, open, random, reading};
use super::fused::Fused;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "gpu.fma",
    title: "GPU peak multiply-add",
    about: "Fused multiply-adds in registers on all units, in eight independent chains for each thread. Each lane \
            counts two operations. Timed by the clock of the device. Every chain of every thread is compared with its \
            exact end.",
    metric: BenchmarkMetric::higher(Unit::PerSecond, "floating-point operations"),
    stresses: &[Primitive::GpuArithmetic],
    parameters: &[Parameter::choice("type", &["fp32", "fp64", "fp16"], &["fp32", "fp64", "fp16"]), API, DEVICE],
    prepare,
    ..BLANK
};

/// Time of a reading, seconds, and groups of threads for each unit.
const READING: f64 = 0.005;
const CROWD: u32 = 8;

fn prepare(at: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let device = open(at, context)?;
    let kind = at.get("type").unwrap_or_default();
    let fused = Fused::new(kind, &device, CROWD, READING, random(context.seed()))?;
    Ok(reading(&device, move |device| {
        fused.poison()?;
        let seconds = fused.time(device)?;
        fused.check()?;
        Ok(vec![fused.operations() / seconds])
    }))
}
