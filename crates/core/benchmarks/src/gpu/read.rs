//! Reads of memory of a device.

use super::streaming::{STREAM, Stream, prepare};
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "gpu.read",
    title: "GPU memory read",
    about: "Reads an array, 16 bytes a thread. Each thread forms an exclusive or, which the host computes too. Timed \
            by the clock of the device.",
    metric: BenchmarkMetric::higher(Unit::BytesPerSecond, "bytes read"),
    prepare: |at, context| prepare(Stream::Read, at, context),
    ..STREAM
};
