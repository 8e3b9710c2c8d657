//! Counts of CPUs, cores, packages and nodes, the classes of cores, and the caches that the system reports.

use kernels::affinity;
use model::{CacheGroup, CpuSet, FactValue, Primitive, Topology};

use crate::facts::collector::{Collector, Found};
use crate::topology;

const CPUS: &str = "/sys/devices/system/cpu";
const NODES: &str = "/sys/devices/system/node";

/// The facts, and the whole that they summarise.
pub(super) fn collect(facts: &mut Collector) -> Option<Topology> {
    let mut machine = topology::read_under(&facts.path("/")).ok();
    if let Some(machine) = machine.as_mut().filter(|_| facts.is_here()) {
        machine.allowed = affinity::allowed().map(|cpus| CpuSet::from(cpus.as_slice())).unwrap_or_default();
    }
    counts(facts, machine.as_ref());
    classes(facts, machine.as_ref());
    numa(facts, machine.as_ref());
    match &machine {
        Some(machine) => caches(facts, machine),
        None => facts.number("cache.levels", Err(format!("there is no {CPUS}/online")), "1", CPUS, &[]),
    }
    machine
}

fn counts(facts: &mut Collector, machine: Option<&Topology>) {
    let counts = machine.map(Topology::counts).ok_or_else(|| format!("there is no {CPUS}/online"));
    let online = format!("{CPUS}/online");
    facts.number("cpu.online", counts.clone().map(|(_, _, cpus)| cpus as f64), "1", online, &[]);
    if let Some(offline) = machine.map(|machine| &machine.offline).filter(|offline| !offline.is_empty()) {
        facts.words("cpu.offline", Ok(offline.to_string()), format!("{CPUS}/present and online"), &[]);
    }
    let source = format!("{CPUS}/cpu*/topology");
    facts.number("cpu.cores", counts.clone().map(|(_, cores, _)| cores as f64), "1", source.clone(), &[]);
    facts.number("cpu.packages", counts.clone().map(|(packages, _, _)| packages as f64), "1", source.clone(), &[]);
    if let Some(dies) = machine.map(|machine| machine.dies.len()).filter(|dies| *dies > 0) {
        facts.number("cpu.dies", Ok(dies as f64), "1", source, &[]);
    }
    let smt = counts.map(|(_, cores, cpus)| cpus > cores);
    facts.truth(
        "cpu.smt",
        smt,
        format!("{CPUS}/cpu*/topology/core_cpus_list"),
        &[Primitive::IntegerAlu, Primitive::L1],
    );
    facts.file_cpus("cpu.isolated", &format!("{CPUS}/isolated"), &[]);
}

/// Said only where cores differ: all others are of one class.
fn classes(facts: &mut Collector, machine: Option<&Topology>) {
    let Some(machine) = machine.filter(|machine| machine.classes.len() > 1) else { return };
    let words = machine.classes.iter().map(|class| {
        let name = if class.name.is_empty() { "cores" } else { &class.name };
        let capacity = class.capacity.map(|capacity| format!(", capacity {capacity}")).unwrap_or_default();
        let clock = class.clock.map(|hertz| format!(", to {:.2} GHz", hertz * 1e-9)).unwrap_or_default();
        format!("{name}: CPUs {}{capacity}{clock}", class.cpus)
    });
    let source = format!("{CPUS}/cpu*/cpu_capacity, midr_el1 and cpufreq; /sys/devices/cpu_*/cpus");
    let affects = [Primitive::CoreClock, Primitive::IntegerAlu, Primitive::FloatingPoint];
    facts.add("cpu.classes", Ok(FactValue::List(words.collect())), None, source, &affects);
}

fn numa(facts: &mut Collector, machine: Option<&Topology>) {
    let nodes: Found<f64> = match machine.map(|machine| machine.nodes.len()) {
        Some(count) if count > 0 => Ok(count as f64),
        _ => Err("the kernel has no NUMA support or does not show it".to_owned()),
    };
    let affects = [Primitive::DramLatency, Primitive::DramRead, Primitive::DramWrite, Primitive::CoreToCore];
    facts.number("memory.nodes", nodes, "1", NODES, &affects);
    if let Some(machine) = machine.filter(|machine| machine.nodes.len() > 1) {
        let row = |row: &[u32]| row.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
        let rows: Vec<String> = machine.nodes.iter().map(|node| row(&node.distances)).collect();
        facts.words("memory.node_distances", Ok(rows.join("; ")), format!("{NODES}/node*/distance"), &affects);
        let size = |bytes: Option<u64>| bytes.map_or_else(|| "unknown".to_owned(), |b| format!("{} MiB", b >> 20));
        let sizes = machine.nodes.iter().map(|node| format!("{}: {}", node.number, size(node.bytes))).collect();
        let source = format!("{NODES}/node*/meminfo");
        facts.add("memory.node_sizes", Ok(FactValue::List(sizes)), None, source, &affects);
    }
    let balancing = "/proc/sys/kernel/numa_balancing";
    facts.file("memory.numa_balancing", balancing, &[Primitive::PageFault, Primitive::DramLatency]);
}

fn caches(facts: &mut Collector, machine: &Topology) {
    let first = machine.online.first().unwrap_or(0);
    let source = format!("{CPUS}/cpu{first}/cache");
    let levels = machine.caches(first).map(|(cache, _)| cache.level).max();
    let levels = levels.map(f64::from).ok_or_else(|| "the machine does not report its caches".to_owned());
    facts.number("cache.levels", levels, "1", source.clone(), &[]);
    for (cache, shared) in machine.caches(first) {
        one(facts, cache, shared, &source);
    }
    if let Some(sum) = machine.last_level_bytes(&machine.online) {
        let source = format!("{CPUS}/cpu*/cache");
        facts.number("cache.last_level.total", Ok(sum as f64), "B", source, &[Primitive::L3]);
    }
}

fn one(facts: &mut Collector, cache: &CacheGroup, shared: &CpuSet, source: &str) {
    let name = |what: &str| format!("cache.{}.{what}", cache.name().to_ascii_lowercase());
    let affects = match cache.level {
        1 => [Primitive::L1, Primitive::CacheLatency],
        2 => [Primitive::L2, Primitive::CacheLatency],
        _ => [Primitive::L3, Primitive::CacheLatency],
    };
    let told = |value: Option<f64>| value.ok_or_else(|| "the machine does not report it".to_owned());
    facts.number(name("size"), told(cache.bytes.map(|bytes| bytes as f64)), "B", source, &affects);
    facts.number(name("line"), told(cache.line.map(f64::from)), "B", source, &affects);
    facts.number(name("ways"), told(cache.ways.map(f64::from)), "1", source, &affects);
    facts.number(name("cpus"), Ok(shared.len() as f64), "1", source, &affects);
}
