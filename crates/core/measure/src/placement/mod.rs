//! Placement of the parties of a benchmark on CPUs.

mod points;

use benchmarks::{Benchmark, Parties, ThreadCount};
use model::{ANY_CROSSING, CpuSet, Parameters, Plan, PlanEntry, Topology};
use os::topology::{CpuChoice, plan, relation};

use self::points::{nearest, points};
use crate::{Error, sizing};

/// More parties than any benchmark has: each finds its own CPU in a list of this length.
const PARTIES: usize = 64;
/// The suite that measures every set of parameters of every parameter.
const EVERYTHING: &str = "full";

/// A CPU for each party of a benchmark at a set of parameters, from the allowed CPUs; empty leaves the scheduler free.
///
/// One party runs on one core of the fastest class. Of equal cores it takes the last, because interrupts usually go to
/// the first.
///
/// # Errors
/// When the machine has no such CPUs, as a clause that follows "not measured: ".
pub fn place(
    benchmark: &Benchmark,
    parameters: &Parameters,
    machine: &Topology,
    allowed: &[usize],
) -> Result<Vec<usize>, String> {
    let allowed = CpuSet::from(allowed);
    let of = |choice| plan(machine, &allowed, choice);
    match benchmark.parties {
        Parties::One => of(CpuChoice::OneCore),
        Parties::Threads => {
            let threads = parameters.get("threads").and_then(|word| word.parse().ok()).unwrap_or(ThreadCount::One);
            of(match threads {
                ThreadCount::One => CpuChoice::OneCore,
                ThreadCount::Cores => CpuChoice::AllCores,
                ThreadCount::All => CpuChoice::AllThreads,
                ThreadCount::Compact(count) => CpuChoice::Compact(count),
                ThreadCount::Scatter(count) => CpuChoice::Scatter(count),
            })
        }
        Parties::Placed => match parameters.get("placement") {
            Some(ANY_CROSSING) => {
                let nearest = nearest(machine, &allowed);
                nearest.map(|(_, pair)| interleaved(&pair)).ok_or_else(|| needed(&allowed))
            }
            Some(word) => match word.parse() {
                Ok(relation) => of(CpuChoice::Pair(relation)).map(|pair| interleaved(&pair)),
                Err(()) => Ok(Vec::new()),
            },
            None => Ok(Vec::new()),
        },
        Parties::OnNode => plan(machine, &on_node(parameters, machine, &allowed)?, CpuChoice::OneCore),
        Parties::CoresOfNode => plan(machine, &on_node(parameters, machine, &allowed)?, CpuChoice::AllCores),
        Parties::NamedPair => named_pair(parameters, machine, &allowed),
        Parties::Named => match parameters.get("cpu").and_then(|word| word.parse().ok()) {
            Some(cpu) if allowed.contains(cpu) => Ok(vec![cpu]),
            _ => Err("the CPU is not there, or may not be used".to_owned()),
        },
    }
}

/// The two CPUs that a set of parameters names, if they have the relation that it names.
fn named_pair(parameters: &Parameters, machine: &Topology, allowed: &CpuSet) -> Result<Vec<usize>, String> {
    let named = |parameter: &str| parameters.get(parameter).and_then(|word| word.parse::<usize>().ok());
    let (Some(one), Some(other)) = (named("cpu"), named("other")) else {
        return Err("two cores are needed and only one may be used".to_owned());
    };
    if let Some(cpu) = [one, other].into_iter().find(|cpu| !allowed.contains(*cpu)) {
        return Err(format!("CPU {cpu} is not there, or may not be used"));
    }
    let found = relation(machine, one, other).map_or("unknown", |found| found.name());
    match parameters.get("relation") {
        _ if one == other => Err("a CPU hands nothing to itself".to_owned()),
        Some(word) if word != ANY_CROSSING && word != found => {
            Err(format!("CPUs {one} and {other} are {found}, not {word}"))
        }
        _ => Ok(vec![one, other]),
    }
}

/// Refuses results that were asked for by name with more threads than there are CPUs for them.
///
/// # Errors
/// Names the first of them.
pub fn refuse_more_threads_than_cpus(entries: &[PlanEntry], allowed: &[usize]) -> Result<(), Error> {
    let threads = |entry: &PlanEntry| match entry.parameters.get("threads")?.parse().ok()? {
        ThreadCount::Compact(count) | ThreadCount::Scatter(count) => Some(count),
        ThreadCount::One | ThreadCount::Cores | ThreadCount::All => None,
    };
    match entries.iter().find(|entry| threads(entry).is_some_and(|count| count > allowed.len())) {
        Some(entry) => Err(Error::Parameters(format!(
            "{} cannot be measured at threads={}: {} may be used here",
            entry.benchmark,
            entry.parameters.get("threads").unwrap_or_default(),
            crate::facts::counted(allowed.len()),
        ))),
        None => Ok(()),
    }
}

/// The CPUs that may be used of the node that a set of parameters names.
fn on_node(parameters: &Parameters, machine: &Topology, allowed: &CpuSet) -> Result<CpuSet, String> {
    let named = |parameter: &str| parameters.get(parameter).and_then(|word| word.parse::<usize>().ok());
    if machine.nodes.len() < 2 {
        return Err("the machine has one NUMA node".to_owned());
    }
    let (Some(cpus), Some(memory)) = (named("cpu_node"), named("memory_node")) else {
        return Err("no NUMA node is named whose CPUs may be used".to_owned());
    };
    let find = |number: usize| {
        let node = machine.nodes.iter().find(|node| node.number == number);
        node.ok_or_else(|| format!("the machine has no NUMA node {number}"))
    };
    find(memory)?;
    let usable = find(cpus)?.cpus.and(allowed);
    if usable.is_empty() { Err(format!("no CPU of NUMA node {cpus} may be used")) } else { Ok(usable) }
}

/// Distributes parties over the CPUs, so that neighbours run on different ones.
fn interleaved(cpus: &[usize]) -> Vec<usize> {
    cpus.iter().copied().cycle().take(PARTIES).collect()
}

fn needed(allowed: &CpuSet) -> String {
    format!("two CPUs are needed and only {} may be used", if allowed.len() == 1 { "one" } else { "these" })
}

/// The sets of parameters of a plan as this machine can measure them. Without a `placement` two CPUs are the nearest
/// two, and the result names their relation. The suite of everything takes every relation of the machine.
/// Representative sizes of memory lie beyond its caches, within the free memory (bytes).
pub(crate) fn resolve(plan: &mut Plan, machine: &Topology, allowed: &[usize], free: u64) {
    let allowed = CpuSet::from(allowed);
    let all = plan.suite == EVERYTHING;
    let mut entries: Vec<PlanEntry> = Vec::new();
    for entry in std::mem::take(&mut plan.entries) {
        for parameters in points(&entry, machine, &allowed, all) {
            let shares = benchmarks::find(&entry.benchmark)
                .map_or(entry.shares.clone(), |benchmark| benchmark.sharing(&parameters));
            let entry = PlanEntry { parameters, shares, ..entry.clone() };
            let entry = sized(&plan.suite, entry, machine, &allowed, free);
            if entries.iter().all(|known| known.benchmark != entry.benchmark || known.parameters != entry.parameters) {
                entries.push(entry);
            }
        }
    }
    plan.entries = entries;
}

fn sized(suite: &str, entry: PlanEntry, machine: &Topology, allowed: &CpuSet, free: u64) -> PlanEntry {
    let moved = || {
        let benchmark = benchmarks::find(&entry.benchmark)?;
        let cpus = place(benchmark, &entry.parameters, machine, allowed.as_slice()).ok()?;
        let parameters =
            sizing::beyond_caches(suite, &entry, benchmark, machine, &CpuSet::from(cpus.as_slice()), free)?;
        Some(PlanEntry { shares: benchmark.sharing(&parameters), parameters, ..entry.clone() })
    };
    moved().unwrap_or(entry)
}

/// The note on a result's threads, unless they are one on each of equal cores.
pub(crate) fn remark(benchmark: &Benchmark, machine: &Topology, cpus: &[usize]) -> Option<String> {
    let threads = CpuSet::from(cpus);
    if threads.len() < 2 {
        return None;
    }
    let used = |sets: &mut dyn Iterator<Item = &CpuSet>| sets.filter(|set| !set.and(&threads).is_empty()).count();
    let cores = used(&mut machine.cores.iter());
    let classes: Vec<String> = machine
        .classes
        .iter()
        .map(|class| (class, class.cpus.and(&threads).len()))
        .filter(|(_, count)| *count > 0)
        .map(|(class, count)| {
            format!("{count} of {}", if class.name.is_empty() { "another speed" } else { &class.name })
        })
        .collect();
    let packages = used(&mut machine.packages.iter().map(|package| &package.cpus));
    let mut said = Vec::new();
    if cores > 0 && cores < threads.len() {
        said.push(format!("{} threads on {cores} {}", threads.len(), if cores == 1 { "core" } else { "cores" }));
    }
    if packages > 1 && benchmark.parties == Parties::Threads {
        said.push(format!("over {packages} packages"));
    }
    if classes.len() > 1 {
        said.push(format!("cores of several classes: {}", classes.join(", ")));
    }
    if benchmark.parties == Parties::Placed && machine.caches.is_empty() && packages < 2 {
        said.push("the machine does not tell which CPUs share a core or a cache".to_owned());
    }
    (!said.is_empty()).then(|| said.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn benchmark(parties: Parties) -> Benchmark {
        Benchmark { parties, ..Benchmark::BLANK }
    }

    fn machine(name: &str) -> Topology {
        let recorded = testing::machine::RecordedMachine::named(name);
        os::topology::of_files(&recorded.online.parse().unwrap(), &|file| recorded.read(file))
    }

    fn at(text: &str) -> Parameters {
        text.parse().unwrap()
    }

    #[test]
    fn parties_go_where_the_parameters_says() {
        let two = machine("guest-2");
        let of =
            |parties, parameters: &str, allowed: &[usize]| place(&benchmark(parties), &at(parameters), &two, allowed);
        assert_eq!(of(Parties::One, "", &[0, 1]), Ok(vec![1]));
        assert_eq!(of(Parties::Placed, "placement=same_cpu", &[0, 1]), Ok(vec![1; PARTIES]));
        for across in ["cross_cpu", "same_cache"] {
            let across = of(Parties::Placed, &format!("placement={across}"), &[0, 1]).unwrap();
            assert_eq!((across.len(), &across[..4]), (PARTIES, &[1, 0, 1, 0][..]), "neighbours sit on different CPUs");
        }
        assert_eq!(of(Parties::Placed, "placement=free", &[0, 1]), Ok(vec![]));
        assert!(of(Parties::Placed, "placement=cross_cpu", &[1]).unwrap_err().contains("two CPUs"));
        assert!(of(Parties::Placed, "placement=other_package", &[0, 1]).unwrap_err().contains("one package"));
        assert_eq!(of(Parties::Threads, "threads=all", &[0, 1]), Ok(vec![1, 0]));
        assert_eq!(of(Parties::Threads, "threads=cores", &[0, 1]), Ok(vec![1, 0]));
        assert!(of(Parties::Threads, "threads=4", &[0, 1]).unwrap_err().contains("4 CPUs"));
    }

    #[test]
    fn two_cpus_become_the_relation_that_the_machine_has() {
        let resolved = |suite: &str, machine: &Topology, allowed: &CpuSet| {
            let entry = |parameters: &str| PlanEntry {
                benchmark: "ipc.pipe_latency".to_owned(),
                parameters: at(parameters),
                target: 0.02,
                shares: None,
            };
            let entries = vec![entry("placement=cross_cpu"), entry("placement=same_cache"), entry("placement=free")];
            let mut plan = Plan { suite: suite.to_owned(), entries, ..Plan::default() };
            resolve(&mut plan, machine, allowed.as_slice(), sizing::UNKNOWN);
            plan.entries.iter().map(|entry| entry.parameters.get("placement").unwrap().to_owned()).collect::<Vec<_>>()
        };
        let two = machine("guest-2");
        assert_eq!(resolved("default", &two, &two.online), ["same_cache", "free"], "asked for twice, measured once");
        assert_eq!(resolved("default", &two, &"1".parse().unwrap()), ["cross_cpu", "same_cache", "free"]);
        let altra = machine("altra-q80");
        assert_eq!(resolved("default", &altra, &altra.online), ["same_node", "same_cache", "free"]);
        let epyc = machine("epyc-7451");
        assert_eq!(
            resolved("full", &epyc, &epyc.online),
            ["same_cache", "same_node", "other_node", "other_package", "sibling", "free"]
        );
        let one_core = "0,48".parse().unwrap();
        assert_eq!(resolved("default", &epyc, &one_core), ["sibling", "same_cache", "free"], "and the result says so");
        let unknown = Topology::unknown(&[0, 1]);
        assert_eq!(resolved("default", &unknown, &unknown.online)[0], "same_node");
    }

    #[test]
    fn several_threads_say_what_they_are() {
        let said = |name: &str, threads: &str| {
            let machine = machine(name);
            let benchmark = benchmark(Parties::Threads);
            let parameters = at(&format!("threads={threads}"));
            let cpus = place(&benchmark, &parameters, &machine, machine.online.as_slice()).unwrap();
            remark(&benchmark, &machine, &cpus)
        };
        assert_eq!(said("guest-2", "all"), None, "two equal cores");
        assert_eq!(said("spr-snc4", "all").as_deref(), Some("224 threads on 112 cores, over 2 packages"));
        assert_eq!(said("spr-snc4", "cores").as_deref(), Some("over 2 packages"));
        assert_eq!(said("spr-snc4", "8"), None);
        assert_eq!(
            said("i7-1370p", "cores").as_deref(),
            Some("cores of several classes: 6 of core, 8 of atom"),
            "one thread a core of all classes"
        );
        assert_eq!(said("gb10", "1"), None);
    }

    #[test]
    fn what_two_cpus_share_is_not_claimed_where_the_machine_does_not_tell_it() {
        let said = |machine: &Topology, cpus: &[usize]| remark(&benchmark(Parties::Placed), machine, cpus);
        let unknown = Topology::unknown(&[0, 1]);
        assert!(said(&unknown, &[0, 1]).is_some_and(|said| said.contains("does not tell which CPUs share")));
        assert_eq!(said(&unknown, &[1]), None);
        assert_eq!(said(&machine("guest-2"), &[0, 1]), None);
    }
}
