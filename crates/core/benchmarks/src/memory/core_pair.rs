//! One cache line passed between two named CPUs: all pairs make a matrix.

use super::core_to_core::transfer;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "memory.core_pair",
    title: "transfer between two cores",
    about: "Passes a cache line back and forth between the CPUs `cpu` and `other`, as `memory.core_to_core` does. One \
            operation is one hand-over, half a round trip. The `relation` says how the two CPUs are related. All \
            pairs make a matrix. With `each`, one CPU of every core is used, of up to 64 cores. On a larger machine, \
            these are 64 cores spread evenly over it.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "hand-over"),
    class: Class::MemoryLatency,
    stresses: &[Primitive::CoreToCore],
    sources: &[DefinitionSource::new("core-to-core-latency", "CAS", "github.com/nviennot/core-to-core-latency")],
    parameters: &[
        Parameter::numbered("cpu", &["0"]),
        Parameter::numbered("other", &["1"]),
        Parameter { name: "relation", ..Parameter::placed(&[model::ANY_CROSSING], &[model::ANY_CROSSING]) },
    ],
    parties: Parties::NamedPair,
    batch: BatchRule { least: 2, ..BatchRule::FILL },
    prepare: |_, context| match (context.cpu(0), context.cpu(1)) {
        (Some(own), Some(other)) if own != other => transfer([own, other], context),
        _ => Err(Unsupported::new("two pinned CPUs are needed")),
    },
    ..Benchmark::BLANK
};
