//! Defaults of the network stack, and the interfaces without their addresses.

use model::{FactValue, Primitive};

use crate::facts::collector::{Collector, why};

const TCP: &[Primitive] = &[Primitive::TcpStack];
const BOTH: &[Primitive] = &[Primitive::TcpStack, Primitive::UdpStack];
const NET: &str = "/sys/class/net";

pub(super) fn collect(facts: &mut Collector) {
    facts.file("network.congestion_control", "/proc/sys/net/ipv4/tcp_congestion_control", TCP);
    facts.file("network.congestion_controls", "/proc/sys/net/ipv4/tcp_available_congestion_control", &[]);
    facts.file("network.queueing", "/proc/sys/net/core/default_qdisc", BOTH);
    for (name, path, affects) in [
        ("network.receive_buffer_max", "/proc/sys/net/core/rmem_max", BOTH),
        ("network.send_buffer_max", "/proc/sys/net/core/wmem_max", BOTH),
        ("network.receive_buffer_default", "/proc/sys/net/core/rmem_default", BOTH),
        ("network.send_buffer_default", "/proc/sys/net/core/wmem_default", BOTH),
    ] {
        facts.file_number(name, path, 1.0, "B", affects);
    }
    // Minimum, default and maximum, in bytes.
    facts.words(
        "network.tcp_receive_buffer",
        list(facts, "/proc/sys/net/ipv4/tcp_rmem"),
        "/proc/sys/net/ipv4/tcp_rmem",
        TCP,
    );
    facts.words(
        "network.tcp_send_buffer",
        list(facts, "/proc/sys/net/ipv4/tcp_wmem"),
        "/proc/sys/net/ipv4/tcp_wmem",
        TCP,
    );
    let pipe = "/proc/sys/fs/pipe-max-size";
    facts.file_number("network.pipe_capacity_max", pipe, 1.0, "B", &[Primitive::Pipe]);
    let names = facts.names(NET);
    facts.add("network.interfaces", Ok(FactValue::List(names.clone())), None, NET, &[]);
    for name in names {
        interface(facts, &name);
    }
}

fn list(facts: &Collector, path: &str) -> Result<String, String> {
    facts.read(path).map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn interface(facts: &mut Collector, interface: &str) {
    let name = |what: &str| format!("network.{interface}.{what}");
    let link = [Primitive::NetworkLink];
    facts.file_number(name("mtu"), &format!("{NET}/{interface}/mtu"), 1.0, "B", BOTH);
    if interface == "lo" {
        return;
    }
    facts.file(name("state"), &format!("{NET}/{interface}/operstate"), &link);
    // Megabits per second; the kernel returns -1, or an error, if there is no speed.
    let path = format!("{NET}/{interface}/speed");
    let speed = facts.read_number(&path).ok().filter(|megabits| *megabits > 0.0);
    let speed = speed.map(|megabits| megabits * 1e6 / 8.0).ok_or_else(|| "the driver does not report it".to_owned());
    facts.number(name("speed"), speed, "B/s", path, &link);
    facts.file(name("duplex"), &format!("{NET}/{interface}/duplex"), &link);
    let fastest = match facts.is_here() {
        true => why(crate::socket::fastest_mode(interface)),
        false => Err("it is asked of the running system only".to_owned()),
    };
    facts.number(name("speed_max"), fastest, "B/s", "ETHTOOL_GLINKSETTINGS", &[]);
    let driver = std::fs::read_link(facts.path(&format!("{NET}/{interface}/device/driver")));
    let driver = driver.ok().and_then(|link| Some(link.file_name()?.to_string_lossy().into_owned()));
    let driver = driver.ok_or_else(|| "it has no device of its own".to_owned());
    facts.words(name("driver"), driver, format!("{NET}/{interface}/device/driver"), &link);
}
