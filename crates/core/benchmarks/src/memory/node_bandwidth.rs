//! How fast the cores of one NUMA node read the memory of another.

use kernels::stream::StreamKind;

use super::streaming;
use crate::benchmark::Shares;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "memory.node_bandwidth",
    title: "memory read between nodes",
    about: "Sums arrays as `memory.read` does, with one thread on each core of the NUMA node `cpu_node`. The memory \
            is on the node `memory_node`. Each thread requests the node when it first touches its part and verifies \
            it afterwards. All pairs make a matrix.",
    metric: BenchmarkMetric::higher(Unit::BytesPerSecond, "bytes read"),
    class: Class::Bandwidth,
    stresses: &[Primitive::DramRead],
    sources: &[DefinitionSource::new("Memory Latency Checker", "--bandwidth_matrix", "Intel")],
    parameters: &[Parameter::node("cpu_node"), Parameter::node("memory_node"), streaming::working_set()],
    parties: Parties::CoresOfNode,
    shares: Some(Shares { key: "node field", parameters: &["cpu_node", "memory_node", "working_set"] }),
    prepare: |at, context| streaming::prepare(StreamKind::Read, at, context),
    ..Benchmark::BLANK
};
