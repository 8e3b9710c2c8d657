//! Peak rate of SHA-256.

use super::counting;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "cpu.sha256",
    title: "SHA-256",
    about: "Compresses 64-byte blocks with the SHA-256 instructions in one chain, as hashing one stream requires. \
            Counts bytes hashed. Trials choose the fastest instruction set of this CPU and name it. With \
            `threads=all` every CPU works and the rates are added.",
    metric: BenchmarkMetric::higher(Unit::BytesPerSecond, "bytes hashed"),
    stresses: &[Primitive::Sha, Primitive::CoreClock],
    parameters: &[Parameter::threads(&["1"])],
    parties: Parties::Threads,
    batch: counting::PEAK,
    prepare: |_, context| counting::fastest("sha256", |_| true, |one| 64 * one.iteration.elements, context),
    ..Benchmark::BLANK
};
