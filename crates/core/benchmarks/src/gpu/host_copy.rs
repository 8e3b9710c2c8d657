//! Copies between the host and a device.

use gpu::HostMemory;

use super::device::{API, BLANK, DEVICE, compare, open, random, reading};
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "gpu.host_copy",
    title: "copy between host and GPU",
    about: "Copies a block between the memory of the host and that of the device, and waits. Pinned memory is reached by the \
            device itself; pageable memory is copied by the driver first. `both` copies in both directions at once. By the \
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
    Ok(reading(&device, move |device| {
        let block = block(size, seed);
        let host = |contents: &[u8]| -> Result<Box<dyn HostMemory>, gpu::Error> {
            if !pinned {
                return Ok(Box::new(contents.to_vec()));
            }
            let mut memory = device.pinned(size)?;
            memory.bytes().copy_from_slice(contents);
            Ok(memory)
        };
        let (mut given, mut taken) = (host(&block)?, host(&vec![0xa5; size])?);
        let (target, source) = (device.poisoned(size, 0xa5)?, device.buffer(size)?);
        source.write(&block)?;
        let began = kernels::clock::now();
        for _ in 0..times {
            let writing = to.then(|| target.writing(given.bytes()));
            let mut work: Vec<_> = writing.into_iter().chain(from.then(|| source.reading(taken.bytes()))).collect();
            device.together(&mut work)?;
        }
        let seconds = (kernels::clock::now() - began).max(1) as f64 * 1e-9;
        if to {
            let mut back = vec![0; size];
            device.together(&mut [target.reading(&mut back)])?;
            compare(back, block.iter().copied())?;
        }
        if from {
            compare(taken.bytes().iter().copied(), block.iter().copied())?;
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
