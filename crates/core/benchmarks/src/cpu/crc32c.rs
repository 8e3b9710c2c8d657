//! Peak rate of CRC-32C.

use super::counting;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "cpu.crc32c",
    title: "CRC-32C",
    about: "Checksums with the Castagnoli polynomial, eight bytes a step, in four independent chains over the \
            first-level cache. Counts bytes. Trials choose the fastest instruction set of this CPU and name it. With \
            `threads=all` every CPU works and the rates are added.",
    metric: BenchmarkMetric::higher(Unit::BytesPerSecond, "bytes checked"),
    stresses: &[Primitive::BitCounting, Primitive::CoreClock],
    parameters: &[Parameter::threads(&["1"])],
    parties: Parties::Threads,
    batch: counting::PEAK,
    prepare: |_, context| counting::fastest("crc32c", |_| true, |one| 8 * one.iteration.ops, context),
    ..Benchmark::BLANK
};
