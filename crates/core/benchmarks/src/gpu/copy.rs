//! Copies of memory of a device.

use super::streaming::{PAPER, STREAM, Stream, prepare};
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "gpu.copy",
    title: "GPU memory copy",
    about: "Copies one array to another, 16 bytes a thread. Timed by the clock of the device. Random windows of the \
            output, including its first and last words, are compared with what the host computes.",
    metric: BenchmarkMetric::higher(Unit::BytesPerSecond, "bytes read + written"),
    sources: &[DefinitionSource::new("BabelStream", "Copy", PAPER).near("arrays of another size")],
    prepare: |at, context| prepare(Stream::Copy, at, context),
    ..STREAM
};
