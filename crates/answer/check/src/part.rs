//! Parts that are seen and need no measurement: CPUs, links, network cards.

use model::{Fact, FactValue, Machine};

use crate::cause;
use crate::defect::{self, DEFECTS};
use crate::result::{CheckRow, CheckVerdict, NamedCause};

/// The rows of all parts that the facts tell. `peers` are machines of the same kind.
pub(crate) fn rows(machine: &Machine, peers: &[&Machine]) -> Vec<CheckRow> {
    let mut rows: Vec<CheckRow> = cpus(machine).into_iter().collect();
    rows.extend(names(machine, "network.", ".driver").filter_map(|name| network(machine, name, peers)));
    rows.extend(names(machine, "pcie.", ".width").filter_map(|name| link(machine, name)));
    rows
}

/// Words between a beginning and an end in the names of known facts.
fn names<'a>(machine: &'a Machine, begin: &'a str, end: &'a str) -> impl Iterator<Item = &'a str> {
    let known = |fact: &&Fact| !matches!(fact.value, FactValue::Unknown(_));
    machine.facts.iter().filter(known).filter_map(move |fact| fact.name.strip_prefix(begin)?.strip_suffix(end))
}

fn row(id: String, title: String, found: String, wanted: String, fault: Option<NamedCause>) -> CheckRow {
    let verdict = if fault.is_some() { CheckVerdict::Low } else { CheckVerdict::Ok };
    CheckRow { id, title, found, wanted, verdict, causes: fault.into_iter().collect(), ..CheckRow::default() }
}

/// CPUs that may be used, of those that are online.
fn cpus(machine: &Machine) -> Option<CheckRow> {
    let (online, allowed) = defect::cpus(machine)?;
    let usable = machine.number("cgroup.cpus").map_or(allowed, |quota| quota.min(allowed));
    let fault = ["cgroup CPU limit", "number of threads"].iter().find_map(|title| {
        DEFECTS.iter().find(|defect| defect.cause == *title).and_then(|defect| cause::held(defect, machine))
    });
    let found = if usable.fract() == 0.0 { usable.to_string() } else { format!("{usable:.2}") };
    Some(row("cpu.online".to_owned(), "CPUs that may be used".to_owned(), found, online.to_string(), fault))
}

/// Bytes per second as a network card is sold.
fn rate(bytes: f64) -> String {
    let bits = 8.0 * bytes;
    if bits < 1e9 { format!("{:.0} Mb/s", bits * 1e-6) } else { format!("{} Gb/s", (bits * 1e-8).round() / 10.0) }
}

fn network(machine: &Machine, name: &str, peers: &[&Machine]) -> Option<CheckRow> {
    let fact = |what: &str| format!("network.{name}.{what}");
    let number = |what: &str| machine.number(&fact(what));
    if machine.text(&fact("state")).as_deref() != Some("up") {
        return None;
    }
    let (speed, most) = (number("speed"), number("speed_max"));
    let half = machine.text(&fact("duplex")).as_deref() == Some("half");
    let mtu = number("mtu");
    let usual = cause::usual(&fact("mtu"), peers).and_then(|text| text.parse::<f64>().ok());
    let named = |because: String, cure: &str| NamedCause {
        title: "the network interface".to_owned(),
        because,
        cure: cure.to_owned(),
    };
    let (found, wanted, fault) = match (speed, most, mtu, usual) {
        (Some(speed), Some(most), ..) if speed < 0.99 * most => (
            format!("{} link", rate(speed)),
            format!("{} card", rate(most)),
            Some(named(
                format!("the link runs at {} of {}", rate(speed), rate(most)),
                "check the cable and the switch port",
            )),
        ),
        (Some(speed), ..) if half => (
            format!("{}, half duplex", rate(speed)),
            format!("{}, full duplex", rate(speed)),
            Some(named("the link is half duplex".to_owned(), "let both ends negotiate")),
        ),
        (.., Some(mtu), Some(usual)) if mtu < usual => (
            format!("MTU {mtu}"),
            format!("MTU {usual}"),
            Some(named(format!("the MTU is {mtu}, and {usual} on the others"), "set the MTU of the others")),
        ),
        (Some(speed), most, ..) => (
            format!("{} link", rate(speed)),
            most.map_or_else(String::new, |most| format!("{} card", rate(most))),
            None,
        ),
        _ => return None,
    };
    Some(row(fact("speed"), format!("network {name}"), found, wanted, fault))
}

fn link(machine: &Machine, name: &str) -> Option<CheckRow> {
    let fact = |what: &str| format!("pcie.{name}.{what}");
    let number = |what: &str| machine.number(&fact(what));
    let kind = machine.text(&fact("kind"))?;
    let (width, most) = (number("width")?, number("width_max")?);
    // The links of graphics processors slow down while they idle.
    let speeds = number("speed").zip(number("speed_max")).filter(|_| kind != "GPU");
    let slow = speeds.filter(|(now, can)| now < can);
    let at = name.replacen("0000_", "", 1);
    let words = |width: f64, speed: Option<f64>| match speed.filter(|_| slow.is_some()) {
        Some(speed) => format!("x{width} at {} GT/s", speed * 1e-9),
        None => format!("x{width}"),
    };
    let (found, wanted) = (words(width, speeds.map(|(now, _)| now)), words(most, speeds.map(|(_, can)| can)));
    let fault = (width < most || slow.is_some()).then(|| NamedCause {
        title: "the link of a PCI Express device".to_owned(),
        because: format!("PCIe {found} of {wanted}"),
        cure: "reseat the card, or check the slot and the firmware".to_owned(),
    });
    Some(row(
        fact("width"),
        format!("{kind} {}", at.replace('_', ":")),
        format!("PCIe {found}"),
        format!("PCIe {wanted}"),
        fault,
    ))
}
