//! What may limit streams at one end: threads, soft interrupts, interfaces, sockets.

use std::net::IpAddr;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use os::socket::NetworkCounters;
use serde::{Deserialize, Serialize};

use super::Flows;

/// Observations at one end of streams. Shares are of the time that the test took.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EndEvidence {
    /// CPUs that the data threads may use.
    pub cpus: Vec<usize>,
    /// Data threads that moved bytes.
    pub threads: u32,
    /// Share that the busiest data thread ran.
    pub ran: f64,
    /// Share that this thread waited for a CPU.
    pub waited: f64,
    /// Shares that all data threads ran, added.
    pub all_ran: f64,
    /// The largest share of one CPU in soft interrupts.
    pub soft_interrupts: f64,
    /// Segments and datagrams that sockets of this host dropped.
    pub socket_drops: u64,
    /// The interface of the streams.
    pub interface: String,
    /// Packets that this interface dropped.
    pub interface_drops: u64,
    /// Bytes that it received and sent.
    pub interface_bytes: [u64; 2],
    /// Rate of its link in bytes a second, where a device reports it.
    pub link: Option<f64>,
    /// Whether the kernel copied what was to be sent without a copy.
    pub copied: bool,
}

/// Reads the counters of this end at two moments, in the network namespace of the calling thread.
pub(crate) struct EvidenceWatch {
    began: Instant,
    cpu: Option<usize>,
    interface: String,
    counters: Option<NetworkCounters>,
    soft: Vec<Duration>,
}

impl EvidenceWatch {
    /// Starts now, for threads on `cpu` (or on all allowed ones) and sockets of this address.
    pub(crate) fn start(cpu: Option<usize>, address: IpAddr) -> Self {
        let interfaces = os::socket::interfaces().unwrap_or_default();
        let interface = interfaces.into_iter().find(|(_, own)| *own == address).map(|(name, _)| name);
        Self {
            began: Instant::now(),
            cpu,
            interface: interface.unwrap_or_default(),
            counters: NetworkCounters::now().ok(),
            soft: os::usage::soft_interrupt_times().unwrap_or_default(),
        }
    }

    /// Evidence since the start; the threads of `flows` have ended.
    pub(crate) fn stop(self, flows: &Flows) -> EndEvidence {
        let seconds = self.began.elapsed().as_secs_f64();
        let soft = os::usage::soft_interrupt_times().unwrap_or_default();
        let soft = soft.iter().zip(&self.soft).map(|(now, before)| now.saturating_sub(*before).as_secs_f64() / seconds);
        let spent = NetworkCounters::now().ok().zip(self.counters).map(|(now, before)| now.since(&before));
        let spent = spent.unwrap_or_default();
        let own = spent.interfaces.iter().find(|one| one.name == self.interface).cloned().unwrap_or_default();
        let shares = |flow: &super::FlowCounter| {
            let of = flow.existed.load(Relaxed).max(1) as f64;
            [flow.cpu.load(Relaxed), flow.waited.load(Relaxed)].map(|nanos| nanos as f64 / of)
        };
        let threads: Vec<[f64; 2]> = flows.0.iter().filter(|flow| flow.existed.load(Relaxed) > 0).map(shares).collect();
        let busiest = threads.iter().max_by(|a, b| (a[0] + a[1]).total_cmp(&(b[0] + b[1]))).copied();
        let [ran, waited] = busiest.unwrap_or_default();
        EndEvidence {
            cpus: self.cpu.map_or_else(|| kernels::affinity::allowed().unwrap_or_default(), |cpu| vec![cpu]),
            threads: threads.len() as u32,
            ran,
            waited,
            all_ran: threads.iter().map(|shares| shares[0]).sum(),
            soft_interrupts: soft.fold(0.0, f64::max),
            socket_drops: spent.socket_drops,
            interface_drops: own.drops.iter().sum(),
            interface_bytes: own.bytes,
            link: link(&self.interface),
            interface: self.interface,
            copied: flows.0.iter().any(|flow| flow.copied.load(Relaxed)),
        }
    }
}

/// Rate of the link of an interface that has a device: others report numbers that limit nothing.
fn link(interface: &str) -> Option<f64> {
    let folder = std::path::Path::new("/sys/class/net").join(interface);
    if interface.is_empty() || !folder.join("device").exists() {
        return None;
    }
    let megabits: f64 = std::fs::read_to_string(folder.join("speed")).ok()?.trim().parse().ok()?;
    (megabits > 0.0).then_some(megabits * 1e6 / 8.0)
}
