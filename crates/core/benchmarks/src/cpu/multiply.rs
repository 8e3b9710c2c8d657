//! Multiplication, by type.

use super::counting;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "cpu.multiply",
    title: "multiplication",
    about: "Multiplies by a constant repeatedly. With `what=latency` there is one chain: each multiplication waits \
            for the one before. With `what=throughput` the time of eight independent chains is divided by their \
            number. int and long are 32 and 64 bits.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "multiplication"),
    stresses: &[Primitive::CoreClock, Primitive::IntegerAlu, Primitive::FloatingPoint],
    sources: &[DefinitionSource::new("lmbench", "lat_ops", "C. Staelin, lmbench 3")],
    parameters: &[counting::types(&["double"]), counting::what(&["latency"])],
    batch: counting::BATCH,
    prepare: |at, context| counting::strongest(&counting::name("multiply", at)?, |one| one.iteration.ops, context),
    ..Benchmark::BLANK
};
