//! Machines made up: a server of 16 cores with all facts, and its healthy results.

use check::{CheckContext, PublicTable};
use model::{
    BenchmarkResult, Estimate, EstimateMethod, Fact, FactValue, Machine, Metric, Outcome, Parameters, Run, Session,
};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// Results of a healthy machine: key, and value in base units.
const RESULTS: &[(&str, &str, f64)] = &[
    ("cpu.arithmetic", "type=double", 5.0e6),
    ("memory.triad", "working_set=256MiB,threads=all,stores=best,pages=base", 165e9),
    ("memory.read", "working_set=256MiB,threads=all,width=vector,pages=base", 180e9),
    ("memory.load_latency", "working_set=64MiB,pages=base", 105e-9),
    ("os.syscall_getppid", "", 75e-9),
    ("os.clock_read", "", 22e-9),
    ("os.context_switch", "processes=2,working_set=0B,placement=same_cpu", 1.1e-6),
    ("ipc.tcp_latency", "placement=same_cpu", 14e-6),
    ("file.fsync", "", 32e-6),
];

/// Clock of a busy core of the healthy machine, hertz.
const CLOCK: f64 = 3.2e9;
const CORES: usize = 16;

/// Facts of the healthy machine.
const FACTS: &str = "\
cpu.model=AMD EPYC 7343; cpu.vendor=AuthenticAMD; cpu.governor=performance; cpu.frequency_driver=acpi-cpufreq
cpu.clock=3.0e9; cpu.clock.max=3.9e9; cpu.online=16; cpu.cores=16; cpu.boost=yes; cgroup.cpuset_cpus=16
virtual.hypervisor=none; clock.source=tsc; confinement.memory_nodes=0-1; mitigation.retbleed=Not affected
memory.type=DDR4; memory.transparent_huge_pages=madvise; memory.nodes=2; memory.channels=8; memory.board_channels=8
memory.speed=3.2e9; memory.rated_speed=3.2e9; memory.width=8; memory.total=256e9; memory.swap=8e9; memory.swap_free=8e9
filesystem.target.size=1e12; filesystem.target.free=6e11; interrupts.busiest_cpu=0.2
network.eth0.state=up; network.eth0.driver=mlx5_core; network.eth0.duplex=full; network.eth0.mtu=9000
network.eth0.speed=3.125e9; network.eth0.speed_max=3.125e9
pcie.0000_41_00_0.kind=GPU; pcie.0000_41_00_0.width=16; pcie.0000_41_00_0.width_max=16";

/// Sets a fact, such as `memory.width=8`.
pub(crate) fn put(machine: &mut Machine, fact: &str) {
    let (name, word) = fact.split_once('=').unwrap();
    let value = match (word, word.parse()) {
        ("yes" | "no", _) => FactValue::Truth(word == "yes"),
        (_, Ok(number)) => FactValue::Number(number),
        _ => FactValue::Text(word.to_owned()),
    };
    machine.facts.retain(|fact| fact.name != name);
    let (unit, source, affects) = (None, "/proc".to_owned(), Vec::new());
    machine.facts.push(Fact { name: name.to_owned(), value, unit, source, affects });
}

fn machine() -> Machine {
    let mut machine = Machine { name: "n".to_owned(), summary: "a server".to_owned(), ..Machine::default() };
    FACTS.lines().flat_map(|line| line.split("; ")).for_each(|fact| put(&mut machine, fact));
    machine
}

/// An estimate of 12 samples that is known to 1%.
fn outcome(value: f64) -> Outcome {
    Outcome::Measured(Estimate {
        value,
        low: value * 0.99,
        high: value * 1.01,
        level: 0.95,
        samples: 12,
        batches: 20,
        method: EstimateMethod::OrderStatistic,
    })
}

fn result(id: &str, at: &str, value: f64) -> BenchmarkResult {
    let of = benchmarks::describe(id).unwrap_or_else(|| panic!("{id}"));
    let key = model::ResultKey::new(id, at.parse().unwrap());
    let mut result = BenchmarkResult::unmeasured(key, of.title, of.metric, of.class).stressing(&of.stresses);
    (result.outcome, result.flags) = (outcome(value), Vec::new());
    result
}

/// A run of a healthy machine, each of whose values differs from the usual one by a few percent.
pub(crate) fn healthy(random: &mut ChaCha8Rng) -> Run {
    // The sum of twelve is nearly normal: two percent.
    let mut about = |value: f64| value * (0.02 * ((0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0)).exp();
    let mut clock = result("cpu.core_loop", "cpu=0", about(CLOCK));
    clock.benchmark = model::CLOCK.to_owned();
    clock.parameters = Parameters::none();
    clock.metric = Metric { unit: model::Unit::Hertz, per: "".into(), better: model::Better::Higher };
    let mut results = vec![clock];
    let cores = |cpu: usize| result("cpu.core_loop", &format!("cpu={cpu}"), (1.0 + 1e-4 * cpu as f64) / CLOCK);
    results.extend((0..CORES).map(cores));
    results.extend(RESULTS.iter().map(|(id, at, value)| result(id, at, about(*value))));
    let plan = serde_json::from_str::<Run>(EMPTY).unwrap().plan;
    Run {
        schema: 1,
        id: format!("{}", random.random::<u64>()),
        label: None,
        origin: None,
        machine: machine(),
        session: Session {
            started: "2026-11-21T00:00:00Z".to_owned(),
            seconds: 40.0,
            complete: true,
            ..Session::default()
        },
        plan,
        rules: std::collections::BTreeMap::new(),
        results,
    }
}

const EMPTY: &str = r#"{"schema":1,"id":"r","machine":{"name":"m"},"session":{"started":"2026-11-21T00:00:00Z"},
    "plan":{"suite":"check","seed":1,"level":0.95,"target":0.02,"checkpoints":[8],"batches":20,"batch_nanos":1000000,
    "band":0.02,"entries":[]},"results":[]}"#;

/// Makes results slower by a factor: those whose key begins so.
pub(crate) fn slower(run: &mut Run, begins: &str, factor: f64) {
    let mut found = false;
    for result in run.results.iter_mut().filter(|result| result.key().to_string().starts_with(begins)) {
        let value = result.outcome.estimate().unwrap().value;
        let higher = result.metric.better == model::Better::Higher;
        result.outcome = outcome(if higher { value / factor } else { value * factor });
        found = true;
    }
    assert!(found, "no result begins with {begins}");
}

/// The context of a machine with these peers.
pub(crate) fn context<'a>(elsewhere: &'a [&'a Run], public: &'a PublicTable) -> CheckContext<'a> {
    let label = |title: &str, _: &Metric, at: &Parameters| format!("{title} {at}");
    CheckContext { catalogue: benchmarks::catalogue(), elsewhere, past: &[], public, label }
}
