//! ipc: probes of this family.

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

use crate::Probe;

/// In the order of reports.
pub(crate) static TABLE: &[&Probe] = &[
    &pipe_latency::PROBE,
    &unix_latency::PROBE,
    &udp_latency::PROBE,
    &rpc_udp_latency::PROBE,
    &tcp_latency::PROBE,
    &rpc_tcp_latency::PROBE,
    &tcp_connect::PROBE,
    &pipe_throughput::PROBE,
    &pipe_bandwidth::PROBE,
    &unix_bandwidth::PROBE,
    &tcp_bandwidth::PROBE,
];
