//! What a machine says of itself: every fact with the file or call that said so, and what is not to be had with the
//! reason.
//!
//! Names are `topic.name` in snake_case, numbers in base units (Hz, B, s). Identifiers of the machine appear only as
//! hashes, and no hardware address or serial number appears at all.

mod block;
mod collector;
mod cpu;
mod cpuid;
mod dmi;
mod frequency;
mod identity;
mod kernel;
mod limits;
mod memory;
mod network;
mod software;
mod topology;
mod virtualisation;

use std::path::Path;

use model::Machine;

use collector::Collector;

/// A directory whose file system belongs to the facts, with the name that its facts carry:
/// `filesystem.<label>.type` and so on.
#[derive(Debug, Clone, Copy)]
pub struct Directory<'a> {
    /// Short name: `target`, `tmp` ...
    pub label: &'a str,
    /// Where it is.
    pub path: &'a Path,
}

/// The emulator that runs this machine's instructions, where one does and says so.
#[must_use]
pub fn emulator() -> Option<String> {
    cpuid::hypervisor().filter(|name| name.contains("emulation"))
}

/// Collects everything about this machine. Takes some milliseconds, runs no command, needs no privilege; privilege
/// makes a few more facts known.
#[must_use]
pub fn collect(directories: &[Directory<'_>]) -> Machine {
    collect_under(Path::new("/"), directories)
}

/// The same from a tree that holds a copy of another machine's `/proc`, `/sys` and `/etc`. Facts that come from calls
/// instead of files are still those of this process.
fn collect_under(root: &Path, directories: &[Directory<'_>]) -> Machine {
    let mut facts = Collector::new(root);
    identity::collect(&mut facts);
    cpu::collect(&mut facts);
    let topology = topology::collect(&mut facts);
    frequency::collect(&mut facts);
    memory::collect(&mut facts);
    kernel::collect(&mut facts);
    virtualisation::collect(&mut facts);
    limits::collect(&mut facts);
    software::collect(&mut facts);
    block::collect(&mut facts, directories);
    network::collect(&mut facts);
    let mut machine = Machine { topology, facts: facts.done(), ..Machine::default() };
    machine.name = machine.text("machine.hostname").unwrap_or_default();
    machine.fingerprint = identity::fingerprint(root, &machine);
    machine.summary = identity::summary(&machine);
    machine
}

#[cfg(test)]
mod tests;
