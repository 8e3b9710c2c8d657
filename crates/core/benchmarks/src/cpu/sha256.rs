//! Peak rate of SHA-256.

use super::counting;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "cpu.sha256",
    title: "SHA-256",
    about: "Compresses 64-byte blocks by the SHA-256 instructions, one chain, as hashing one stream must. Counts bytes hashed. The fastest set of instructions that this CPU has is tried out and named. With `threads=all` every CPU works and the rates add up.",
    metric: BenchmarkMetric::higher(Unit::BytesPerSecond, "bytes hashed"),
    stresses: &[Primitive::Sha, Primitive::CoreClock],
    parameters: &[Parameter::threads(&["1"])],
    parties: Parties::Threads,
    batch: counting::PEAK,
    prepare: |_, context| counting::fastest("sha256", |_| true, |one| 64 * one.iteration.elements, context),
    ..Benchmark::BLANK
};
