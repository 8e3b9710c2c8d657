//! Named selections of the catalogue.

use model::Parameters;

use crate::published::{BABAR, BYTE, DAISY, RAMSPEED, STREAM, TAPE};
use crate::{Benchmark, all, find};

/// A benchmark at a set of parameters.
#[derive(Clone)]
pub struct BenchmarkSelection {
    /// The benchmark.
    pub benchmark: &'static Benchmark,
    /// Its parameters.
    pub parameters: Parameters,
}

impl BenchmarkSelection {
    /// Whether it is of the benchmark `id`, at a set of parameters that includes `part`.
    fn is_in(&self, id: &str, part: &str) -> bool {
        self.benchmark.id == id && part.parse().is_ok_and(|part| self.parameters.includes(&part))
    }
}

/// A named selection.
pub struct Suite {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its contents and duration.
    pub about: &'static str,
    /// Seconds after which no further sample begins, unless the user sets another limit.
    pub seconds: f64,
    select: SuiteSelector,
}

/// The time limit of a suite that ends by itself, seconds: on a busy machine it ends within five minutes too.
pub const LONGEST_SUITE: f64 = 240.0;

enum SuiteSelector {
    /// Every benchmark at its default sets of parameters, except these: id and partial parameters.
    Defaults { except: &'static [(&'static str, &'static str)] },
    /// Every benchmark at every set of parameters.
    Everything,
    /// Exactly these, in this order: id and parameters, completed with default values.
    Table(&'static [(&'static str, &'static str)]),
}

/// Every suite.
pub static SUITES: &[Suite] = &[
    Suite {
        name: "quick",
        about: "a first look: the key results in 20 seconds",
        seconds: 18.0,
        select: SuiteSelector::Table(QUICK),
    },
    Suite {
        name: "check",
        about: "what `prony check` judges: key results and one loop on every core, in less than a minute",
        seconds: 45.0,
        select: SuiteSelector::Table(CHECK),
    },
    Suite {
        name: "default",
        about: "every family at representative sets of parameters, in minutes",
        seconds: 170.0,
        select: SuiteSelector::Defaults { except: NOT_BY_DEFAULT },
    },
    Suite {
        name: "full",
        about: "every set of parameters that fits into four minutes; --time-limit 2h measures all",
        seconds: LONGEST_SUITE,
        select: SuiteSelector::Everything,
    },
    Suite {
        name: "babar",
        about: "the tables of the BaBar online farm's evaluation (Pavel, CHEP 98)",
        seconds: LONGEST_SUITE,
        select: SuiteSelector::Table(BABAR),
    },
    Suite {
        name: "byte",
        about: "BYTE magazine's Unix benchmarks, as run in 2004 (CyberLife Labs)",
        seconds: LONGEST_SUITE,
        select: SuiteSelector::Table(BYTE),
    },
    Suite {
        name: "daisy",
        about: "bandwidths and memory latency of the DAISy and HEAT clusters (lmbench, 1996)",
        seconds: LONGEST_SUITE,
        select: SuiteSelector::Table(DAISY),
    },
    Suite {
        name: "ramspeed",
        about: "RAMspeed's reading and writing over blocks of 1 KiB to 16 MiB (CyberLife Labs, 2004)",
        seconds: LONGEST_SUITE,
        select: SuiteSelector::Table(RAMSPEED),
    },
    Suite {
        name: "stream",
        about: "STREAM's copy, scale, add and triad on one CPU and on all",
        seconds: LONGEST_SUITE,
        select: SuiteSelector::Table(STREAM),
    },
    Suite {
        name: "scaling",
        about: "results over threads: 1, 2, 4 and so on to all cores and hardware threads, close together and far apart",
        seconds: LONGEST_SUITE,
        select: SuiteSelector::Table(SCALING),
    },
    Suite {
        name: "numa",
        about: "latency, bandwidth and latency under load of every NUMA node's memory from every node, as matrices",
        seconds: LONGEST_SUITE,
        select: SuiteSelector::Table(NUMA),
    },
    Suite {
        name: "cores",
        about: "the transfer of a cache line between every two cores, as a matrix",
        seconds: LONGEST_SUITE,
        select: SuiteSelector::Table(CORES),
    },
    Suite {
        name: "gpu",
        about: "accelerators: memory, arithmetic, copies, launches, track fits and their energy, in less than a minute",
        seconds: 55.0,
        select: SuiteSelector::Table(GPU),
    },
    Suite {
        name: "tape",
        about: "streaming to and from the medium of --target-device, as AMS did to its tapes (Choutko and Klimentov, 2002)",
        seconds: LONGEST_SUITE,
        select: SuiteSelector::Table(TAPE),
    },
];

/// The family with a suite of its own, because few machines have what it measures.
const ACCELERATORS: &str = "gpu";

/// Results of the full suite only: no published table has them, or another result of the default suite is almost
/// equivalent.
const NOT_BY_DEFAULT: &[(&str, &str)] = &[
    ("memory.copy", "threads=all,stores=normal"),
    ("memory.scale", "stores=normal"),
    ("memory.add", "stores=normal"),
    ("memory.triad", "threads=all,stores=normal"),
    ("memory.write", "threads=all,stores=normal"),
    ("memory.hierarchy_latency", "level=1"),
    ("memory.hierarchy_latency", "level=2"),
    ("memory.hierarchy_latency", "level=3"),
    ("memory.loaded_latency", ""),
    ("memory.node_latency", ""),
    ("memory.node_bandwidth", ""),
    ("memory.node_loaded_latency", ""),
    ("memory.core_pair", ""),
    ("cpu.add", ""),
    ("cpu.core_loop", ""),
    ("cpu.divide", "type=long"),
    ("cpu.popcount", ""),
    ("cpu.crc32c", ""),
    ("os.posix_spawn", ""),
    ("os.vfork_exec", ""),
    ("os.thread_create", ""),
    ("os.protection_fault", ""),
    ("os.protection_trap", ""),
    ("os.thread_switch", ""),
    ("os.pipe_switch", "placement=cross_cpu"),
    ("os.pipe_switch", "placement=free"),
    ("os.futex_handoff", ""),
    ("os.yield", ""),
    ("os.page_fault", "kind=cow"),
    ("os.mmap", ""),
    ("os.select", ""),
    ("os.epoll", ""),
    ("os.file_lock", ""),
    ("ipc.unix_latency", ""),
    ("ipc.tcp_connect", ""),
    ("ipc.unix_bandwidth", ""),
    ("ipc.tcp_bandwidth", "buffers=autotuning"),
    ("file.create", "place=tmpfs"),
    ("file.delete", "place=tmpfs"),
    ("file.read_cached", "data=copied"),
    ("file.mmap_read", "mapping=open_to_close"),
    ("shell.script", "concurrent=8"),
];

const SCALING: &[(&str, &str)] = &[
    ("memory.read", "threads=each"),
    ("memory.triad", "threads=each,stores=normal"),
    ("cpu.fma_peak", "threads=each"),
    ("cpu.sha256", "threads=each"),
];

const NUMA: &[(&str, &str)] =
    &[("memory.node_latency", ""), ("memory.node_bandwidth", ""), ("memory.node_loaded_latency", "")];

const GPU: &[(&str, &str)] = &[
    ("gpu.triad", ""),
    ("gpu.copy", ""),
    ("gpu.read", ""),
    ("gpu.write", ""),
    ("gpu.load_latency", ""),
    ("gpu.shared_latency", ""),
    ("gpu.fma", ""),
    ("gpu.matrix", ""),
    ("gpu.atomic", ""),
    ("gpu.host_copy", ""),
    ("gpu.launch", ""),
    ("gpu.overlap", ""),
    ("gpu.clock", ""),
    ("gpu.reconstruct", ""),
    ("gpu.energy", ""),
];

const CORES: &[(&str, &str)] = &[("memory.core_pair", "")];

const QUICK: &[(&str, &str)] = &[
    ("memory.triad", "working_set=256MiB,threads=all,stores=best"),
    ("memory.load_latency", "working_set=64MiB"),
    ("cpu.arithmetic", "type=int"),
    ("cpu.arithmetic", "type=double"),
    ("os.syscall_write", ""),
    ("os.fork_exec", ""),
    ("os.context_switch", "processes=2,working_set=0B"),
    ("ipc.tcp_latency", "placement=same_cpu"),
    ("file.fsync", ""),
    ("memory.load_latency", "working_set=32KiB"),
    ("os.clock_read", ""),
    ("ipc.pipe_latency", "placement=same_cpu"),
];

const CHECK: &[(&str, &str)] = &[
    ("cpu.core_loop", "cpu=each"),
    ("cpu.arithmetic", "type=double"),
    ("memory.triad", "working_set=256MiB,threads=all,stores=best"),
    ("memory.read", "working_set=256MiB,threads=all,width=vector"),
    ("memory.load_latency", "working_set=16KiB"),
    ("memory.load_latency", "working_set=256KiB"),
    ("memory.load_latency", "working_set=64MiB"),
    ("os.syscall_getppid", ""),
    ("os.clock_read", ""),
    ("os.context_switch", "processes=2,working_set=0B"),
    ("ipc.tcp_latency", "placement=same_cpu"),
    ("file.fsync", ""),
];

/// A suite by name.
#[must_use]
pub fn suite(name: &str) -> Option<&'static Suite> {
    SUITES.iter().find(|suite| suite.name == name)
}

impl Suite {
    /// Whether it fills its time: every result is launched as often as there is time for. Others end once their results
    /// have the usual samples.
    #[must_use]
    pub const fn fills(&self) -> bool {
        self.seconds < LONGEST_SUITE
    }

    /// Its results, in order. Benchmarks that the catalogue does not contain are left out.
    #[must_use]
    pub fn selections(&self) -> Vec<BenchmarkSelection> {
        match self.select {
            SuiteSelector::Defaults { except } => all()
                .filter(|benchmark| benchmark.family() != ACCELERATORS)
                .flat_map(|benchmark| {
                    benchmark
                        .default_points()
                        .into_iter()
                        .map(move |parameters| BenchmarkSelection { benchmark, parameters })
                })
                .filter(|selection| !except.iter().any(|(id, part)| selection.is_in(id, part)))
                .collect(),
            SuiteSelector::Everything => all()
                .filter(|benchmark| benchmark.family() != ACCELERATORS)
                .flat_map(|benchmark| {
                    benchmark.points().into_iter().map(move |parameters| BenchmarkSelection { benchmark, parameters })
                })
                .collect(),
            SuiteSelector::Table(rows) => rows.iter().flat_map(|(id, parameters)| resolve(id, parameters)).collect(),
        }
    }

    /// Ids in its table, for tests.
    #[must_use]
    pub fn named(&self) -> Vec<(&'static str, &'static str)> {
        match self.select {
            SuiteSelector::Table(rows) => rows.to_vec(),
            SuiteSelector::Defaults { except } => except.to_vec(),
            SuiteSelector::Everything => Vec::new(),
        }
    }
}

fn resolve(id: &str, parameters: &str) -> Vec<BenchmarkSelection> {
    let Some(benchmark) = find(id) else { return Vec::new() };
    let parameters: Parameters = parameters.parse().unwrap_or_default();
    let points = benchmark.complete(&parameters).unwrap_or_default();
    points.into_iter().map(|parameters| BenchmarkSelection { benchmark, parameters }).collect()
}
