//! The table of families, in the order in which reports show them.

use std::collections::HashMap;
use std::sync::LazyLock;

use model::{Catalogue, ProbeDescription};

use crate::{Probe, cpu, file, ipc, memory, os, shell};

/// Probes that belong together.
pub struct ProbeFamily {
    /// The part of their ids before the dot.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Its probes.
    pub probes: &'static [&'static Probe],
}

/// Every family.
pub static FAMILIES: &[ProbeFamily] = &[
    ProbeFamily { name: "memory", title: "memory", probes: memory::TABLE },
    ProbeFamily { name: "cpu", title: "processor", probes: cpu::TABLE },
    ProbeFamily { name: "os", title: "operating system", probes: os::TABLE },
    ProbeFamily { name: "ipc", title: "communication on this machine", probes: ipc::TABLE },
    ProbeFamily { name: "file", title: "files", probes: file::TABLE },
    ProbeFamily { name: "shell", title: "shell and build", probes: shell::TABLE },
];

/// Every probe, in the order of the catalogue.
pub fn all() -> impl Iterator<Item = &'static Probe> {
    FAMILIES.iter().flat_map(|family| family.probes.iter().copied())
}

/// A probe by id: asked for every figure of every round.
#[must_use]
pub fn find(id: &str) -> Option<&'static Probe> {
    static BY_ID: LazyLock<HashMap<&str, &Probe>> = LazyLock::new(|| all().map(|probe| (probe.id, probe)).collect());
    BY_ID.get(id).copied()
}

/// A probe as data, by id.
#[must_use]
pub fn describe(id: &str) -> Option<ProbeDescription> {
    find(id).map(Probe::describe)
}

/// The whole catalogue as data, for crates that must not depend on the probes.
#[must_use]
pub fn catalogue() -> &'static Catalogue {
    static ALL: LazyLock<Catalogue> = LazyLock::new(|| Catalogue { probes: all().map(Probe::describe).collect() });
    &ALL
}
