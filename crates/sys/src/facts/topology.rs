//! Numbers of CPUs, cores, packages and nodes, and the caches that the system reports.

use model::Primitive;

use crate::facts::collector::{Collector, Found};
use crate::topology::{Cache, CacheKind, Topology};

const CPUS: &str = "/sys/devices/system/cpu";

pub(super) fn collect(facts: &mut Collector) {
    let machine = Topology::read_under(&facts.path("/sys/devices/system"));
    let counts = machine.as_ref().map(Topology::counts).map_err(|_| format!("there is no {CPUS}/online"));
    let online = format!("{CPUS}/online");
    facts.number("cpu.online", counts.clone().map(|(_, _, cpus)| cpus as f64), "1", online, &[]);
    let source = format!("{CPUS}/cpu*/topology");
    facts.number("cpu.cores", counts.clone().map(|(_, cores, _)| cores as f64), "1", source.clone(), &[]);
    facts.number("cpu.packages", counts.clone().map(|(packages, _, _)| packages as f64), "1", source, &[]);
    let smt = counts.map(|(_, cores, cpus)| cpus > cores);
    facts.truth(
        "cpu.smt",
        smt,
        format!("{CPUS}/cpu*/topology/core_cpus_list"),
        &[Primitive::IntegerAlu, Primitive::L1],
    );
    facts.file_cpus("cpu.isolated", &format!("{CPUS}/isolated"), &[]);
    numa(facts, machine.as_ref().ok());
    match machine {
        Ok(machine) => caches(facts, &machine),
        Err(_) => facts.number("cache.levels", Err(format!("there is no {CPUS}/online")), "1", CPUS, &[]),
    }
}

fn numa(facts: &mut Collector, machine: Option<&Topology>) {
    let source = "/sys/devices/system/node";
    let nodes: Found<f64> = match machine.map(|machine| machine.nodes.len()) {
        Some(count) if count > 0 => Ok(count as f64),
        _ => Err("the kernel has no NUMA support or does not show it".to_owned()),
    };
    let affects = [Primitive::DramLatency, Primitive::DramRead, Primitive::DramWrite, Primitive::CoreToCore];
    facts.number("memory.nodes", nodes, "1", source, &affects);
    if let Some(machine) = machine.filter(|machine| machine.nodes.len() > 1) {
        let distances: Vec<String> = machine
            .nodes
            .iter()
            .filter_map(|(node, _)| facts.read(&format!("{source}/node{node}/distance")).ok())
            .collect();
        facts.words("memory.node_distances", Ok(distances.join("; ")), format!("{source}/node*/distance"), &affects);
    }
    let balancing = "/proc/sys/kernel/numa_balancing";
    facts.file("memory.numa_balancing", balancing, &[Primitive::PageFault, Primitive::DramLatency]);
}

fn caches(facts: &mut Collector, machine: &Topology) {
    let first = machine.cpus.first().map_or(0, |cpu| cpu.id);
    let found = machine.caches(first);
    let source = format!("{CPUS}/cpu{first}/cache");
    let levels = found.iter().map(|cache| cache.level).max();
    let levels = levels.map(f64::from).ok_or_else(|| "the machine does not report its caches".to_owned());
    facts.number("cache.levels", levels, "1", source.clone(), &[]);
    for cache in found {
        one(facts, &cache, &source);
    }
}

fn one(facts: &mut Collector, cache: &Cache, source: &str) {
    let kind = match cache.kind {
        CacheKind::Data => "d",
        CacheKind::Instruction => "i",
        CacheKind::Unified => "",
    };
    let name = |what: &str| format!("cache.l{}{kind}.{what}", cache.level);
    let affects = match cache.level {
        1 => [Primitive::L1, Primitive::CacheLatency],
        2 => [Primitive::L2, Primitive::CacheLatency],
        _ => [Primitive::L3, Primitive::CacheLatency],
    };
    let told = |value: Option<f64>| value.ok_or_else(|| "the machine does not report it".to_owned());
    facts.number(name("size"), told(cache.bytes.map(|bytes| bytes as f64)), "B", source, &affects);
    facts.number(name("line"), told(cache.line.map(f64::from)), "B", source, &affects);
    facts.number(name("ways"), told(cache.ways.map(f64::from)), "1", source, &affects);
    let shared = (!cache.shared.is_empty()).then_some(cache.shared.len() as f64);
    facts.number(name("cpus"), told(shared), "1", source, &affects);
}
