//! The commands that build a laboratory.

use std::fmt::Write;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::inside::batch;
use super::{Lab, LabShape};
use crate::{Error, Result};

/// Hardware address of a host, locally administered (IEEE 802).
pub(super) fn address_bytes(host: usize) -> [u8; 6] {
    let [_, _, high, low] = u32::try_from(host).unwrap_or(0).to_be_bytes();
    [0x02, 0x50, 0x52, 0x4f, high, low]
}

/// The host to whose hardware address a frame goes, if it is that of a host.
pub(super) fn host_of(frame: &[u8]) -> Option<usize> {
    let to: [u8; 6] = *frame.first_chunk()?;
    let host = usize::from(u16::from_be_bytes([to[4], to[5]]));
    (address_bytes(host) == to).then_some(host)
}

/// The same as text.
fn hardware(host: usize) -> String {
    address_bytes(host).map(|byte| format!("{byte:02x}")).join(":")
}

/// `ip` accepts a namespace as the path of an open file of this process.
fn path(network: &File) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), network.as_raw_fd())
}

fn bucket(device: &str, shape: &LabShape, limit: u64) -> String {
    let (rate, burst) = (shape.bits_per_second, shape.burst());
    format!("qdisc replace dev {device} root tbf rate {rate}bit burst {burst} limit {limit}\n")
}

// Writing to a String cannot fail.
macro_rules! line {
    ($text:expr, $($word:tt)+) => { let _ = writeln!($text, $($word)+); };
}

/// A bridge with one port for each host. Static entries avoid flooding and learning.
pub(super) fn switch(switch: &File, hosts: &[File], shape: &LabShape) -> Result<()> {
    let mut links = String::new();
    line!(links, "link set lo up");
    line!(links, "link add name br0 type bridge stp_state 0 forward_delay 0 mcast_snooping 0");
    line!(links, "link set dev br0 mtu {} up", shape.mtu);
    for (host, network) in hosts.iter().enumerate() {
        let (mtu, segments) = (shape.mtu, if shape.offloads { "" } else { " gso_max_segs 1" });
        let (address, there) = (hardware(host), path(network));
        line!(
            links,
            "link add name p{host} mtu {mtu} type veth peer name eth0 mtu {mtu} address {address} netns {there}"
        );
        line!(links, "link set dev p{host}{segments} master br0 up");
    }
    batch(switch, "ip", &["-batch", "-"], &links)?;
    let (mut table, mut ports) = (String::new(), String::new());
    for host in 0..hosts.len() {
        line!(table, "fdb replace {} dev p{host} master static", hardware(host));
        line!(table, "link set dev p{host} flood off mcast_flood off");
        ports.push_str(&bucket(&format!("p{host}"), shape, shape.port_buffer));
    }
    batch(switch, "bridge", &["-batch", "-"], &table)?;
    batch(switch, "tc", &["-batch", "-"], &ports)?;
    Ok(())
}

/// Waits until every port of the switch forwards. The kernel enables a port some time after the interface at its other
/// end came up, later on a busy machine, and silently drops frames before that.
pub(super) fn forwarding(switch: &File, hosts: usize) -> Result<()> {
    let began = Instant::now();
    loop {
        let text = batch(switch, "bridge", &["-j", "link", "show"], "")?;
        let ports: Vec<BridgePort> = serde_json::from_str(&text)
            .map_err(|error| Error::Lab(format!("the ports of bridge cannot be read: {error}")))?;
        let forwarding = ports.iter().filter(|port| port.state == "forwarding").count();
        if forwarding >= hosts {
            return Ok(());
        }
        if began.elapsed() > PATIENCE {
            return Err(Error::Lab(format!("{forwarding} of {hosts} ports came up within {} s", PATIENCE.as_secs())));
        }
        kernels::timer::sleep(Duration::from_millis(5));
    }
}

/// Time that ports are given to come up.
const PATIENCE: Duration = Duration::from_secs(20);

/// A port in the words of `bridge`.
#[derive(Deserialize)]
struct BridgePort {
    #[serde(default)]
    state: String,
}

/// A host's interface on the common medium; the file carries its frames.
pub(super) fn station(network: &File, host: usize, shape: &LabShape) -> Result<File> {
    let interface = super::inside::run(network, || os::socket::tap("eth0"))??;
    let mut lines = String::new();
    line!(lines, "link set dev lo up");
    line!(lines, "link set dev eth0 address {} mtu {}", hardware(host), shape.mtu);
    line!(lines, "link set dev eth0 up");
    line!(lines, "addr add {}/15 dev eth0", Lab::address(host));
    for other in (0..shape.hosts).filter(|other| *other != host) {
        line!(lines, "neigh replace {} lladdr {} dev eth0 nud permanent", Lab::address(other), hardware(other));
    }
    batch(network, "ip", &["-batch", "-"], &lines)?;
    Ok(interface)
}

/// A host's interface, address, neighbours and card.
pub(super) fn host(network: &File, host: usize, shape: &LabShape) -> Result<()> {
    let mut lines = String::new();
    let segments = if shape.offloads { "" } else { " gso_max_segs 1" };
    line!(lines, "link set dev lo up");
    line!(lines, "link set dev eth0{segments} up");
    line!(lines, "addr add {}/15 dev eth0", Lab::address(host));
    // Static neighbours avoid ARP during a measurement.
    for other in (0..shape.hosts).filter(|other| *other != host) {
        line!(lines, "neigh replace {} lladdr {} dev eth0 nud permanent", Lab::address(other), hardware(other));
    }
    batch(network, "ip", &["-batch", "-"], &lines)?;
    batch(network, "tc", &["-batch", "-"], &bucket("eth0", shape, shape.host_queue))?;
    Ok(())
}
