//! ipc: benchmarks of this family.

mod pipe_bandwidth;
mod pipe_latency;
mod pipe_throughput;
mod remote;
mod rpc_library;
mod rpc_tcp_latency;
mod rpc_udp_latency;
mod tcp_bandwidth;
mod tcp_connect;
mod tcp_latency;
mod udp_latency;
mod unix_bandwidth;
mod unix_latency;

use crate::Benchmark;

/// In the order of reports.
pub(crate) static TABLE: &[&Benchmark] = &[
    &pipe_latency::BENCHMARK,
    &unix_latency::BENCHMARK,
    &udp_latency::BENCHMARK,
    &rpc_udp_latency::BENCHMARK,
    &tcp_latency::BENCHMARK,
    &rpc_tcp_latency::BENCHMARK,
    &tcp_connect::BENCHMARK,
    &pipe_throughput::BENCHMARK,
    &pipe_bandwidth::BENCHMARK,
    &unix_bandwidth::BENCHMARK,
    &tcp_bandwidth::BENCHMARK,
];
