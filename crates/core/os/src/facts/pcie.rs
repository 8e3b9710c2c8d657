//! Links of PCI Express devices that move much data: what they run at, and what both ends of the link can do.
//!
//! Attributes as in `Documentation/ABI/testing/sysfs-bus-pci` of the Linux kernel. A device is named by its address with
//! `_` for `:` and `.`, as names of facts have dots of their own.

use model::Primitive;

use crate::facts::collector::{Collector, Found};

const DEVICES: &str = "/sys/bus/pci/devices";

pub(super) fn collect(facts: &mut Collector) {
    for address in facts.names(DEVICES) {
        let dir = format!("{DEVICES}/{address}");
        let Some((kind, affects)) = facts.read(&format!("{dir}/class")).ok().and_then(|class| kind(&class)) else {
            continue;
        };
        // Virtual devices have no link.
        let Ok(width) = facts.read_number(&format!("{dir}/current_link_width")) else { continue };
        let Some(most) = facts.read_number(&format!("{dir}/max_link_width")).ok().filter(|most| *most > 0.0) else {
            continue;
        };
        let port = std::fs::canonicalize(facts.path(&dir)).ok().and_then(|real| Some(real.parent()?.to_owned()));
        let of_port = |file: &str| port.as_ref().and_then(|port| std::fs::read_to_string(port.join(file)).ok());
        let slot: Option<f64> = of_port("max_link_width").and_then(|text| text.trim().parse().ok());
        let fastest = of_port("max_link_speed").and_then(|text| speed(&text));
        let rate = |file: &str| -> Found<f64> {
            speed(&facts.read(&format!("{dir}/{file}"))?).ok_or_else(|| format!("{file} is no speed"))
        };
        let (now, can) = (rate("current_link_speed"), rate("max_link_speed"));
        let name = |what: &str| format!("pcie.{}.{what}", address.replace([':', '.'], "_"));
        facts.words(name("kind"), Ok(kind), format!("{dir}/class"), &[]);
        facts.number(name("width"), Ok(width), "1", format!("{dir}/current_link_width"), affects);
        facts.number(
            name("width_max"),
            Ok(slot.map_or(most, |slot| slot.min(most))),
            "1",
            format!("{dir}/max_link_width"),
            &[],
        );
        facts.number(name("speed"), now, "transfers/s", format!("{dir}/current_link_speed"), affects);
        let can = can.map(|can| fastest.map_or(can, |slot| slot.min(can)));
        facts.number(name("speed_max"), can, "transfers/s", format!("{dir}/max_link_speed"), &[]);
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

/// Transfers per second of `8.0 GT/s PCIe`.
fn speed(text: &str) -> Option<f64> {
    let giga: f64 = text.trim().split_once(" GT/s")?.0.parse().ok()?;
    Some(giga * 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_as_wide_as_both_ends_allow() {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, files: &[(&str, &str)]| {
            let folder = dir.path().join("sys").join(path);
            std::fs::create_dir_all(&folder).unwrap();
            files.iter().for_each(|(name, text)| std::fs::write(folder.join(name), text).unwrap());
        };
        let link = |width, most| {
            [
                ("current_link_width", width),
                ("max_link_width", most),
                ("current_link_speed", "16.0 GT/s PCIe\n"),
                ("max_link_speed", "16.0 GT/s PCIe\n"),
            ]
        };
        let port = "devices/pci0000:00/0000:00:01.1";
        put(port, &link("4\n", "8\n"));
        put(&format!("{port}/0000:01:00.0"), &link("4\n", "16\n"));
        put(&format!("{port}/0000:01:00.0"), &[("class", "0x030200\n")]);
        put(&format!("{port}/0000:01:00.1"), &[("class", "0x040300\n")]);
        put("bus/pci/devices", &[]);
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
        assert_eq!(speed("2.5 GT/s PCIe"), Some(2.5e9));
        assert_eq!((speed("Unknown"), kind("0x060400")), (None, None));
    }
}
