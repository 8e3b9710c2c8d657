//! A copy within the memory of a device.

use super::device::BLANK;
use super::streaming::{PARAMETERS, Stream, prepare};
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "gpu.copy",
    title: "GPU memory copy",
    about: "Copies one array to another, 16 bytes a thread. Timed by the clock of the device. Random windows of the \
            output, including its first and last words, are compared with what the host computes.",
    metric: BenchmarkMetric::higher(Unit::BytesPerSecond, "bytes read + written"),
    stresses: &[Primitive::GpuMemory],
    sources: &[DefinitionSource::new("BabelStream", "Copy", "T. Deakin et al., IJCSE 17 (2018)")
        .near("arrays of another size")],
    parameters: PARAMETERS,
    prepare: |at, context| prepare(Stream::Copy, at, context),
    ..BLANK
};
