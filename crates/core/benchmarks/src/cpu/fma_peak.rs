//! Peak rate of fused multiply-adds.

use super::counting;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "cpu.fma_peak",
    title: "peak multiply-add",
    about: "Fused multiply-adds in the widest registers, in twelve independent chains. Each lane counts two \
            operations. Trials choose the fastest instruction set of this CPU and name it. With `threads=all` every \
            CPU works and the rates are added.",
    metric: BenchmarkMetric::higher(Unit::PerSecond, "floating-point operations"),
    stresses: &[Primitive::Vector, Primitive::CoreClock, Primitive::FloatingPoint],
    parameters: &[Parameter::choice("type", &["float", "double"], &["double"]), Parameter::threads(&["1"])],
    parties: Parties::Threads,
    batch: counting::PEAK,
    prepare: |at, context| counting::fastest(&counting::name("fma", at)?, |_| true, |one| one.iteration.flops, context),
    ..Benchmark::BLANK
};
