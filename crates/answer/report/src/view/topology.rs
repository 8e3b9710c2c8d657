//! A machine as boxes: packages, nodes, caches and the cores in them.

use model::{CacheGroup, CacheKind, CpuSet, Topology, format_size};

use crate::words::{grouped, plural};
use crate::{Block, BoxPicture, BoxTree};

/// Caches of one level are drawn one by one up to so many.
const DRAWN: usize = 64;

/// The picture, and what is the same in many boxes and so stands beside it; nothing where nothing is known.
#[must_use]
pub fn topology(machine: &Topology) -> Vec<Block> {
    if machine.online.is_empty() {
        return Vec::new();
    }
    let about = "Packages, NUMA nodes, dies and shared caches, each with the cores in it.".to_owned();
    let mut blocks = vec![Block::Boxes(BoxPicture { about, tree: boxes(machine) })];
    let facts = beside(machine);
    if !facts.is_empty() {
        blocks.push(Block::Facts(facts));
    }
    blocks
}

/// Something that holds CPUs.
struct CpuHolder {
    cpus: CpuSet,
    /// Outer ones come first among those with the same CPUs.
    rank: u32,
    title: String,
}

fn boxes(machine: &Topology) -> BoxTree {
    let mut holders = holders(machine);
    holders.sort_by_key(|holder| (std::cmp::Reverse(holder.cpus.len()), holder.rank, holder.cpus.first()));
    let (packages, cores, threads) = machine.counts();
    let mut title = vec![plural(packages, "package"), plural(cores, "core")];
    if threads > cores {
        title.push(plural(threads, "hardware thread"));
    }
    let mut root = HeldBox::new(machine.online.clone(), title.join(", "));
    for holder in holders {
        root.insert(holder);
    }
    let mut tree = root.finish(machine);
    let alone = machine.nodes.iter().filter(|node| node.cpus.is_empty());
    tree.children.extend(alone.map(|node| BoxTree {
        title: node_title(node.number, node.bytes),
        lines: vec!["no CPUs".to_owned()],
        children: Vec::new(),
    }));
    tree
}

fn node_title(number: usize, bytes: Option<u64>) -> String {
    bytes.map_or_else(|| format!("node {number}"), |bytes| format!("node {number}, {}", about(bytes)))
}

/// A size of memory in the prefix that suits it, rounded: firmware keeps odd parts of it.
fn about(bytes: u64) -> String {
    let gib = bytes as f64 / f64::from(1 << 30);
    if gib >= 10.0 { format!("{gib:.0} GiB") } else { format!("{gib:.1} GiB") }
}

fn holders(machine: &Topology) -> Vec<CpuHolder> {
    let mut all: Vec<CpuHolder> = Vec::new();
    let mut add = |cpus: &CpuSet, rank: u32, title: String| all.push(CpuHolder { cpus: cpus.clone(), rank, title });
    for package in &machine.packages {
        add(&package.cpus, 0, format!("package {}", package.number));
    }
    for die in &machine.dies {
        add(&die.cpus, 1, format!("die {}", die.number));
    }
    for node in machine.nodes.iter().filter(|node| !node.cpus.is_empty()) {
        add(&node.cpus, 2, node_title(node.number, node.bytes));
    }
    for cache in machine.caches.iter().filter(|cache| cache.kind != CacheKind::Instruction) {
        let shared: Vec<&CpuSet> = cache.cpus.iter().filter(|set| is_shared(machine, set)).collect();
        for set in shared.iter().filter(|_| shared.len() <= DRAWN) {
            add(set, 100 - cache.level.min(90), cache_title(cache));
        }
    }
    all
}

/// Whether several cores are behind a cache.
fn is_shared(machine: &Topology, set: &CpuSet) -> bool {
    set.first().and_then(|cpu| machine.core(cpu)).is_none_or(|core| !set.is_within(core))
}

fn cache_title(cache: &CacheGroup) -> String {
    cache.bytes.map_or_else(|| cache.name(), |bytes| format!("{} {}", cache.name(), spaced(bytes)))
}

fn spaced(bytes: u64) -> String {
    let text = format_size(bytes);
    let unit = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    format!("{} {}", &text[..unit], &text[unit..])
}

struct HeldBox {
    cpus: CpuSet,
    title: String,
    children: Vec<HeldBox>,
}

impl HeldBox {
    fn new(cpus: CpuSet, title: String) -> Self {
        Self { cpus, title, children: Vec::new() }
    }

    /// Holders come from the largest to the smallest. Two with the same CPUs are one box; what would cut a box in two
    /// is left out, for boxes cannot show it.
    fn insert(&mut self, holder: CpuHolder) {
        if let Some(child) = self.children.iter_mut().find(|child| holder.cpus.is_within(&child.cpus)) {
            if child.cpus == holder.cpus && child.children.is_empty() {
                child.title = format!("{}, {}", child.title, holder.title);
            } else {
                child.insert(holder);
            }
        } else if self.children.iter().all(|child| child.cpus.and(&holder.cpus).is_empty()) {
            self.children.push(HeldBox::new(holder.cpus, holder.title));
        }
    }

    fn finish(mut self, machine: &Topology) -> BoxTree {
        self.children.sort_by_key(|child| child.cpus.first());
        let held: CpuSet = self.children.iter().flat_map(|child| child.cpus.iter()).collect();
        let lines = cores(machine, &self.cpus.without(&held));
        let children = self.children.into_iter().map(|child| child.finish(machine)).collect();
        BoxTree { title: self.title, lines, children }
    }
}

/// A line for the cores of each class and number of threads.
fn cores(machine: &Topology, cpus: &CpuSet) -> Vec<String> {
    let cores = machine.cores.iter().filter(|core| !core.and(cpus).is_empty());
    let mut groups = grouped(cores.flat_map(|core| {
        let kind = (core.first().map_or(0, |cpu| machine.class(cpu)), core.len());
        core.iter().map(move |cpu| (kind, cpu))
    }));
    groups.sort_unstable();
    let line = |((class, threads), all): ((usize, usize), Vec<usize>)| {
        let count = plural(all.len() / threads.max(1), "core");
        let name = machine.classes.get(class).filter(|_| machine.classes.len() > 1).map(|class| class.name.as_str());
        let name = name.filter(|name| !name.is_empty()).map(|name| format!(" ({name})")).unwrap_or_default();
        let each = if threads > 1 { format!(" x {threads}") } else { String::new() };
        let word = if all.len() == 1 { "CPU" } else { "CPUs" };
        format!("{count}{each}{name}: {word} {}", CpuSet::from(all.as_slice()))
    };
    groups.into_iter().map(line).collect()
}

fn beside(machine: &Topology) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    for class in &machine.classes {
        let Some(cpu) = class.cpus.first() else { continue };
        let own: Vec<String> = machine
            .caches(cpu)
            .filter(|(cache, shared)| cache.kind == CacheKind::Instruction || !is_shared(machine, shared))
            .map(|(cache, _)| cache_title(cache))
            .collect();
        let mut said = own;
        said.extend(class.clock.map(|hertz| format!("to {:.2} GHz", hertz * 1e-9)));
        said.extend(class.capacity.map(|capacity| format!("capacity {capacity}")));
        if !said.is_empty() {
            let name = if class.name.is_empty() { "core".to_owned() } else { format!("core ({})", class.name) };
            facts.push((format!("each {name}"), said.join(", ")));
        }
    }
    if machine.nodes.len() > 1 && machine.nodes.iter().all(|node| !node.distances.is_empty()) {
        for node in &machine.nodes {
            let row: Vec<String> = node.distances.iter().map(u32::to_string).collect();
            facts.push((format!("distances of node {}", node.number), row.join(" ")));
        }
    }
    if !machine.offline.is_empty() {
        facts.push(("switched off".to_owned(), format!("CPUs {}", machine.offline)));
    }
    if !machine.allowed.is_empty() && machine.allowed != machine.online {
        facts.push(("may be used".to_owned(), format!("CPUs {}", machine.allowed)));
    }
    facts
}

#[cfg(test)]
mod tests {
    use model::{CoreClass, CpuGroup, NumaNode};

    use super::*;

    fn set(text: &str) -> CpuSet {
        text.parse().unwrap()
    }

    fn cache(level: u32, bytes: u64, cpus: &[&str]) -> CacheGroup {
        let cpus = cpus.iter().map(|text| set(text)).collect();
        CacheGroup { level, kind: CacheKind::Unified, bytes: Some(bytes), line: None, ways: None, cpus }
    }

    /// Two packages of two caches of two cores of two threads.
    fn machine() -> Topology {
        Topology {
            online: set("0-15"),
            offline: set("16"),
            packages: [(0, "0-3,8-11"), (1, "4-7,12-15")]
                .map(|(number, cpus)| CpuGroup { number, cpus: set(cpus) })
                .into(),
            nodes: vec![
                NumaNode { number: 0, cpus: set("0-3,8-11"), bytes: Some(32 << 30), distances: vec![10, 32, 40] },
                NumaNode { number: 1, cpus: set("4-7,12-15"), bytes: Some(32 << 30), distances: vec![32, 10, 40] },
                NumaNode { number: 2, cpus: set(""), bytes: Some(16 << 30), distances: vec![40, 40, 10] },
            ],
            cores: (0..8).map(|cpu| set(&format!("{cpu},{}", cpu + 8))).collect(),
            caches: vec![
                cache(2, 1 << 20, &["0,8", "1,9", "2,10", "3,11", "4,12", "5,13", "6,14", "7,15"]),
                cache(3, 32 << 20, &["0-1,8-9", "2-3,10-11", "4-5,12-13", "6-7,14-15"]),
            ],
            classes: vec![CoreClass { cpus: set("0-15"), clock: Some(3.5e9), ..CoreClass::default() }],
            ..Topology::default()
        }
    }

    #[test]
    fn a_machine_of_two_packages_is_drawn() {
        let machine = machine();
        let drawn = boxes(&machine).drawn(80).join("\n");
        assert!(drawn.contains("2 packages, 8 cores, 16 hardware threads"), "{drawn}");
        assert!(drawn.contains("package 0, node 0, 32 GiB") && drawn.contains("node 2, 16 GiB"), "{drawn}");
        assert_eq!(drawn.matches("L3 32 MiB").count(), 4, "{drawn}");
        assert!(drawn.contains("2 cores x 2: CPUs 6-7,14-15") && !drawn.contains("L2"), "{drawn}");
        let facts = beside(&machine);
        assert!(facts.contains(&("each core".to_owned(), "L2 1 MiB, to 3.50 GHz".to_owned())), "{facts:?}");
        assert!(facts.contains(&("switched off".to_owned(), "CPUs 16".to_owned())), "{facts:?}");
        assert!(topology(&Topology::default()).is_empty());
    }

    #[test]
    fn five_hundred_cpus_fit_on_a_page() {
        let sets = |count: usize, each: usize| -> Vec<CpuSet> {
            (0..count).map(|at| (at * each..(at + 1) * each).collect()).collect()
        };
        let packages = sets(2, 256).into_iter().zip(0..).map(|(cpus, number)| CpuGroup { number, cpus }).collect();
        let groups = [(3, 16 << 20, 16), (2, 1 << 20, 2)];
        let caches =
            groups.map(|(level, bytes, each)| CacheGroup { cpus: sets(512 / each, each), ..cache(level, bytes, &[]) });
        let machine = Topology {
            online: set("0-511"),
            packages,
            cores: sets(256, 2),
            caches: caches.into(),
            classes: vec![CoreClass { cpus: set("0-511"), ..CoreClass::default() }],
            ..Topology::default()
        };
        let drawn = boxes(&machine).drawn(100);
        assert!(drawn.len() < 60 && drawn.iter().all(|line| line.chars().count() <= 100), "{}", drawn.join("\n"));
        assert_eq!(drawn.join("\n").matches("L3 16 MiB").count(), 32);
    }
}
