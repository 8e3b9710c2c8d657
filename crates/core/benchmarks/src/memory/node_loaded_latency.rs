//! How long a load from one NUMA node takes on another whose memory is busy.

use super::loaded_latency::{self, LoadPlace};
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "memory.node_loaded_latency",
    title: "memory latency between nodes under load",
    about: "Load latency along a random cycle through 64 MiB of the NUMA node `memory_node`, on one core of the node \
            `cpu_node`. Meanwhile one thread on each other core of `cpu_node` repeatedly copies 32 MiB of the same \
            memory to another 32 MiB of it, as fast as it can. Prony requests the node when memory is first touched \
            and verifies it afterwards. All pairs make a matrix.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "load"),
    class: Class::MemoryLatency,
    stresses: &[Primitive::DramLatency, Primitive::DramRead, Primitive::DramWrite],
    sources: &[DefinitionSource::new("Memory Latency Checker", "--loaded_latency", "Intel")],
    parameters: &[Parameter::node("cpu_node"), Parameter::node("memory_node")],
    parties: Parties::CoresOfNode,
    prepare: |at, context| {
        let others = context.cpus().get(1..).unwrap_or_default().to_vec();
        if others.is_empty() {
            return Err(Unsupported::new(
                "Prony may use only one core of its node, so no other core can load the memory",
            ));
        }
        loaded_latency::prepare(at, context, &LoadPlace { others, node: Some(at.count("memory_node")? as usize) })
    },
    ..Benchmark::BLANK
};
