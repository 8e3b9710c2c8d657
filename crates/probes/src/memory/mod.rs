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

use crate::Probe;

pub(crate) static TABLE: &[&Probe] = &[
    &copy::PROBE,
    &scale::PROBE,
    &add::PROBE,
    &triad::PROBE,
    &read::PROBE,
    &write::PROBE,
    &memcpy::PROBE,
    &memcpy_unrolled::PROBE,
    &load_latency::PROBE,
    &load_latency_strided::PROBE,
    &hierarchy::PROBE,
    &hierarchy_latency::PROBE,
    &hierarchy_levels::PROBE,
    &parallelism::PROBE,
    &tlb_cost::PROBE,
    &loaded_latency::PROBE,
    &core_to_core::PROBE,
    &core_pair::PROBE,
    &node_latency::PROBE,
    &node_bandwidth::PROBE,
    &node_loaded_latency::PROBE,
];
