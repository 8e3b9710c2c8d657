//! How the CPUs of this machine hang together, and which of them a measurement takes.
//!
//! Sources: `/sys/devices/system/cpu`, `/sys/devices/system/node` (`Documentation/ABI/stable/sysfs-devices-system-cpu`
//! and `-node` of the Linux kernel), and `/sys/devices/cpu_core`, `cpu_atom` of hybrid processors.

mod cache;
mod class;
mod plan;

pub use plan::{CpuChoice, CpuRelation, plan, relation};

use std::path::Path;
use std::str::FromStr;

use kernels::{affinity, text};
use model::{CpuGroup, CpuSet, NumaNode, Topology};

use crate::error::{Error, Result};

const CPUS: &str = "sys/devices/system/cpu";
const NODES: &str = "sys/devices/system/node";

/// Reads this machine, and which of its CPUs this process may use.
pub fn read() -> Result<Topology> {
    let mut machine = read_under(Path::new("/"))?;
    machine.allowed = CpuSet::from(affinity::allowed()?.as_slice());
    Ok(machine)
}

/// Reads a tree that holds a copy of a machine's `/sys`, such as one collected elsewhere; what that machine's
/// processes may use is not in it.
pub fn read_under(root: &Path) -> Result<Topology> {
    let online = online_under(root)?;
    Ok(of_files(&online, &|name| text::read(root.join(name)).ok()))
}

/// CPUs that are online, from a tree that holds a copy of a machine's `/sys`.
pub fn online_under(root: &Path) -> Result<CpuSet> {
    let file = root.join(CPUS).join("online");
    let refused = |_| Error::refused(format!("read {}", file.display()), "it is not a list of CPUs");
    text::read(&file)?.parse().map_err(refused)
}

/// Contents of the files, by their names below the root, such as `sys/devices/system/cpu/cpu0/topology/core_id`.
#[must_use]
pub fn of_files(online: &CpuSet, read: &dyn Fn(&str) -> Option<String>) -> Topology {
    let files = SysFiles { read };
    let places: Vec<CpuPlace> = online.iter().map(|cpu| CpuPlace::read(&files, cpu)).collect();
    let packages = groups(&places, |place| place.package);
    Topology {
        offline: files.list(&format!("{CPUS}/present")).unwrap_or_default().without(online),
        dies: dies(&places, packages.len()),
        packages,
        nodes: nodes(&files, online),
        cores: cores(&places),
        caches: cache::read(&files, online),
        classes: class::read(&files, online),
        online: online.clone(),
        allowed: CpuSet::default(),
    }
}

/// The files of a machine, wherever they lie.
struct SysFiles<'a> {
    read: &'a dyn Fn(&str) -> Option<String>,
}

impl SysFiles<'_> {
    fn text(&self, name: &str) -> Option<String> {
        Some((self.read)(name)?.trim().to_owned())
    }

    fn number<T: FromStr>(&self, name: &str) -> Option<T> {
        self.text(name)?.parse().ok()
    }

    fn list(&self, name: &str) -> Option<CpuSet> {
        self.number(name)
    }
}

/// Position of a CPU, from its files.
struct CpuPlace {
    cpu: usize,
    package: Option<i64>,
    die: Option<i64>,
    /// The threads of its core, itself included.
    core: CpuSet,
}

impl CpuPlace {
    fn read(files: &SysFiles, cpu: usize) -> Self {
        let name = |name: &str| format!("{CPUS}/cpu{cpu}/topology/{name}");
        let number = |what: &str| files.number(&name(what)).filter(|&n: &i64| n >= 0);
        let core = ["core_cpus_list", "thread_siblings_list"].iter().find_map(|list| files.list(&name(list)));
        let alone = || CpuSet::from([cpu].as_slice());
        Self {
            cpu,
            package: number("physical_package_id"),
            die: number("die_id"),
            core: core.filter(|core| core.contains(cpu)).unwrap_or_else(alone),
        }
    }
}

/// CPUs of one number together, by rising number; those without one are left out.
fn groups(places: &[CpuPlace], number: impl Fn(&CpuPlace) -> Option<i64>) -> Vec<CpuGroup> {
    let mut numbers: Vec<i64> = places.iter().filter_map(&number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let of = |wanted: i64| places.iter().filter(|place| number(place) == Some(wanted)).map(|place| place.cpu).collect();
    numbers.into_iter().map(|number| CpuGroup { number, cpus: of(number) }).collect()
}

/// Dies of packages that have several.
fn dies(places: &[CpuPlace], packages: usize) -> Vec<CpuGroup> {
    let mut pairs: Vec<(i64, i64)> = places.iter().filter_map(|place| Some((place.package?, place.die?))).collect();
    pairs.sort_unstable();
    pairs.dedup();
    if pairs.len() <= packages {
        return Vec::new();
    }
    let of = |(package, die): (i64, i64)| CpuGroup {
        number: die,
        cpus: places
            .iter()
            .filter(|place| (place.package, place.die) == (Some(package), Some(die)))
            .map(|place| place.cpu)
            .collect(),
    };
    pairs.into_iter().map(of).collect()
}

/// The threads of each core, by their first CPU. Lists that contradict each other put a CPU where it came first.
fn cores(places: &[CpuPlace]) -> Vec<CpuSet> {
    let online: CpuSet = places.iter().map(|place| place.cpu).collect();
    let mut taken = CpuSet::default();
    let mut cores = Vec::new();
    for place in places.iter() {
        if !taken.contains(place.cpu) {
            let core = place.core.and(&online).without(&taken);
            taken = taken.iter().chain(core.iter()).collect();
            cores.push(core);
        }
    }
    cores
}

fn nodes(files: &SysFiles, online: &CpuSet) -> Vec<NumaNode> {
    let numbers = files.list(&format!("{NODES}/online")).unwrap_or_default();
    let node = |number: usize| {
        let name = |name: &str| format!("{NODES}/node{number}/{name}");
        let words = files.text(&name("distance")).unwrap_or_default();
        Some(NumaNode {
            number,
            cpus: files.list(&name("cpulist"))?.and(online),
            bytes: files.text(&name("meminfo")).and_then(|info| bytes(&info)),
            distances: words.split_whitespace().filter_map(|word| word.parse().ok()).collect(),
        })
    };
    numbers.iter().filter_map(node).collect()
}

/// `Node 0 MemTotal:       32658432 kB`, among other lines.
fn bytes(info: &str) -> Option<u64> {
    let line = info.lines().find(|line| line.contains("MemTotal:"))?;
    let kib: u64 = line.split_whitespace().rev().nth(1)?.parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_tells_nothing_but_its_cpus() {
        let dir = tempfile::tempdir().unwrap();
        let put = |text: &str| {
            let file = dir.path().join("sys/devices/system/cpu/online");
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        };
        put("0,2\n");
        let machine = read_under(dir.path()).unwrap();
        assert_eq!(machine, Topology::unknown(&[0, 2]));
        put("nonsense");
        assert!(read_under(dir.path()).is_err());
    }

    #[test]
    fn memory_of_a_node_is_read_from_its_table() {
        assert_eq!(bytes("Node 0 MemTotal:       1024 kB\nNode 0 MemFree: 3 kB\n"), Some(1 << 20));
        assert_eq!(bytes("Node 0 MemFree: 3 kB\n"), None);
    }

    #[test]
    fn this_machine_has_the_cpus_we_run_on() {
        let machine = read().unwrap();
        assert!(!machine.allowed.is_empty() && machine.allowed.is_within(&machine.online));
        for cpu in machine.allowed.iter() {
            assert!(machine.core(cpu).is_some() && machine.class(cpu) < machine.classes.len());
        }
        assert_eq!(machine.cores.iter().map(CpuSet::len).sum::<usize>(), machine.online.len());
    }
}
