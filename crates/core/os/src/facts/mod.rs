//! Facts about a machine: each with the file or call that it comes from, or with the reason for its absence.
//!
//! Names are `topic.name` in snake_case, numbers in base units (Hz, B, s). Identifiers of the machine appear only as
//! hashes, and no hardware address or serial number appears at all.

mod block;
mod collector;
mod confinement;
mod cpu;
mod dmi;
mod environment;
mod frequency;
mod health;
mod identity;
mod kernel;
mod limits;
mod memory;
mod network;
mod pcie;
mod software;
mod topology;
mod virtualisation;

use std::path::Path;

use model::Machine;

use collector::Collector;

/// A directory whose file system is part of the facts, under the names `filesystem.<label>.type` and so on.
#[derive(Debug, Clone, Copy)]
pub struct Directory<'a> {
    /// Short name: `target`, `tmp` ...
    pub label: &'a str,
    /// Its path.
    pub path: &'a Path,
}

/// Collects all facts about this machine. Takes some milliseconds, runs no command, needs no privileges; with
/// privileges a few more facts are known.
#[must_use]
pub fn collect(directories: &[Directory<'_>]) -> Machine {
    collect_under(Path::new("/"), directories)
}

/// The same from a copy of another machine's `/proc`, `/sys` and `/etc`. Facts that come from calls instead of files
/// are still those of this process.
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
    confinement::collect(&mut facts);
    software::collect(&mut facts);
    environment::collect(&mut facts);
    block::collect(&mut facts, directories);
    network::collect(&mut facts);
    pcie::collect(&mut facts);
    health::collect(&mut facts);
    let mut machine = Machine { topology, facts: facts.done(), ..Machine::default() };
    machine.name = machine.text("machine.hostname").unwrap_or_default();
    machine.fingerprint = identity::fingerprint(root, &machine);
    machine.summary = identity::summary(&machine);
    machine
}

#[cfg(test)]
mod tests;
