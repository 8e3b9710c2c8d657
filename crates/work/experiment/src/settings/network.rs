//! Settings of the network: those of TCP in a network namespace of the process, and those of interfaces.

use model::Primitive;
use os::namespace::{NamespaceKind, leave};

use super::{BLANK, OF_SYSTEM};
use crate::setting::{Change, Setting, SettingFact, Values};

/// What TCP may touch.
const TCP: &[Primitive] = &[Primitive::TcpStack];
const NET: &[Primitive] = &[Primitive::TcpStack, Primitive::UdpStack];

/// A sysctl of TCP: each process gets a network namespace with a loopback and this value, so that nothing outside
/// changes. The present value gets one too.
macro_rules! of_namespace {
    ($name:literal) => {
        Change::Process {
            read: || {
                let path = concat!("/proc/sys/net/ipv4/", $name);
                let text = kernels::text::read(path).map_err(|error| error.to_string())?;
                Ok(text.split_whitespace().collect::<Vec<_>>().join(" "))
            },
            set: |value| {
                own_network()?;
                let path = concat!("/proc/sys/net/ipv4/", $name);
                std::fs::write(path, value).map_err(|error| format!("could not write {path}: {error}"))
            },
        }
    };
}

/// Moves this process into a network of its own, unless an earlier setting did.
fn own_network() -> Result<(), String> {
    use std::sync::OnceLock;
    static DONE: OnceLock<Result<(), String>> = OnceLock::new();
    let make = || {
        leave(&[NamespaceKind::Network]).and_then(|()| os::socket::raise_loopback()).map_err(|error| error.to_string())
    };
    DONE.get_or_init(make).clone()
}

fn congestion_controls() -> Vec<String> {
    let text = kernels::text::read("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

pub(super) const CONGESTION: Setting = Setting {
    id: "congestion",
    title: "congestion control",
    change: of_namespace!("tcp_congestion_control"),
    values: Values::Offered(congestion_controls),
    touches: TCP,
    root: true,
    fact: Some(SettingFact { name: "network.congestion_control", words: &[] }),
    ..BLANK
};

pub(super) const SEND_BUFFER: Setting = Setting {
    id: "send_buffer",
    title: "send buffer of TCP",
    change: of_namespace!("tcp_wmem"),
    values: Values::These(&["4096 8192 8192"]),
    touches: TCP,
    root: true,
    fact: Some(SettingFact { name: "network.tcp_send_buffer", words: &[] }),
    ..BLANK
};

pub(super) const RECEIVE_BUFFER: Setting = Setting {
    id: "receive_buffer",
    title: "receive buffer of TCP",
    change: of_namespace!("tcp_rmem"),
    values: Values::These(&["4096 8192 8192"]),
    touches: TCP,
    root: true,
    fact: Some(SettingFact { name: "network.tcp_receive_buffer", words: &[] }),
    ..BLANK
};

pub(super) const MTU: Setting = Setting {
    id: "mtu",
    title: "MTU of interfaces",
    change: Change::Files(&["/sys/class/net/e*/mtu"]),
    values: Values::These(&["1400"]),
    touches: NET,
    cuts: true,
    ..OF_SYSTEM
};

pub(super) const SEGMENT_TCP: Setting = Setting {
    id: "tso",
    title: "segmentation by the device",
    change: Change::Files(&["offload:*/tso"]),
    cuts: true,
    ..OFFLOAD
};

pub(super) const SEGMENT_ANY: Setting =
    Setting { id: "gso", title: "late segmentation", change: Change::Files(&["offload:*/gso"]), cuts: true, ..OFFLOAD };

pub(super) const JOIN: Setting = Setting {
    id: "gro",
    title: "joining of received segments",
    change: Change::Files(&["offload:*/gro"]),
    cuts: true,
    ..OFFLOAD
};

/// An offload.
const OFFLOAD: Setting = Setting { values: Values::These(&["off", "on"]), touches: NET, ..OF_SYSTEM };

pub(super) const BACKLOG: Setting = Setting {
    id: "net_budget",
    title: "packets in one turn (netdev_budget)",
    change: Change::Files(&["/proc/sys/net/core/netdev_budget"]),
    values: Values::These(&["64"]),
    touches: NET,
    ..OF_SYSTEM
};
