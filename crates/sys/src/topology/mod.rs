//! Topology of the CPUs of this machine: packages, cores, SMT siblings, NUMA nodes and caches.
//!
//! Source: `/sys/devices/system/cpu` and `/sys/devices/system/node`
//! (`Documentation/ABI/stable/sysfs-devices-system-cpu` of the Linux kernel).

mod cache;

pub use cache::{Cache, CacheKind};

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::text;

/// Position of one CPU. A number that the machine does not report is `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuTopology {
    /// The number in the operating system.
    pub id: usize,
    /// Physical package (socket).
    pub package: Option<i64>,
    /// Core within the package.
    pub core: Option<i64>,
    /// NUMA node.
    pub node: Option<usize>,
    /// All CPUs of the same core, this one included, ascending.
    pub siblings: Vec<usize>,
}

/// The online CPUs, and the caches of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology {
    /// Online CPUs, ascending.
    pub cpus: Vec<CpuTopology>,
    /// NUMA nodes with their CPUs; empty if the kernel has no NUMA support.
    pub nodes: Vec<(usize, Vec<usize>)>,
    root: PathBuf,
}

impl Topology {
    /// Reads the topology of this machine.
    pub fn read() -> Result<Self> {
        Self::read_under(Path::new("/sys/devices/system"))
    }

    /// Reads a copy of `/sys/devices/system`, such as one collected on another machine.
    pub fn read_under(root: &Path) -> Result<Self> {
        let file = root.join("cpu/online");
        let online = text::list(&text::read(&file)?)
            .ok_or_else(|| Error::refused(format!("read {}", file.display()), "it is not a list of CPUs"))?;
        let nodes = nodes(root);
        let cpus = online.into_iter().map(|id| cpu(root, id, &nodes)).collect();
        Ok(Self { cpus, nodes, root: root.to_owned() })
    }

    /// One CPU, if it is online.
    #[must_use]
    pub fn cpu(&self, id: usize) -> Option<&CpuTopology> {
        self.cpus.iter().find(|cpu| cpu.id == id)
    }

    /// Caches of a CPU, innermost first; empty if the machine does not report them (many virtual ones).
    #[must_use]
    pub fn caches(&self, id: usize) -> Vec<Cache> {
        cache::read(&self.root.join(format!("cpu/cpu{id}/cache")))
    }

    /// Number of packages, cores and CPUs online. CPUs of unknown position count as one core each.
    #[must_use]
    pub fn counts(&self) -> (usize, usize, usize) {
        let mut packages: Vec<_> = self.cpus.iter().map(|cpu| cpu.package).collect();
        let mut cores: Vec<_> = self.cpus.iter().map(|cpu| cpu.siblings.first().copied()).collect();
        packages.sort_unstable();
        packages.dedup();
        cores.sort_unstable();
        cores.dedup();
        (packages.len(), cores.len(), self.cpus.len())
    }

    /// CPUs by class of core, in ascending order of the first CPU: by the capacity that the kernel gives them on Arm, by the lists of
    /// large and small cores on x86; one class where the machine tells neither.
    #[must_use]
    pub fn core_classes(&self, allowed: &[usize]) -> Vec<Vec<usize>> {
        let small = self.root.parent().and_then(|devices| text::list(&text::read(devices.join("cpu_atom/cpus")).ok()?));
        let small = small.unwrap_or_default();
        let class = |cpu: usize| {
            let capacity: Option<u64> = text::number(self.root.join(format!("cpu/cpu{cpu}/cpu_capacity"))).ok();
            (capacity, small.contains(&cpu))
        };
        let mut classes: Vec<((Option<u64>, bool), Vec<usize>)> = Vec::new();
        for cpu in allowed {
            let class = class(*cpu);
            match classes.iter_mut().find(|(known, _)| *known == class) {
                Some((_, cpus)) => cpus.push(*cpu),
                None => classes.push((class, vec![*cpu])),
            }
        }
        classes.into_iter().map(|(_, cpus)| cpus).collect()
    }
}

fn cpu(root: &Path, id: usize, nodes: &[(usize, Vec<usize>)]) -> CpuTopology {
    let place = root.join(format!("cpu/cpu{id}/topology"));
    let siblings = ["core_cpus_list", "thread_siblings_list"]
        .iter()
        .find_map(|name| text::list(&text::read(place.join(name)).ok()?))
        .filter(|list| list.contains(&id))
        .unwrap_or_else(|| vec![id]);
    CpuTopology {
        id,
        package: text::number(place.join("physical_package_id")).ok().filter(|&n: &i64| n >= 0),
        core: text::number(place.join("core_id")).ok().filter(|&n: &i64| n >= 0),
        node: nodes.iter().find(|(_, cpus)| cpus.contains(&id)).map(|(node, _)| *node),
        siblings,
    }
}

fn nodes(root: &Path) -> Vec<(usize, Vec<usize>)> {
    let mut nodes: Vec<(usize, Vec<usize>)> = fs::read_dir(root.join("node"))
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let number = entry.file_name().to_str()?.strip_prefix("node")?.parse().ok()?;
            Some((number, text::list(&text::read(entry.path().join("cpulist")).ok()?)?))
        })
        .collect();
    nodes.sort_unstable();
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(root: &Path, name: &str, value: &str) {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, value).unwrap();
    }

    #[test]
    fn a_machine_with_smt_and_two_packages() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        put(root, "cpu/online", "0-7\n");
        for id in 0..8 {
            put(root, &format!("cpu/cpu{id}/topology/physical_package_id"), &format!("{}\n", id / 4));
            put(root, &format!("cpu/cpu{id}/topology/core_id"), &format!("{}\n", id / 2 % 2));
            put(root, &format!("cpu/cpu{id}/topology/core_cpus_list"), &format!("{}-{}\n", id / 2 * 2, id / 2 * 2 + 1));
        }
        put(root, "node/node0/cpulist", "0-3\n");
        put(root, "node/node1/cpulist", "4-7\n");
        put(root, "cpu/cpu0/cache/index0/level", "1");
        put(root, "cpu/cpu0/cache/index0/type", "Data");
        put(root, "cpu/cpu0/cache/index0/size", "32K");
        put(root, "cpu/cpu0/cache/index0/coherency_line_size", "64");
        put(root, "cpu/cpu0/cache/index0/shared_cpu_list", "0-1");

        let machine = Topology::read_under(root).unwrap();
        assert_eq!(machine.counts(), (2, 4, 8));
        assert_eq!(machine.cpu(5).unwrap().node, Some(1));
        assert_eq!(machine.cpu(5).unwrap().siblings, [4, 5]);
        let caches = machine.caches(0);
        assert_eq!(caches.len(), 1);
        assert_eq!(
            (caches[0].kind, caches[0].bytes, caches[0].shared.as_slice()),
            (CacheKind::Data, Some(32 << 10), &[0, 1][..])
        );
        assert!(machine.caches(1).is_empty());
    }

    #[test]
    fn a_machine_that_tells_nothing_but_its_cpus() {
        let dir = tempfile::tempdir().unwrap();
        put(dir.path(), "cpu/online", "0,2");
        let machine = Topology::read_under(dir.path()).unwrap();
        assert_eq!(machine.counts(), (1, 2, 2));
        put(dir.path(), "cpu/online", "nonsense");
        assert!(Topology::read_under(dir.path()).is_err());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_machine_has_the_cpus_we_run_on() {
        let machine = Topology::read().unwrap();
        for cpu in crate::affinity::allowed().unwrap() {
            assert!(machine.cpu(cpu).is_some_and(|cpu| cpu.siblings.contains(&cpu.id)));
        }
    }
}
