//! Division, by type.

use super::counting;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "cpu.divide",
    title: "division",
    about: "Divides a constant by the last quotient, which alternates between two values. With `what=latency` there \
            is one chain: each division waits for the one before. With `what=throughput` the time of eight \
            independent chains is divided by their number. int and long are 32 and 64 bits. Many CPUs divide small \
            numbers faster than these.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "division"),
    stresses: &[Primitive::Divide, Primitive::CoreClock],
    sources: &[DefinitionSource::new("lmbench", "lat_ops", "C. Staelin, lmbench 3")],
    parameters: &[counting::types(&["long", "double"]), counting::what(&["latency"])],
    batch: counting::BATCH,
    prepare: |at, context| counting::strongest(&counting::name("divide", at)?, |one| one.iteration.ops, context),
    ..Benchmark::BLANK
};
