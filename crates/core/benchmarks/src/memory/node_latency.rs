//! How long a load from one NUMA node takes on another.

use kernels::ring::ChasePattern;

use super::chase::Chase;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "memory.node_latency",
    title: "memory latency between nodes",
    about: "Follows a random cycle of pointers as `memory.load_latency` does, on one core of the NUMA node \
            `cpu_node`. The memory is on the node `memory_node`. Prony requests the node when memory is first touched \
            and verifies it afterwards. All pairs make a matrix.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "load"),
    class: Class::MemoryLatency,
    stresses: &[Primitive::DramLatency],
    sources: &[DefinitionSource::new("Memory Latency Checker", "--latency_matrix", "Intel")],
    parameters: &[
        Parameter::node("cpu_node"),
        Parameter::node("memory_node"),
        // Smaller sets lie in caches, and are of use where nothing but the place of memory counts.
        Parameter {
            besides: |word| model::parse_size(word).is_ok_and(|size| (MIB..=1024 * GIB).contains(&size)),
            ..Parameter::doubling("working_set", 64 * MIB, GIB, &["64MiB"])
        },
    ],
    parties: Parties::OnNode,
    prepare: |at, context| {
        let (bytes, node) = (at.bytes("working_set")?, at.count("memory_node")? as usize);
        let chase = kernels::memory::on_node(node, || Chase::new(at, bytes, ChasePattern::Random, context))?;
        kernels::memory::verify_node(chase.arena(), node)?;
        Ok(Trial::one(chase))
    },
    ..Benchmark::BLANK
};
