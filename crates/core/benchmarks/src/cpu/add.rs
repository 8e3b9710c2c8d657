//! Addition, by type.

use super::counting;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "cpu.add",
    title: "addition",
    about: "Adds a constant repeatedly. With `what=latency` there is one chain: each addition waits for the one \
            before. With `what=throughput` the time of eight independent chains is divided by their number. int and \
            long are 32 and 64 bits.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "addition"),
    stresses: &[Primitive::CoreClock, Primitive::IntegerAlu, Primitive::FloatingPoint],
    sources: &[DefinitionSource::new("lmbench", "lat_ops", "C. Staelin, lmbench 3")],
    parameters: &[counting::types(&["int", "double"]), counting::what(&["latency"])],
    batch: counting::BATCH,
    prepare: |at, context| counting::strongest(&counting::name("add", at)?, |one| one.iteration.ops, context),
    ..Benchmark::BLANK
};
