//! The machine's facts in a run document.

use std::path::PathBuf;

use model::words::list;
use model::{Fact, FactValue, Identity, Machine, Plan};
use os::facts::{Directory, collect};

/// All facts of this machine, and of the file systems that hold some directories.
#[must_use]
pub fn machine(directories: &[PathBuf]) -> Machine {
    let label = |number: usize| if number == 1 { "target".to_owned() } else { format!("target{number}") };
    let labels: Vec<String> = (1..=directories.len()).map(label).collect();
    let named = labels.iter().zip(directories);
    let mut wanted: Vec<Directory<'_>> = named.map(|(label, path)| Directory { label, path: path.as_path() }).collect();
    let shared = std::path::Path::new("/dev/shm");
    if shared.is_dir() {
        wanted.push(Directory { label: "shm", path: shared });
    }
    collect(&wanted)
}

/// Facts of the accelerators that a plan measures: other runs do not load their drivers.
pub(crate) fn of_devices(plan: &Plan) -> Vec<Fact> {
    let measured = |api: &gpu::Api| plan.entries.iter().any(|entry| entry.parameters.get("api") == Some(api.name()));
    gpu::Api::ALL.into_iter().filter(measured).flat_map(gpu::facts).collect()
}

/// Bytes of memory that this process may still use, from the machine's facts; a terabyte if they are unknown.
#[must_use]
pub(crate) fn free_memory(machine: &Machine) -> u64 {
    let told =
        ["memory.available", "cgroup.memory", "cgroup.memory_left"].iter().filter_map(|name| machine.number(name));
    told.min_by(f64::total_cmp).map_or(crate::sizing::UNKNOWN, |bytes| bytes as u64)
}

/// Identity of this machine and boot, taken at the start and at the end of a session.
#[must_use]
pub fn identity() -> Identity {
    identity_of(&collect(&[]))
}

/// The identity that a machine's facts state.
#[must_use]
pub fn identity_of(machine: &Machine) -> Identity {
    Identity {
        fingerprint: machine.fingerprint.clone(),
        boot: machine.text("machine.boot_hash").unwrap_or_default(),
        host: machine.name.clone(),
    }
}

/// Notes for readers of every result of this session.
#[must_use]
pub fn notes(machine: &Machine, allowed: &[usize]) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(hypervisor) = machine.text("virtual.hypervisor").filter(|name| name != "none") {
        notes.push(format!("virtual machine ({hypervisor}): load from other VMs on the host is invisible from inside"));
    }
    if let Some(emulator) = kernels::emulation::emulator() {
        notes.push(format!("emulated by {emulator}: the results describe the emulator, not a machine"));
    }
    let set: Vec<String> = machine.variables().map(|(name, value)| format!("{name}={value}")).collect();
    if !set.is_empty() {
        notes.push(format!("the environment sets {}, which applies to what is measured", list(&set)));
    }
    let online = machine.number("cpu.online").map_or(allowed.len(), |online| online as usize).max(allowed.len());
    if let Some(note) = part_of_the_cpus(machine, allowed) {
        notes.push(format!("Prony may use {note}; all results are for those"));
    }
    if allowed.len() == 1 {
        notes.push("one CPU: results that need two CPUs are not measured".to_owned());
    }
    // The load is that of the whole machine, whatever part of it this process may use.
    let load = machine.number("machine.load").unwrap_or(0.0);
    if load > 0.5 * online as f64 {
        notes.push(format!("load average before the run: {load:.1} on {}", counted(online)));
    }
    if let Some(quota) = machine.number("cgroup.cpus").filter(|quota| *quota < allowed.len() as f64) {
        notes.push(format!("a CPU quota limits Prony to {quota:.2} CPUs and stops long batches"));
    }
    if machine.text("confinement.traced").as_deref() == Some("yes") {
        notes.push("a debugger traces Prony, which makes its system calls slower".to_owned());
    }
    if machine.text("confinement.seccomp").as_deref() == Some("yes") {
        notes.push("a seccomp filter checks the system calls of Prony, as in most containers".to_owned());
    }
    notes
}

/// "1 of 2 CPUs", where this process may use fewer than are online; `None` where it may use all.
#[must_use]
pub fn part_of_the_cpus(machine: &Machine, allowed: &[usize]) -> Option<String> {
    let online = machine.number("cpu.online")? as usize;
    (allowed.len() < online).then(|| format!("{} of {}", allowed.len(), counted(online)))
}

/// Whether the machine itself shows that no other thread shares the cores of these CPUs: no guest, and each core has
/// one thread. A guest only knows its host's claim, and hosts claim "one thread a core" for halves of cores.
pub(crate) fn cores_are_alone(machine: &Machine, allowed: &[usize]) -> bool {
    let bare = machine.fact("virtual.guest").is_some_and(|fact| fact.value == FactValue::Truth(false));
    let single =
        |machine: &model::Topology| allowed.iter().all(|cpu| machine.core(*cpu).is_some_and(|core| core.len() == 1));
    bare && os::topology::read().is_ok_and(|machine| single(&machine))
}

pub(crate) fn counted(cpus: usize) -> String {
    if cpus == 1 { "1 CPU".to_owned() } else { format!("{cpus} CPUs") }
}
