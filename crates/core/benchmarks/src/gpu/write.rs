//! Writes of memory of a device.

use super::streaming::{STREAM, Stream, prepare};
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "gpu.write",
    title: "GPU memory write",
    about: "Writes an array, 16 bytes a thread. Timed by the clock of the device. Random windows of the output, \
            including its first and last words, are compared with what the host computes.",
    metric: BenchmarkMetric::higher(Unit::BytesPerSecond, "bytes written"),
    prepare: |at, context| prepare(Stream::Write, at, context),
    ..STREAM
};
