//! Copies between the host and a device.

use gpu::HostMemory;

use super::device::{API, BLANK, DEVICE, compare_bytes, open, random, reading};
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "gpu.host_copy",
    title: "copy between host and GPU",
    about: "Copies a block between host memory and device memory, and waits. The device itself reaches pinned memory; \
            the driver copies pageable memory first. With `both` it copies in both directions at once. Timed by the \
            clock of the host. All bytes are compared with a random block. To measure from a far NUMA node, run Prony \
            there: `numactl --cpunodebind=1 --membind=1`.",
    metric: BenchmarkMetric::higher(Unit::BytesPerSecond, "bytes copied"),
    stresses: &[Primitive::GpuLink],
    parameters: &[
        Parameter::choice("direction", &["to_device", "from_device", "both"], &["to_device", "from_device"]),
        Parameter::choice("memory", &["pinned", "pageable"], &["pinned"]),
        Parameter::doubling("size", 4, GIB, &["256MiB"]),
        API,
        DEVICE,
    ],
    prepare,
    ..BLANK
};

/// Bytes of a reading, at least: short copies are repeated.
const READING: usize = 1 << 16;

fn prepare(at: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let device = open(at, context)?;
    let size = usize::try_from(at.bytes("size")?).unwrap_or(usize::MAX);
    let (seed, pinned) = (context.seed(), at.get("memory") == Some("pinned"));
    let direction = at.get("direction").unwrap_or_default();
    let (to, from) = (direction != "from_device", direction != "to_device");
    let times = (READING / size).clamp(1, 100);
    let block = block(size, seed);
    let host = |device: &gpu::Device| -> Result<Box<dyn HostMemory>, gpu::Error> {
        if pinned { device.pinned(size) } else { Ok(Box::new(vec![0; size])) }
    };
    let mut memory = [to.then(|| host(&device)).transpose()?, from.then(|| host(&device)).transpose()?];
    if let [Some(given), _] = &mut memory {
        given.bytes().copy_from_slice(&block);
    }
    Ok(reading(&device, move |device| {
        let (target, source) = (device.poisoned(size, 0xa5)?, device.buffer(size)?);
        source.write(&block)?;
        let [given, taken] = &mut memory;
        if let Some(taken) = taken {
            taken.bytes().fill(0xa5);
        }
        let began = kernels::clock::now();
        for _ in 0..times {
            let writing = given.as_mut().map(|given| target.writing(given.bytes()));
            let reading = taken.as_mut().map(|taken| source.reading(taken.bytes()));
            device.together(&mut writing.into_iter().chain(reading).collect::<Vec<_>>())?;
        }
        let seconds = (kernels::clock::now() - began).max(1) as f64 * 1e-9;
        if given.is_some() {
            let mut back = vec![0; size];
            device.together(&mut [target.reading(&mut back)])?;
            compare_bytes(&back, &block)?;
        }
        if let Some(taken) = taken {
            compare_bytes(taken.bytes(), &block)?;
        }
        Ok(vec![(size * times * (usize::from(to) + usize::from(from))) as f64 / seconds])
    }))
}

/// Random bytes.
pub(super) fn block(size: usize, seed: u64) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..size.div_ceil(8) as u64).flat_map(|at| random(seed ^ at).to_le_bytes()).collect();
    bytes.truncate(size);
    bytes
}
