//! Memory: bandwidth of streaming kernels, copies, and latency of dependent loads.

mod add;
mod arrays;
mod chase;
mod copy;
mod copying;
mod core_pair;
mod core_to_core;
mod curve;
mod hierarchy;
mod hierarchy_latency;
mod hierarchy_levels;
mod levels;
mod load_latency;
mod load_latency_strided;
mod loaded_latency;
mod memcpy;
mod memcpy_unrolled;
mod node_bandwidth;
mod node_latency;
mod node_loaded_latency;
mod parallelism;
mod read;
mod scale;
mod streaming;
mod tlb_cost;
mod triad;
mod visits;
mod write;

use crate::Benchmark;

pub(crate) static TABLE: &[&Benchmark] = &[
    &copy::BENCHMARK,
    &scale::BENCHMARK,
    &add::BENCHMARK,
    &triad::BENCHMARK,
    &read::BENCHMARK,
    &write::BENCHMARK,
    &memcpy::BENCHMARK,
    &memcpy_unrolled::BENCHMARK,
    &load_latency::BENCHMARK,
    &load_latency_strided::BENCHMARK,
    &hierarchy::BENCHMARK,
    &hierarchy_latency::BENCHMARK,
    &hierarchy_levels::BENCHMARK,
    &parallelism::BENCHMARK,
    &tlb_cost::BENCHMARK,
    &loaded_latency::BENCHMARK,
    &core_to_core::BENCHMARK,
    &core_pair::BENCHMARK,
    &node_latency::BENCHMARK,
    &node_bandwidth::BENCHMARK,
    &node_loaded_latency::BENCHMARK,
];
