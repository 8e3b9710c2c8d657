//! The table of families, in the order in which reports show them.

use std::collections::HashMap;
use std::sync::LazyLock;

use model::{BenchmarkDescription, Catalogue};

use crate::{Benchmark, cpu, file, gpu, ipc, memory, os, shell};

/// Benchmarks that belong together.
pub struct BenchmarkFamily {
    /// The part of their ids before the dot.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Its benchmarks.
    pub benchmarks: &'static [&'static Benchmark],
}

/// Every family.
pub static FAMILIES: &[BenchmarkFamily] = &[
    BenchmarkFamily { name: "memory", title: "memory", benchmarks: memory::TABLE },
    BenchmarkFamily { name: "cpu", title: "processor", benchmarks: cpu::TABLE },
    BenchmarkFamily { name: "os", title: "operating system", benchmarks: os::TABLE },
    BenchmarkFamily { name: "ipc", title: "IPC", benchmarks: ipc::TABLE },
    BenchmarkFamily { name: "file", title: "files", benchmarks: file::TABLE },
    BenchmarkFamily { name: "gpu", title: "accelerators", benchmarks: gpu::TABLE },
    BenchmarkFamily { name: "shell", title: "shell and build", benchmarks: shell::TABLE },
];

/// Every benchmark, in the order of the catalogue.
pub fn all() -> impl Iterator<Item = &'static Benchmark> {
    FAMILIES.iter().flat_map(|family| family.benchmarks.iter().copied())
}

/// A benchmark by id: asked for every result of every round.
#[must_use]
pub fn find(id: &str) -> Option<&'static Benchmark> {
    static BY_ID: LazyLock<HashMap<&str, &Benchmark>> =
        LazyLock::new(|| all().map(|benchmark| (benchmark.id, benchmark)).collect());
    BY_ID.get(id).copied()
}

/// A benchmark as data, by id.
#[must_use]
pub fn describe(id: &str) -> Option<BenchmarkDescription> {
    find(id).map(Benchmark::describe)
}

/// The whole catalogue as data, for crates that must not depend on the benchmarks.
#[must_use]
pub fn catalogue() -> &'static Catalogue {
    static ALL: LazyLock<Catalogue> =
        LazyLock::new(|| Catalogue { benchmarks: all().map(Benchmark::describe).collect() });
    &ALL
}
