//! Peak rate of counting ones.

use super::counting;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "cpu.popcount",
    title: "bit counting",
    about: "Counts the ones in 64-bit words from the first-level cache. Trials choose the fastest instruction set of \
            this CPU and name it. With `threads=all` every CPU works and the rates are added.",
    metric: BenchmarkMetric::higher(Unit::PerSecond, "words of 64 bits"),
    stresses: &[Primitive::BitCounting, Primitive::CoreClock, Primitive::L1],
    parameters: &[Parameter::threads(&["1"])],
    parties: Parties::Threads,
    batch: counting::PEAK,
    prepare: |_, context| counting::fastest("popcount", |_| true, |one| one.iteration.ops, context),
    ..Benchmark::BLANK
};
