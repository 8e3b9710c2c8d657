//! Copies beside arithmetic.

use super::device::{BLANK, compare_bytes, host_seconds, open, random, reading};
use super::fused::Fused;
use super::host_copy::block;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "gpu.overlap",
    title: "GPU copy beside compute",
    about: "Times a copy of 32 MiB to the device, arithmetic of about the same time, and both at once. The value is \
            how much of the shorter one is hidden when both run at once: 100% if the longer one takes no longer than \
            alone. Timed by the clock of the host. The copied bytes and the results of the arithmetic are checked.",
    metric: BenchmarkMetric::higher(Unit::Ratio, "communication hidden"),
    stresses: &[Primitive::GpuLink, Primitive::GpuArithmetic],
    prepare,
    ..BLANK
};

const BYTES: usize = 32 << 20;
/// Readings of which the shortest counts: a single interruption would look like no overlap.
const TRIES: usize = 3;

fn prepare(at: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let device = open(at, context)?;
    let seed = random(context.seed());
    let mut host = device.pinned(BYTES)?;
    let block = block(BYTES, seed);
    host.bytes().copy_from_slice(&block);
    let target = device.buffer(BYTES)?;
    let once = host_seconds(&device, &mut [target.writing(host.bytes())])?;
    let fused = Fused::new("fp32", &device, 4, once, seed)?;
    Ok(reading(&device, move |device| {
        let [mut copy, mut compute, mut both] = [f64::INFINITY; 3];
        for _ in 0..TRIES {
            target.write(&vec![0xa5; BYTES])?;
            fused.poison()?;
            copy = copy.min(host_seconds(device, &mut [target.writing(host.bytes())])?);
            compute = compute.min(host_seconds(device, &mut [fused.work(1)?])?);
            target.write(&vec![0x5a; BYTES])?;
            fused.poison()?;
            both = both.min(host_seconds(device, &mut [fused.work(1)?, target.writing(host.bytes())])?);
            let mut back = vec![0; BYTES];
            device.together(&mut [target.reading(&mut back)])?;
            compare_bytes(&back, &block)?;
            fused.check()?;
        }
        Ok(vec![((copy + compute - both) / copy.min(compute)).clamp(0.0, 1.0)])
    }))
}
