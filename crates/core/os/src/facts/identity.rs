//! Identity of the machine, without its identifiers.

use std::path::Path;

use model::Machine;
use sha2::{Digest, Sha256};

use crate::facts::collector::{Collector, Found};

pub(super) fn collect(facts: &mut Collector) {
    facts.file("machine.hostname", "/proc/sys/kernel/hostname", &[]);
    let (id, source) = machine_id(facts);
    facts.words("machine.id_hash", id.map(|id| hash(&["machine", &id])), source, &[]);
    let boot = "/proc/sys/kernel/random/boot_id";
    facts.words("machine.boot_hash", facts.read(boot).map(|id| hash(&["boot", &id])), boot, &[]);
    let load = "/proc/loadavg";
    let recent = facts.read(load).and_then(|text| {
        let number = text.split(' ').next().and_then(|word| word.parse().ok());
        number.ok_or_else(|| format!("{load} does not begin with a number"))
    });
    facts.number("machine.load", recent, "1", load, &[]);
}

fn machine_id(facts: &Collector) -> (Found<String>, &'static str) {
    const SOURCES: [&str; 3] = ["/etc/machine-id", "/var/lib/dbus/machine-id", "/sys/class/dmi/id/product_uuid"];
    for source in SOURCES {
        if let Ok(id) = facts.read(source)
            && id != "uninitialized"
        {
            return (Ok(id), source);
        }
    }
    (Err(format!("none of {} can be read", SOURCES.join(", "))), SOURCES[0])
}

/// A hash that identifies this machine and survives reboots and upgrades. It covers the machine's identifier (or its
/// host name if it has none), its processor, its CPUs and its memory in GiB. Empty if neither is known.
pub(super) fn fingerprint(root: &Path, machine: &Machine) -> String {
    let facts = Collector::new(root);
    let (id, _) = machine_id(&facts);
    let who = id.ok().or_else(|| machine.text("machine.hostname"));
    let Some(who) = who else { return String::new() };
    let text = |name: &str| machine.text(name).unwrap_or_default();
    let gib = machine.number("memory.total").map(|bytes| (bytes / 1_073_741_824.0).round().to_string());
    hash(&[
        "fingerprint",
        &who,
        &text("cpu.vendor"),
        &text("cpu.family"),
        &text("cpu.model_number"),
        &text("cpu.stepping"),
        &text("cpu.online"),
        &gib.unwrap_or_default(),
    ])
}

/// The first 128 bits of SHA-256 over the parts, in hexadecimal. A label of this program comes first, so that hashes of
/// the same identifier by other programs differ, as `machine-id(5)` requires.
fn hash(parts: &[&str]) -> String {
    let mut state = Sha256::new();
    state.update(b"prony");
    for part in parts {
        state.update((part.len() as u64).to_le_bytes());
        state.update(part.as_bytes());
    }
    state.finalize()[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// One line: CPU, count, memory, system.
pub(super) fn summary(machine: &Machine) -> String {
    let cpus = machine.number("cpu.online").map(|count| {
        let cores = machine.number("cpu.cores").filter(|cores| *cores < count);
        cores.map_or_else(|| format!("{count} CPUs"), |cores| format!("{count} CPUs on {cores} cores"))
    });
    let memory = machine.number("memory.total").map(|bytes| format!("{:.1} GiB", bytes / 1_073_741_824.0));
    let kernel = machine
        .text("kernel.release")
        .map(|release| format!("{} {release}", machine.text("kernel.name").unwrap_or_else(|| "kernel".to_owned())));
    let model = machine.text("cpu.model").map(|name| {
        let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
        let design = machine.microarchitecture().filter(|design| !name.contains(design));
        design.map_or_else(|| name.clone(), |design| format!("{name} ({design})"))
    });
    let guest = machine.text("virtual.hypervisor").map(|name| format!("guest of {name}"));
    let parts = [model, cpus, memory, guest, machine.text("software.distribution"), kernel];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The value of a key in a file of shell assignments, such as `/etc/os-release`, without its quotes.
pub(super) fn assigned<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))?;
    Some(line.trim_matches(['"', '\'']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_together() {
        assert_ne!(hash(&["ab", "c"]), hash(&["a", "bc"]));
        assert_eq!(hash(&["a"]).len(), 32);
        assert_eq!(assigned("A=1\nNAME=\"x y\"\n", "NAME"), Some("x y"));
    }
}
