//! Whether other machines or containers share the hardware.

use kernels::{cpuid, text};
use model::Primitive;

use crate::facts::collector::{Collector, Found};

const GUEST: &[Primitive] = &[
    Primitive::PageFault,
    Primitive::Tlb,
    Primitive::Wakeup,
    Primitive::Timer,
    Primitive::ContextSwitch,
    Primitive::DramLatency,
];

pub(super) fn collect(facts: &mut Collector) {
    let flag: Found<bool> = facts.read("/proc/cpuinfo").and_then(|info| {
        let flags = text::field(&info, "flags").ok_or_else(|| "/proc/cpuinfo has no flags of this kind".to_owned())?;
        Ok(flags.split_whitespace().any(|flag| flag == "hypervisor"))
    });
    facts.truth("virtual.guest", flag, "/proc/cpuinfo, flag hypervisor", GUEST);
    let (name, source) = hypervisor(facts);
    facts.words("virtual.hypervisor", name, source, GUEST);
    facts.file("virtual.system", "/sys/class/dmi/id/sys_vendor", &[]);
    facts.file("virtual.product", "/sys/class/dmi/id/product_name", &[]);
    let (container, source) = container(facts);
    facts.words("virtual.container", container, source, &[]);
    let nested = ["intel", "amd"].into_iter().find_map(|kind| {
        let path = format!("/sys/module/kvm_{kind}/parameters/nested");
        Some((facts.read(&path).ok()?, path))
    });
    if let Some((nested, path)) = nested {
        facts.words("virtual.nested", Ok(nested), path, &[]);
    }
}

fn hypervisor(facts: &Collector) -> (Found<String>, String) {
    if let Ok(kind) = facts.read("/sys/hypervisor/type") {
        return (Ok(kind), "/sys/hypervisor/type".to_owned());
    }
    if facts.is_here()
        && let Some(name) = cpuid::hypervisor()
    {
        return (Ok(name), "CPUID leaf 40000000h".to_owned());
    }
    let known = [
        ("QEMU", "QEMU"),
        ("Amazon EC2", "Amazon EC2"),
        ("Google", "Google Compute Engine"),
        ("VMware", "VMware"),
        ("innotek", "VirtualBox"),
        ("Xen", "Xen"),
    ];
    let vendor = facts.read("/sys/class/dmi/id/sys_vendor").unwrap_or_default();
    let found = known.into_iter().find(|(sign, _)| vendor.starts_with(sign)).map(|(_, name)| name.to_owned());
    (found.ok_or_else(|| "no sign of one".to_owned()), "/sys/class/dmi/id/sys_vendor".to_owned())
}

/// Only an indication: images built for containers also boot as virtual machines.
fn container(facts: &Collector) -> (Found<String>, &'static str) {
    for (path, name) in [("/run/.containerenv", "podman"), ("/.dockerenv", "docker")] {
        if facts.path(path).exists() {
            return (Ok(name.to_owned()), path);
        }
    }
    let environment = facts.read("/proc/1/environ").unwrap_or_default();
    if let Some(name) = environment.split('\0').find_map(|entry| entry.strip_prefix("container=")) {
        return (Ok(name.to_owned()), "/proc/1/environ");
    }
    let groups = facts.read("/proc/1/cgroup").unwrap_or_default();
    for (sign, name) in [("kubepods", "kubernetes"), ("docker", "docker"), ("lxc", "lxc"), ("libpod", "podman")] {
        if groups.contains(sign) {
            return (Ok(name.to_owned()), "/proc/1/cgroup");
        }
    }
    (Err("no sign of one".to_owned()), "/run/.containerenv, /.dockerenv, /proc/1/environ, /proc/1/cgroup")
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::FactValue;
    use std::path::Path;

    #[test]
    fn a_container_by_its_first_process() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("proc/1")).unwrap();
        let facts = Collector::new(dir.path());
        assert!(container(&facts).0.is_err());
        std::fs::write(dir.path().join("proc/1/environ"), "A=1\0container=lxc\0").unwrap();
        assert_eq!(container(&facts).0.unwrap(), "lxc");
        std::fs::write(dir.path().join(".dockerenv"), "").unwrap();
        assert_eq!(container(&facts).0.unwrap(), "docker");
    }

    #[test]
    fn facts_are_made_whatever_is_there() {
        let mut facts = Collector::new(Path::new("/nonexistent"));
        collect(&mut facts);
        let made = facts.done();
        for name in ["virtual.guest", "virtual.hypervisor", "virtual.container"] {
            let fact = made.iter().find(|fact| fact.name == name).unwrap();
            assert!(matches!(fact.value, FactValue::Unknown(_)), "{name}");
        }
    }
}
