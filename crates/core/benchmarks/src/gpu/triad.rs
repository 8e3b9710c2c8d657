//! STREAM's triad in the memory of a device.

use super::device::BLANK;
use super::streaming::{PARAMETERS, Stream, prepare};
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "gpu.triad",
    title: "GPU memory triad",
    about: "Adds three times one array of doubles to another and stores the sum in a third. Timed by the clock of the \
            device. Random windows of the output, including its first and last words, are compared with what the host \
            computes.",
    metric: BenchmarkMetric::higher(Unit::BytesPerSecond, "bytes read + written"),
    stresses: &[Primitive::GpuMemory],
    usual: true,
    sources: &[DefinitionSource::new("BabelStream", "Triad", "T. Deakin et al., IJCSE 17 (2018)")
        .near("arrays of another size, and another constant")],
    parameters: PARAMETERS,
    prepare: |at, context| prepare(Stream::Triad, at, context),
    ..BLANK
};
