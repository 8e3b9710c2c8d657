//! Peak rate of fused multiply-adds.

use super::counting;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "cpu.fma_peak",
    title: "peak multiply-add",
    about: "Fused multiply-adds in the widest registers, twelve independent chains; each lane counts two operations. The fastest set of instructions that this CPU has is tried out and named. With `threads=all` every CPU works and the rates add up.",
    metric: BenchmarkMetric::higher(Unit::PerSecond, "floating-point operations"),
    stresses: &[Primitive::Vector, Primitive::CoreClock, Primitive::FloatingPoint],
    parameters: &[Parameter::choice("type", &["float", "double"], &["double"]), Parameter::threads(&["1"])],
    parties: Parties::Threads,
    batch: counting::PEAK,
    prepare: |at, context| counting::fastest(&counting::name("fma", at)?, |_| true, |one| one.iteration.flops, context),
    ..Benchmark::BLANK
};
