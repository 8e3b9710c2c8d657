//! Peak rate of AES rounds.

use super::counting;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "cpu.aes",
    title: "AES rounds",
    about: "Encryption rounds of AES on 16-byte blocks, in twelve independent chains in registers. A block takes 10 \
            rounds with a 128-bit key, 14 with 256 bits. Trials choose the fastest instruction set of this CPU and \
            name it. With `threads=all` every CPU works and the rates are added.",
    metric: BenchmarkMetric::higher(Unit::PerSecond, "rounds of 16 bytes"),
    stresses: &[Primitive::Aes, Primitive::CoreClock],
    parameters: &[Parameter::threads(&["1"])],
    parties: Parties::Threads,
    batch: counting::PEAK,
    prepare: |_, context| counting::fastest("aes_throughput", |_| true, |one| one.iteration.ops, context),
    ..Benchmark::BLANK
};
