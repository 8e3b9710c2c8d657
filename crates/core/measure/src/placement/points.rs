//! The sets of parameters that a request means on this machine: its nodes, its counts of threads, its pairs of CPUs.

use benchmarks::EACH;
use model::{ANY_CROSSING, CpuSet, NumaNode, Parameters, PlanEntry, Topology};
use os::topology::{CpuChoice, CpuRelation, plan, relation};

/// Most cores for measuring every pair.
const MOST_CORES: usize = 64;

/// Expands parameters over NUMA nodes to all pairs of nodes that have the CPUs and the memory for it; unchanged on a
/// machine of one node.
fn node_pairs(parameters: &Parameters, machine: &Topology, allowed: &CpuSet, all: bool) -> Vec<Parameters> {
    let numbers = |parameter: &str, fits: &dyn Fn(&NumaNode) -> bool| -> Vec<String> {
        match parameters.get(parameter) {
            Some(word) if word == EACH || all => {
                machine.nodes.iter().filter(|node| fits(node)).map(|node| node.number.to_string()).collect()
            }
            Some(word) => vec![word.to_owned()],
            None => Vec::new(),
        }
    };
    if machine.nodes.len() < 2 {
        return vec![parameters.clone()];
    }
    let from = numbers("cpu_node", &|node| !node.cpus.and(allowed).is_empty());
    let memory = numbers("memory_node", &|node| node.bytes != Some(0));
    let pair = |cpu: &String| memory.iter().map(move |memory| (cpu.clone(), memory.clone())).collect::<Vec<_>>();
    let pairs = from.iter().flat_map(pair);
    pairs.map(|(cpu, memory)| parameters.clone().with("cpu_node", cpu).with("memory_node", memory)).collect()
}

/// Expands parameters over accelerators: `api=any` is the first way that has devices, `device=each` each of them. A
/// machine without any keeps NVIDIA's first, of which the result says why it is not measured.
fn devices(parameters: &Parameters, present: Option<(gpu::Api, usize)>, all: bool) -> Vec<Parameters> {
    let api = match (parameters.get("api").and_then(gpu::Api::named), present) {
        (Some(named), _) => named,
        (None, Some((found, _))) => found,
        (None, None) => gpu::Api::Cuda,
    };
    let count = present.filter(|(found, _)| *found == api).map_or_else(|| api.count().unwrap_or(1), |(_, count)| count);
    let numbers = match parameters.get("device") {
        Some(word) if word != EACH && !all => vec![word.to_owned()],
        _ => (0..count).map(|number| number.to_string()).collect(),
    };
    let at = |number: String| parameters.clone().with("api", api.name()).with("device", number);
    numbers.into_iter().map(at).collect()
}

/// One CPU of every core, or of evenly spread cores if there are too many.
fn some_cores(machine: &Topology, allowed: &CpuSet) -> Vec<usize> {
    let mut cores = plan(machine, allowed, CpuChoice::AllCores).unwrap_or_default();
    cores.sort_unstable();
    if cores.len() <= MOST_CORES {
        cores
    } else {
        (0..MOST_CORES).map(|at| cores[at * cores.len() / MOST_CORES]).collect()
    }
}

/// Expands parameters over cores to all pairs. Each pair has the relation of its CPUs, because results of different
/// relations are not comparable.
fn core_pairs(parameters: &Parameters, machine: &Topology, allowed: &CpuSet, all: bool) -> Vec<Parameters> {
    let each = |parameter: &str| all || parameters.get(parameter) == Some(EACH);
    let numbers = |parameter: &str| match parameters.get(parameter).and_then(|word| word.parse().ok()) {
        Some(cpu) if !each(parameter) => vec![cpu],
        _ => some_cores(machine, allowed),
    };
    let (ones, others) = (numbers("cpu"), numbers("other"));
    // A line goes both ways in every operation: a pair is one result.
    let counts = |one: usize, other: usize| if each("cpu") && each("other") { one < other } else { one != other };
    let pairs = ones.iter().flat_map(|one| others.iter().map(move |other| (*one, *other)));
    let at = |(one, other): (usize, usize)| {
        let named = parameters.clone().with("cpu", one.to_string()).with("other", other.to_string());
        match relation(machine, one, other) {
            Some(found) if parameters.get("relation") == Some(ANY_CROSSING) => named.with("relation", found.name()),
            _ => named,
        }
    };
    pairs.filter(|(one, other)| counts(*one, *other)).map(at).collect()
}

/// The two nearest different CPUs; two threads of one core only on a machine of one core.
pub(super) fn nearest(machine: &Topology, allowed: &CpuSet) -> Option<(CpuRelation, Vec<usize>)> {
    let relations = CpuRelation::OF_CORES.into_iter().chain([CpuRelation::Sibling]);
    relations.filter_map(|relation| Some((relation, plan(machine, allowed, CpuChoice::Pair(relation)).ok()?))).next()
}

/// The thread counts of a curve: doubling to all cores, then to all hardware threads. With several last-level caches
/// also spread far apart.
fn thread_counts(machine: &Topology, allowed: &CpuSet) -> Vec<String> {
    let cores = plan(machine, allowed, CpuChoice::AllCores).map_or(1, |cores| cores.len());
    let doubling = || std::iter::successors(Some(1_usize), |count| count.checked_mul(2));
    let mut counts: Vec<String> =
        doubling().take_while(|count| *count < cores).map(|count| count.to_string()).collect();
    let threads = allowed.len();
    if cores == threads {
        // One thread a core is every thread, and has always been called so.
        counts.push(if cores == 1 { "1" } else { "all" }.to_owned());
    } else {
        counts.push(if cores == 1 { "1" } else { "cores" }.to_owned());
        counts.extend(
            doubling().skip_while(|count| *count <= cores).take_while(|count| *count < threads).map(|c| c.to_string()),
        );
        counts.push("all".to_owned());
    }
    let apart = plan(machine, allowed, CpuChoice::Scatter(2)).ok();
    let apart = apart.and_then(|pair| relation(machine, *pair.first()?, *pair.get(1)?));
    let shared = machine
        .caches
        .iter()
        .any(|cache| cache.level > 1 && cache.cpus.iter().any(|set| set.len() > threads.div_ceil(cores)));
    let several =
        |relation: CpuRelation| relation > CpuRelation::SameNode || (relation == CpuRelation::SameNode && shared);
    if apart.is_some_and(several) {
        let few = doubling().skip(1).take_while(|count| *count < cores);
        counts.extend(few.map(|count| format!("{count}_scatter")));
    }
    counts
}

/// The sets of parameters of a result on this machine; `all` takes every one that the machine has, whatever the
/// request.
pub(super) fn points(entry: &PlanEntry, machine: &Topology, allowed: &CpuSet, all: bool) -> Vec<Parameters> {
    if entry.parameters.get("api").is_some() && entry.parameters.get("device").is_some() {
        return devices(&entry.parameters, gpu::present(), all);
    }
    if entry.parameters.get("memory_node").is_some() {
        let pairs = node_pairs(&entry.parameters, machine, allowed, all);
        return if pairs.is_empty() { vec![entry.parameters.clone()] } else { pairs };
    }
    if entry.parameters.get("other").is_some() {
        let pairs = core_pairs(&entry.parameters, machine, allowed, all);
        return if pairs.is_empty() { vec![entry.parameters.clone()] } else { pairs };
    }
    if entry.parameters.get("cpu").is_some_and(|word| all || word == EACH) {
        let cores = some_cores(machine, allowed).into_iter();
        return cores.map(|cpu| entry.parameters.clone().with("cpu", cpu.to_string())).collect();
    }
    if entry.parameters.get("threads") == Some(EACH) {
        let counts = thread_counts(machine, allowed).into_iter();
        return counts.map(|count| entry.parameters.clone().with("threads", count)).collect();
    }
    // Other commands have placements of their own, such as the two ends of a connection.
    let ours = benchmarks::find(&entry.benchmark).is_some();
    if !ours || entry.parameters.get("placement") != Some(ANY_CROSSING) {
        return vec![entry.parameters.clone()];
    }
    let with = |relation: CpuRelation| entry.parameters.clone().with("placement", relation.name());
    let relations = CpuRelation::OF_CORES.into_iter().chain([CpuRelation::Sibling]);
    let points: Vec<Parameters> = if all {
        relations.filter(|relation| plan(machine, allowed, CpuChoice::Pair(*relation)).is_ok()).map(with).collect()
    } else {
        nearest(machine, allowed).map(|(relation, _)| with(relation)).into_iter().collect()
    };
    if points.is_empty() { vec![entry.parameters.clone()] } else { points }
}

#[cfg(test)]
mod tests {
    use benchmarks::{Benchmark, Parties};
    use model::Plan;

    use super::super::{place, refuse_more_threads_than_cpus, resolve};
    use super::*;
    use crate::sizing;

    fn machine(name: &str) -> Topology {
        let recorded = testing::machine::RecordedMachine::named(name);
        os::topology::of_files(&recorded.online.parse().unwrap(), &|file| recorded.read(file))
    }

    fn at(text: &str) -> Parameters {
        text.parse().unwrap()
    }

    fn benchmark(parties: Parties) -> Benchmark {
        Benchmark { parties, ..Benchmark::BLANK }
    }

    #[test]
    fn every_pair_of_nodes_is_measured_and_one_node_says_so() {
        let entry = PlanEntry {
            benchmark: "memory.node_latency".to_owned(),
            parameters: at("cpu_node=each,memory_node=each,working_set=64MiB"),
            target: 0.02,
            shares: None,
        };
        let resolved = |machine: &Topology, allowed: &CpuSet| {
            let mut plan = Plan { suite: "numa".to_owned(), entries: vec![entry.clone()], ..Plan::default() };
            resolve(&mut plan, machine, allowed.as_slice(), sizing::UNKNOWN);
            plan.entries.into_iter().map(|entry| entry.parameters).collect::<Vec<_>>()
        };
        let sparse = machine("amd48-sparse");
        let all = resolved(&sparse, &sparse.online);
        assert_eq!((all.len(), all[63].to_string().as_str()), (64, "cpu_node=73,memory_node=73,working_set=64MiB"));
        assert_eq!(resolved(&sparse, &"0-5".parse().unwrap()).len(), 8, "from the node whose CPUs may be used");
        let benchmark = benchmark(Parties::CoresOfNode);
        let of = |parameters: &str| place(&benchmark, &at(parameters), &sparse, sparse.online.as_slice());
        assert_eq!(of("cpu_node=33,memory_node=0"), Ok(vec![23, 22, 21, 20, 19, 18]));
        assert!(of("cpu_node=3,memory_node=0").unwrap_err().contains("no NUMA node 3"));
        let two = machine("guest-2");
        assert_eq!(resolved(&two, &two.online), std::slice::from_ref(&entry.parameters));
        let one = place(&benchmark, &entry.parameters, &two, two.online.as_slice());
        assert_eq!(one, Err("the machine has one NUMA node".to_owned()));
    }

    #[test]
    fn a_curve_has_the_counts_that_the_machine_has() {
        let counts = |name: &str| {
            let machine = machine(name);
            thread_counts(&machine, &machine.online).join(" ")
        };
        assert_eq!(counts("guest-2"), "1 all");
        assert_eq!(counts("i7-1370p"), "1 2 4 8 cores 16 all");
        assert_eq!(
            counts("epyc-7451"),
            "1 2 4 8 16 32 cores 64 all 2_scatter 4_scatter 8_scatter 16_scatter 32_scatter"
        );
        assert_eq!(counts("altra-q80"), "1 2 4 8 16 32 64 all", "nothing to spread over");
        let one = machine("container-1");
        assert_eq!(thread_counts(&one, &"0".parse().unwrap()), ["1"]);
        let epyc = machine("epyc-7451");
        let at = |parameters: &str| {
            place(&benchmark(Parties::Threads), &at(parameters), &epyc, epyc.online.as_slice()).unwrap()
        };
        assert_eq!(at("threads=4"), [95, 94, 93, 92], "one cache, then the next of its node");
        let apart = CpuSet::from(at("threads=8_scatter").as_slice());
        assert!(epyc.nodes.iter().all(|node| node.cpus.and(&apart).len() == 1), "one on each node: {apart}");
        assert_eq!(CpuSet::from(at("threads=64").as_slice()).and(&"48-95".parse().unwrap()).len(), 48, "cores first");
    }
    #[test]
    fn every_pair_of_cores_is_measured_once_and_many_are_sampled() {
        let resolved = |name: &str, suite: &str, parameters: &str| {
            let machine = machine(name);
            let (benchmark, shares) = ("memory.core_pair".to_owned(), None);
            let entry = PlanEntry { benchmark, parameters: at(parameters), target: 0.02, shares };
            let mut plan = Plan { suite: suite.to_owned(), entries: vec![entry], ..Plan::default() };
            resolve(&mut plan, &machine, machine.online.as_slice(), sizing::UNKNOWN);
            plan.entries.into_iter().map(|entry| entry.parameters.to_string()).collect::<Vec<_>>()
        };
        let each = "cpu=each,other=each,relation=cross_cpu";
        assert_eq!(resolved("guest-2", "cores", each), ["cpu=0,other=1,relation=same_cache"]);
        assert_eq!(resolved("guest-2", "full", "cpu=0,other=1,relation=cross_cpu").len(), 1);
        let epyc = resolved("epyc-7451", "cores", each);
        assert_eq!(epyc.len(), 48 * 47 / 2);
        let of = |relation: &str| epyc.iter().filter(|parameters| parameters.ends_with(relation)).count();
        assert_eq!([of("same_cache"), of("sibling")], [48, 0], "16 caches of 3 cores");
        assert_eq!(of("same_cache") + of("same_node") + of("other_node") + of("other_package"), epyc.len());
        let spr = resolved("spr-snc4", "cores", each);
        assert_eq!(spr.len(), 64 * 63 / 2, "a sample of 112 cores");
        let row = resolved("spr-snc4", "benchmarks", "cpu=3,other=each,relation=cross_cpu");
        assert!(row.len() >= 63 && row.iter().all(|parameters| parameters.starts_with("cpu=3,")), "{row:?}");
        let entry =
            PlanEntry { benchmark: "memory.core_pair".to_owned(), parameters: at(each), target: 0.02, shares: None };
        let mut plan = Plan { suite: "cores".to_owned(), entries: vec![entry], ..Plan::default() };
        resolve(&mut plan, &Topology::unknown(&[0]), &[0], sizing::UNKNOWN);
        assert_eq!(plan.entries[0].parameters, at(each), "nothing to pair");
        let benchmark = benchmark(Parties::NamedPair);
        let spr = machine("spr-snc4");
        let place = |parameters: &str| place(&benchmark, &at(parameters), &spr, spr.online.as_slice());
        assert_eq!(place("cpu=3,other=60,relation=other_package"), Ok(vec![3, 60]));
        assert_eq!(
            place("cpu=3,other=60,relation=sibling").unwrap_err(),
            "CPUs 3 and 60 are other_package, not sibling"
        );
        assert!(place("cpu=3,other=900").unwrap_err().contains("CPU 900 is not there"));
        assert!(place(each).unwrap_err().contains("two cores"));
    }

    #[test]
    fn more_threads_than_cpus_are_refused_by_name() {
        let parameters = |parameters: &str| PlanEntry {
            benchmark: "memory.read".to_owned(),
            parameters: at(parameters),
            target: 0.02,
            shares: None,
        };
        let two = [0, 1];
        assert!(refuse_more_threads_than_cpus(&[parameters("threads=all"), parameters("threads=2")], &two).is_ok());
        let refused = refuse_more_threads_than_cpus(&[parameters("threads=9_scatter")], &two).unwrap_err().to_string();
        assert!(refused.contains("threads=9_scatter: 2 CPUs may be used here"), "{refused}");
    }
}
