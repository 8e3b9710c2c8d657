//! Links of PCI Express devices that move much data: what they run at, and what both ends of the link can do.
//!
//! Attributes as in `Documentation/ABI/testing/sysfs-bus-pci` of the Linux kernel. A device is named by its address with
//! `_` for `:` and `.`, as names of facts have dots of their own.

use std::path::PathBuf;

use model::Primitive;

use crate::facts::collector::{Collector, Found};

const DEVICES: &str = "/sys/bus/pci/devices";

pub(super) fn collect(facts: &mut Collector) {
    for address in facts.names(DEVICES) {
        let dir = format!("{DEVICES}/{address}");
        let class = facts.read(&format!("{dir}/class"));
        let Some((kind, affects)) = class.ok().and_then(|class| kind(&class)) else { continue };
        let file = |which: &str, what: &str| format!("{dir}/{which}_link_{what}");
        // Virtual devices have no link.
        let has = |which: &str| amount(facts, &file(which, "width")).is_ok_and(|width| width > 0.0);
        if !has("max") || !has("current") {
            continue;
        }
        let name = |what: &str| format!("pcie.{}.{what}", address.replace([':', '.'], "_"));
        facts.words(name("kind"), Ok(kind), format!("{dir}/class"), &[]);
        // The folder of a device is in that of its port.
        let port = std::fs::canonicalize(facts.path(&dir)).ok().and_then(|real| Some(real.parent()?.to_owned()));
        for (what, unit) in [("width", "1"), ("speed", "transfers/s")] {
            let of_port = |port: &PathBuf| std::fs::read_to_string(port.join(format!("max_link_{what}"))).ok();
            let slot = port.as_ref().and_then(of_port).and_then(|text| parsed(text.trim()));
            let most = amount(facts, &file("max", what)).map(|most| slot.map_or(most, |slot| slot.min(most)));
            let now = amount(facts, &file("current", what));
            facts.number(name(what), now, unit, file("current", what), affects);
            facts.number(name(&format!("{what}_max")), most, unit, file("max", what), &[]);
        }
    }
}

/// What a device of a class is called, and what its link bounds.
fn kind(class: &str) -> Option<(&'static str, &'static [Primitive])> {
    Some(match class.trim_start_matches("0x").get(..4)? {
        "0108" => ("NVMe", &[Primitive::DiskRead, Primitive::DiskWrite]),
        "0104" | "0107" => ("storage controller", &[Primitive::DiskRead, Primitive::DiskWrite]),
        "0200" | "0207" => ("network card", &[Primitive::NetworkLink]),
        "0300" | "0302" | "1200" => ("GPU", &[]),
        _ => return None,
    })
}

/// The width or the speed in a file.
fn amount(facts: &Collector, file: &str) -> Found<f64> {
    parsed(&facts.read(file)?).ok_or_else(|| format!("{file} has no number"))
}

/// Lanes of `16`, or transfers per second of `8.0 GT/s PCIe`.
fn parsed(text: &str) -> Option<f64> {
    let giga = text.split_once(" GT/s").map(|(giga, _)| Some(1e9 * giga.parse::<f64>().ok()?));
    giga.unwrap_or_else(|| text.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::tests::put;

    #[test]
    fn a_link_is_as_wide_as_both_ends_allow() {
        let dir = tempfile::tempdir().unwrap();
        let port = "devices/pci0000:00/0000:00:01.1";
        let put = |file: &str, text: &str| put(dir.path(), &format!("sys/{port}/{file}"), text);
        for (device, most) in [("", "8\n"), ("0000:01:00.0/", "16\n")] {
            put(&format!("{device}current_link_width"), "4\n");
            put(&format!("{device}max_link_width"), most);
            put(&format!("{device}current_link_speed"), "16.0 GT/s PCIe\n");
            put(&format!("{device}max_link_speed"), "16.0 GT/s PCIe\n");
        }
        put("0000:01:00.0/class", "0x030200\n");
        put("0000:01:00.1/class", "0x040300\n");
        std::fs::create_dir_all(dir.path().join("sys/bus/pci/devices")).unwrap();
        for name in ["0000:01:00.0", "0000:01:00.1"] {
            let to = format!("../../../{port}/{name}");
            std::os::unix::fs::symlink(to, dir.path().join("sys/bus/pci/devices").join(name)).unwrap();
        }
        let mut facts = Collector::new(dir.path());
        collect(&mut facts);
        let machine = model::Machine { facts: facts.done(), ..model::Machine::default() };
        assert_eq!(machine.text("pcie.0000_01_00_0.kind").as_deref(), Some("GPU"));
        assert_eq!(machine.number("pcie.0000_01_00_0.width"), Some(4.0));
        assert_eq!(machine.number("pcie.0000_01_00_0.width_max"), Some(8.0), "the slot is narrower than the card");
        assert_eq!(machine.number("pcie.0000_01_00_0.speed"), Some(16e9));
        assert!(machine.fact("pcie.0000_01_00_1.width").is_none(), "sound moves little");
    }

    #[test]
    fn speeds_are_in_transfers() {
        assert_eq!((parsed("2.5 GT/s PCIe"), parsed("16")), (Some(2.5e9), Some(16.0)));
        assert_eq!((parsed("Unknown"), kind("0x060400")), (None, None));
    }
}
