//! The triad of STREAM on a device.

use super::streaming::{PAPER, STREAM, Stream, prepare};
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "gpu.triad",
    title: "GPU memory triad",
    about: "Adds three times one array of doubles to another and stores the sum in a third. Timed by the clock of the \
            device. Random windows of the output, including its first and last words, are compared with what the host \
            computes.",
    metric: BenchmarkMetric::higher(Unit::BytesPerSecond, "bytes read + written"),
    usual: true,
    sources: &[
        DefinitionSource::new("BabelStream", "Triad", PAPER).near("arrays of another size, and another constant")
    ],
    prepare: |at, context| prepare(Stream::Triad, at, context),
    ..STREAM
};
