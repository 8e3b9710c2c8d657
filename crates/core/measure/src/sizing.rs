//! Working sets that follow the machine: "memory" is beyond the caches.

use benchmarks::Benchmark;
use model::{Class, CpuSet, GIB, MIB, Parameters, PlanEntry, RECORD, Topology, format_size, spoken_size};

/// Suites whose representative sets of parameters are sizes of memory, and so follow the machine. Published evaluations
/// keep the sets of parameters of their tables.
const FOLLOWING: [&str; 4] = ["default", "quick", "numa", "scaling"];
/// Suites in which STREAM's own rule is asked for.
const STREAMS: [&str; 2] = ["stream", "babar"];
/// STREAM asks for arrays of at least this multiple of the sum of the last-level caches.
const STREAM_RULE: u64 = 4;

/// A representative size of memory, and how many times the last-level caches in reach it must be at least. A stream
/// leaves in the cache what it does not touch again, and passes begin at the oldest memory. With four times a cache
/// that evicts at random, a fiftieth is still there. In a random walk through twice a cache half still hits it, which
/// is the usual place of memory latency results.
struct MemorySize {
    usual: u64,
    times: u64,
}

const fn rule(class: Class) -> Option<MemorySize> {
    match class {
        Class::Bandwidth => Some(MemorySize { usual: 256 * MIB, times: 4 }),
        Class::MemoryLatency => Some(MemorySize { usual: 64 * MIB, times: 2 }),
        _ => None,
    }
}

/// Bytes that a result works on, where its parameters name them.
fn working_set(parameters: &Parameters) -> Option<u64> {
    parameters.bytes("working_set").ok()
}

/// Moves an entry's representative size of memory beyond the caches of these CPUs, if it is not: to the next power of
/// two, or the largest that the free memory allows.
pub(crate) fn beyond_caches(
    suite: &str,
    entry: &PlanEntry,
    benchmark: &Benchmark,
    machine: &Topology,
    cpus: &CpuSet,
    available: u64,
) -> Option<Parameters> {
    let MemorySize { usual, times } = rule(benchmark.class)?;
    if !FOLLOWING.contains(&suite) || working_set(&entry.parameters) != Some(usual) {
        return None;
    }
    let wanted = (times * machine.last_level_bytes(cpus)?).next_power_of_two();
    let most = largest(available);
    let size = wanted.min(most);
    (size > usual).then(|| entry.parameters.clone().with("working_set", format_size(size)))
}

/// The planned parameters of a result whose size of memory was moved beyond the caches. Suites that follow the machine
/// have no larger sizes of their own.
pub(crate) fn stands_for(suite: &str, benchmark: &Benchmark, parameters: &Parameters) -> Option<Parameters> {
    let MemorySize { usual, .. } = rule(benchmark.class)?;
    let moved = FOLLOWING.contains(&suite) && working_set(parameters)? > usual;
    moved.then(|| parameters.clone().with("working_set", format_size(usual)))
}

/// The largest power of two that may be taken of free memory: half of it, so that the machine does not swap.
const fn largest(available: u64) -> u64 {
    let half = available / 2;
    if half < 2 { 1 } else { 1 << half.ilog2() }
}

/// A result's needs, by its parameters.
pub(crate) struct ResultNeeds {
    /// Bytes of memory.
    pub(crate) bytes: u64,
    /// Processes and threads, those of the harness included.
    pub(crate) tasks: u64,
}

/// The harness, the worker, and occasional helpers of a worker.
const HARNESS_TASKS: u64 = 3;
/// Tasks that have ended and that the kernel still counts for a moment, where one is started after the other.
const LINGERING_TASKS: u64 = 8;

/// Bytes that a set of parameters names.
fn bytes(parameters: &Parameters) -> u64 {
    working_set(parameters).into_iter().chain(parameters.bytes("resident").ok()).max().unwrap_or(0)
}

/// Memory and processes that a result needs on these CPUs.
pub(crate) fn needs(benchmark: &Benchmark, parameters: &Parameters, cpus: &[usize]) -> ResultNeeds {
    let parties = |parameter: &str| parameters.get(parameter).and_then(|word| word.parse::<u64>().ok());
    // A script starts a handful of programs at a time; parties of a placement share their CPUs.
    let scripts = parties("concurrent").map(|scripts| 4 * scripts);
    let threads = parameters.get("threads").map(|_| cpus.len() as u64);
    let started = [threads, parties("processes"), scripts].into_iter().flatten().max().unwrap_or(1);
    let lingering = if benchmark.class == Class::Process { LINGERING_TASKS } else { 0 };
    ResultNeeds { bytes: bytes(parameters), tasks: started + HARNESS_TASKS + lingering }
}

impl ResultNeeds {
    /// Whether so much available memory is too little: a quarter of it is left to the system.
    pub(crate) const fn lack_memory(&self, available: u64) -> bool {
        self.bytes > available / 4 * 3
    }
}

/// Why a result cannot have the memory that it needs, before any is taken.
pub(crate) fn lacking(parameters: &Parameters, available: u64) -> Option<String> {
    let needs = ResultNeeds { bytes: bytes(parameters), tasks: 0 };
    needs.lack_memory(available).then(|| {
        let [needed, free] = [needs.bytes, available].map(spoken_size);
        format!("it needs {needed} of memory and {free} are available")
    })
}

/// Notes on a result's working set: which cache holds it, and whether it keeps STREAM's rule.
pub(crate) fn remarks(
    suite: &str,
    benchmark: &Benchmark,
    parameters: &Parameters,
    machine: &Topology,
    cpus: &[usize],
) -> Vec<String> {
    let cpus = CpuSet::from(cpus);
    let Some(MemorySize { usual, .. }) = rule(benchmark.class) else { return Vec::new() };
    let Some(bytes) = working_set(parameters) else { return Vec::new() };
    let mut remarks: Vec<String> = fits(bytes, machine, &cpus)
        .map(|cache| {
            let said = format!("the working set fits {cache}");
            // Sets of parameters of a curve lie in caches on purpose: there it is for the record.
            if bytes < usual { format!("{RECORD}{said}") } else { said }
        })
        .into_iter()
        .collect();
    remarks.extend(below_stream_rule(suite, benchmark, bytes, machine));
    remarks
}

/// The innermost level whose caches, together for all CPUs, hold this many bytes.
fn fits(bytes: u64, machine: &Topology, cpus: &CpuSet) -> Option<String> {
    let first = cpus.first()?;
    let mut levels: Vec<_> =
        machine.caches(first).filter(|(cache, _)| cache.kind != model::CacheKind::Instruction).collect();
    levels.sort_by_key(|(cache, _)| cache.level);
    levels.into_iter().find_map(|(cache, _)| {
        let caches = || machine.caches.iter().filter(|other| other.level == cache.level && other.kind == cache.kind);
        let reached = |set: &&CpuSet| !set.and(cpus).is_empty();
        let instances = caches().map(|group| group.cpus.iter().filter(reached).count()).sum::<usize>();
        let sum = caches()
            .map(|group| Some(group.bytes? * group.cpus.iter().filter(reached).count() as u64))
            .sum::<Option<u64>>()?;
        (bytes <= sum).then(|| match instances {
            1 => format!("the reported {} of {}", cache.name(), format_size(sum)),
            many => format!("the {many} reported {} of {} together", cache.name(), format_size(sum)),
        })
    })
}

fn below_stream_rule(suite: &str, benchmark: &Benchmark, bytes: u64, machine: &Topology) -> Option<String> {
    let each = bytes.checked_div(benchmark.arrays)?;
    let least = STREAM_RULE * machine.last_level_bytes(&machine.online)?;
    (STREAMS.contains(&suite) && each < least).then(|| {
        format!(
            "smaller than STREAM's rule: arrays have {} MiB, but {STREAM_RULE} times the last-level caches is {} MiB",
            each / MIB,
            least / MIB
        )
    })
}

/// More memory than any machine has, for machines whose memory is unknown.
pub(crate) const UNKNOWN: u64 = 1024 * GIB;

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(name: &str) -> Topology {
        let recorded = testing::machine::RecordedMachine::named(name);
        os::topology::of_files(&recorded.online.parse().unwrap(), &|file| recorded.read(file))
    }

    fn moved(name: &str, benchmark: &str, parameters: &str, available: u64) -> Option<String> {
        let machine = machine(name);
        let benchmark = benchmarks::find(benchmark).unwrap();
        let parameters: Parameters = parameters.parse().unwrap();
        let cpus = crate::place(benchmark, &parameters, &machine, machine.online.as_slice()).unwrap();
        let entry = PlanEntry { benchmark: benchmark.id.to_owned(), parameters, target: 0.02, shares: None };
        let cpus = CpuSet::from(cpus.as_slice());
        beyond_caches("default", &entry, benchmark, &machine, &cpus, available)
            .map(|parameters| parameters.get("working_set").unwrap().to_owned())
    }

    #[test]
    fn representative_sizes_of_memory_lie_beyond_the_caches() {
        let copy = |name: &str, threads: &str| {
            moved(name, "memory.copy", &format!("working_set=256MiB,threads={threads},stores=normal"), UNKNOWN)
        };
        assert_eq!((copy("guest-2", "1"), copy("guest-2", "all")), (None, None), "the keys of this machine stay");
        assert_eq!(copy("epyc-9375f", "1"), None, "one core reaches one cache of 32 MiB");
        assert_eq!(copy("epyc-9375f", "all").as_deref(), Some("2GiB"));
        assert_eq!(copy("spr-snc4", "1").as_deref(), Some("512MiB"));
        assert_eq!(copy("spr-snc4", "all").as_deref(), Some("1GiB"));
        let chase = |name: &str, set: &str| {
            moved(name, "memory.load_latency", &format!("working_set={set},pages=base"), UNKNOWN)
        };
        assert_eq!(chase("spr-snc4", "64MiB").as_deref(), Some("256MiB"));
        assert_eq!(chase("spr-snc4", "1MiB"), None, "a set of parameters of a cache stays in it");
        assert_eq!((chase("guest-2", "64MiB"), chase("altra-q80", "64MiB")), (None, None));
        let little = moved("spr-snc4", "memory.copy", "working_set=256MiB,threads=all,stores=normal", GIB + MIB);
        assert_eq!(little.as_deref(), Some("512MiB"), "no more than half of what is free");
        assert_eq!(moved("spr-snc4", "memory.copy", "working_set=256MiB,threads=1,stores=normal", MIB), None);
    }

    #[test]
    fn a_moved_size_says_what_it_stands_for_and_no_suite_has_larger_ones() {
        let copy = benchmarks::find("memory.copy").unwrap();
        let of = |suite: &str, set: &str| {
            let parameters = format!("working_set={set},threads=all").parse().unwrap();
            stands_for(suite, copy, &parameters).map(|parameters| parameters.to_string())
        };
        assert_eq!(of("default", "2GiB").as_deref(), Some("working_set=256MiB,threads=all"));
        assert_eq!((of("default", "256MiB"), of("full", "1GiB"), of("benchmarks", "1GiB")), (None, None, None));
        for suite in FOLLOWING {
            for entry in crate::select(Some(suite), &[], 0.02).unwrap() {
                let benchmark = benchmarks::find(&entry.benchmark).unwrap();
                assert_eq!(
                    stands_for(suite, benchmark, &entry.parameters),
                    None,
                    "{} at {}",
                    entry.benchmark,
                    entry.parameters
                );
            }
        }
    }

    #[test]
    fn what_quick_and_default_call_memory_is_moved_beyond_the_caches() {
        let (large, all) = (machine("spr-snc4"), CpuSet::from([0].as_slice()));
        for suite in ["default", "quick"] {
            for id in ["memory.load_latency", "memory.triad"] {
                let benchmark = benchmarks::find(id).unwrap();
                let entries = crate::select(Some(suite), &[], 0.02).unwrap().into_iter();
                let largest = entries
                    .filter(|entry| entry.benchmark == id)
                    .max_by_key(|entry| working_set(&entry.parameters))
                    .unwrap();
                let moved = beyond_caches(suite, &largest, benchmark, &large, &all, UNKNOWN);
                assert!(moved.is_some(), "{suite}: {id} at {} may lie in a cache of 105 MiB", largest.parameters);
            }
        }
    }

    #[test]
    fn a_set_in_a_cache_is_noted() {
        let said = |name: &str, suite: &str, benchmark: &str, parameters: &str| {
            let machine = machine(name);
            let benchmark = benchmarks::find(benchmark).unwrap();
            let parameters: Parameters = parameters.parse().unwrap();
            let cpus = crate::place(benchmark, &parameters, &machine, machine.online.as_slice()).unwrap();
            remarks(suite, benchmark, &parameters, &machine, &cpus)
        };
        let latency = |name: &str, set: &str| said(name, "full", "memory.load_latency", &format!("working_set={set}"));
        assert_eq!(latency("guest-2", "32KiB"), ["record: the working set fits the reported L1d of 32KiB"]);
        assert_eq!(latency("spr-snc4", "64MiB"), ["the working set fits the reported L3 of 105MiB"]);
        assert!(latency("guest-2", "64MiB").is_empty());
        let all = said("epyc-9754", "babar", "memory.copy", "working_set=256MiB,threads=all,stores=normal");
        assert!(all[0].contains("the 256 reported L2 of 256MiB together"), "{all:?}");
        assert!(all[1].contains("STREAM's rule") && all[1].contains("2048 MiB"), "{all:?}");
        let triad = said("guest-2", "stream", "memory.triad", "working_set=256MiB,threads=1,stores=normal");
        assert!(triad[0].contains("arrays have 85 MiB, but 4 times the last-level caches is 128 MiB"), "{triad:?}");
        assert!(said("guest-2", "default", "memory.triad", "working_set=256MiB,threads=1").is_empty());
    }

    #[test]
    fn memory_that_is_not_there_is_said_beforehand() {
        let parameters: Parameters = "working_set=4GiB".parse().unwrap();
        assert_eq!(lacking(&parameters, 5 * GIB).as_deref(), Some("it needs 4 GiB of memory and 5 GiB are available"));
        assert_eq!(lacking(&parameters, 8 * GIB), None);
        assert_eq!(lacking(&"type=int".parse().unwrap(), 0), None);
    }
}
