//! ipc: figures of this family.

mod pipe_bandwidth;
mod pipe_latency;
mod tcp_bandwidth;
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
    &tcp_latency::PROBE,
    &pipe_bandwidth::PROBE,
    &unix_bandwidth::PROBE,
    &tcp_bandwidth::PROBE,
];
