//! Causes planted into documents of real runs, among facts that differ by chance.
//!
//! The documents are two anonymised runs of one guest under load (`tests/data`). A pair is drawn from their samples. A
//! planted cause changes a fact and every result that its rule affects; decoys change only facts.

use model::{BenchmarkResult, Class, Fact, FactValue, Outcome, Primitive, Run, Sample, Unit};
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::level::{self, Levels};
use super::rules::{ACCELERATOR, CPU_LIMIT, RULES, Rule, Slower, is_fact};
use super::{ExplainOptions, Explanation, explain};

/// Samples of a drawn result.
const SAMPLES: usize = 12;
/// Factor on everything that a planted cause touches.
const FACTOR: f64 = 6.0;
/// The same for files: their session noise is 30%, and these runs were made under load.
const FILES: f64 = 60.0;

fn documents() -> [Run; 2] {
    let read = |text: &str| -> Run { serde_json::from_str(text).unwrap() };
    let mut runs =
        [read(include_str!("../tests/data/guest-first.json")), read(include_str!("../tests/data/guest-second.json"))];
    for run in &mut runs {
        // Sets of parameters that these runs lack and some causes need.
        for (from, benchmark, parameters, stresses) in [
            ("ipc.pipe_latency", "ipc.pipe_latency", "placement=free", &[][..]),
            ("ipc.tcp_latency", "ipc.tcp_latency", "placement=free", &[]),
            ("memory.read", "memory.read", "threads=all,working_set=64MiB,pages=base", &[]),
            ("memory.write", "memory.write", "threads=all,working_set=64MiB,pages=base", &[]),
            ("memory.load_latency", "memory.load_latency", "working_set=64MiB", &[]),
            ("memory.memcpy", "memory.parallel_copy", "working_set=64MiB", &[]),
            ("ipc.tcp_bandwidth", "network.tcp_stream", "record=64KiB", &[Primitive::NetworkLink, Primitive::TcpStack]),
            ("ipc.tcp_bandwidth", "network.tcp_pull", "record=64KiB", &[Primitive::NetworkLink, Primitive::TcpStack]),
        ] {
            let mut result = run.results.iter().find(|result| result.benchmark == from).unwrap().clone();
            (result.benchmark, result.parameters) = (benchmark.to_owned(), parameters.parse().unwrap());
            if !stresses.is_empty() {
                (result.stresses, result.class) = (stresses.to_vec(), Class::Network);
            }
            run.results.push(result);
        }
    }
    runs
}

/// One side of a pair: samples drawn from those of both documents, scaled to the first one's value.
fn drawn(documents: &[Run; 2], session: &str, factor: &dyn Fn(&BenchmarkResult) -> f64, rng: &mut ChaCha8Rng) -> Run {
    let mut run = documents[0].clone();
    session.clone_into(&mut run.id);
    session.clone_into(&mut run.session.started);
    for result in &mut run.results {
        let other = documents[1].result(&result.key());
        let Some(value) = result.outcome.estimate().map(|estimate| estimate.value) else { continue };
        let mut apart: Vec<f64> = Vec::new();
        for values in [result.values()].into_iter().chain(other.map(BenchmarkResult::values)) {
            let median = stats::median(&values).unwrap();
            apart.extend(values.iter().map(|value| value / median));
        }
        let slower = factor(result);
        let factor = if result.metric.unit == Unit::Seconds { slower } else { 1.0 / slower };
        let values: Vec<f64> = (0..SAMPLES).map(|_| value * factor * apart.choose(rng).unwrap()).collect();
        let found = stats::median_interval(&values, 0.95).unwrap();
        if let Outcome::Measured(estimate) = &mut result.outcome {
            (estimate.value, estimate.low, estimate.high) = (found.median, found.interval.low, found.interval.high);
            (estimate.level, estimate.samples) = (found.interval.level, SAMPLES as u32);
        }
        result.samples = values.into_iter().map(|value| Sample { value, ..Sample::default() }).collect();
    }
    run
}

/// Makes samples scatter by these standard deviations of their logarithms, so that more results are undecided.
fn scatter(run: &mut Run, by: &dyn Fn(&BenchmarkResult) -> f64, rng: &mut ChaCha8Rng) {
    for result in &mut run.results {
        let spread = by(result);
        let Outcome::Measured(estimate) = &mut result.outcome else { continue };
        for sample in &mut result.samples {
            sample.value *= (spread * stats::simulate::standard_normal(rng)).exp();
        }
        let values: Vec<f64> = result.samples.iter().map(|sample| sample.value).collect();
        let found = stats::median_interval(&values, 0.95).unwrap();
        (estimate.value, estimate.low, estimate.high) = (found.median, found.interval.low, found.interval.high);
    }
}

fn measures(result: &BenchmarkResult, levels: &Levels) -> Option<Primitive> {
    level::measures(result, levels, benchmarks::catalogue())
}

/// Whether a rule touches a result, and whether it changes all results of that kind.
fn touches(rule: &Rule, result: &BenchmarkResult, levels: &Levels) -> bool {
    let measured = measures(result, levels);
    let composite = matches!(result.family(), "shell" | "application");
    // A clock and a limit on CPU time slow down everything that uses the CPU.
    let waits = !measured.is_some_and(|primitive| {
        matches!(primitive, Primitive::DramRead | Primitive::DramWrite | Primitive::DramLatency | Primitive::Durability)
    });
    let all = waits && (rule.title == CPU_LIMIT || rule.title == "frequency and boost limits");
    !composite
        && rule.scope.holds(&result.key(), &result.stresses, benchmarks::catalogue())
        && (all || measured.is_some_and(|primitive| rule.touches.contains(&primitive)))
}

fn set(run: &mut Run, name: &str, value: FactValue, affects: &[Primitive]) {
    run.machine.facts.retain(|fact| fact.name != name);
    let fact = Fact { name: name.to_owned(), value, unit: None, source: "planted".into(), affects: affects.to_vec() };
    run.machine.facts.push(fact);
}

/// Changes the rule's fact so that B is the slower side.
fn plant(rule: &Rule, fact: &str, a: &mut Run, b: &mut Run) {
    let text = |text: &str| FactValue::Text(text.to_owned());
    let (x, y) = match (rule.slower, rule.title) {
        (_, CPU_LIMIT) => (text("none"), FactValue::Number(1.0 / FACTOR)),
        (Slower::Either, _) if fact.starts_with("cpu.clock") => {
            (FactValue::Number(3e9), FactValue::Number(3e9 / FACTOR))
        }
        (Slower::Either, _) => (text("this"), text("that")),
        (Slower::Yes, _) => (FactValue::Truth(false), FactValue::Truth(true)),
        (Slower::Less, _) => (FactValue::Number(8.0), FactValue::Number(2.0)),
        (Slower::More, _) => (FactValue::Number(1.0), FactValue::Number(4.0)),
        (Slower::Mitigated, _) => (text("Vulnerable"), text("Mitigation: planted")),
    };
    set(a, fact, x, &[]);
    set(b, fact, y, &[]);
}

/// Changes facts of B at random, none of them in `not`, and removes one on one side. Returns the changed ones. Returns
/// which.
fn decoys(a: &mut Run, b: &mut Run, not: &[&str], rng: &mut ChaCha8Rng) -> Vec<String> {
    let known = |fact: &&Fact| !matches!(fact.value, FactValue::Unknown(_)) && !fact.affects.is_empty();
    let mut names: Vec<String> = b.machine.facts.iter().filter(known).map(|fact| fact.name.clone()).collect();
    names.retain(|name| !not.iter().any(|id| is_fact(id, name)));
    names.shuffle(rng);
    let forgotten = names.pop().unwrap();
    names.truncate(rng.random_range(3..9));
    for name in &names {
        let fact = b.machine.facts.iter_mut().find(|fact| fact.name == *name).unwrap();
        fact.value = match &fact.value {
            FactValue::Text(text) if text.starts_with("Mitigation") => FactValue::Text("Vulnerable".into()),
            FactValue::Text(_) if name.starts_with("mitigation.") => FactValue::Text("Mitigation: by chance".into()),
            FactValue::Text(text) => FactValue::Text(format!("{text}, by chance")),
            FactValue::Number(number) => FactValue::Number(number * 2.0 + 1.0),
            FactValue::Truth(truth) => FactValue::Truth(!truth),
            FactValue::List(items) => FactValue::List(items.iter().skip(1).cloned().collect()),
            FactValue::Unknown(why) => FactValue::Unknown(why.clone()),
        };
    }
    a.machine.facts.retain(|fact| fact.name != forgotten);
    names
}

fn explained(a: &Run, b: &Run) -> Explanation {
    let options = ExplainOptions { catalogue: benchmarks::catalogue(), ..ExplainOptions::default() };
    let found = explain(a, b, &options).unwrap();
    super::consistent::check(&found);
    found
}

/// Everything that an explanation names as a cause, with its facts.
fn stated(found: &Explanation) -> Vec<String> {
    let causes = found.causes.iter().filter(|cause| cause.rivals.is_empty());
    let named =
        causes.flat_map(|cause| cause.known_as.iter().cloned().chain(cause.because.iter().map(|d| d.name.clone())));
    let factor = &found.common_factor;
    let clock = (factor.is_clock && factor.rivals.is_empty()).then(|| "frequency and boost limits".to_owned());
    named.chain(clock).collect()
}

/// Everything among which a planted cause may be: the first cause, or the common factor of user mode.
fn first_or_rivals(found: &Explanation) -> Vec<String> {
    let factor = &found.common_factor;
    let first = found.causes.first();
    let named = first
        .into_iter()
        .flat_map(|cause| cause.known_as.iter().cloned().chain(cause.rivals.iter().map(|rival| rival.title.clone())));
    let of_the_factor = factor.rivals.iter().map(|rival| rival.title.clone());
    let clock = factor.is_clock.then(|| "frequency and boost limits".to_owned());
    named.chain(of_the_factor).chain(clock).collect()
}

#[test]
fn what_a_result_measures_is_what_its_benchmark_declares() {
    let documents = documents();
    let levels = Levels::new(&documents[0]);
    let measured = |key: &str| {
        let (benchmark, parameters) = key.split_once(':').unwrap_or((key, ""));
        let key = model::ResultKey::new(benchmark, parameters.parse().unwrap());
        measures(documents[0].result(&key).unwrap_or_else(|| panic!("{key} is in the document")), &levels).unwrap()
    };
    for (key, primitive) in [
        ("os.context_switch:processes=2,working_set=16KiB,placement=same_cpu", Primitive::ContextSwitch),
        ("memory.tlb_cost:working_set=512KiB,pages=base", Primitive::Tlb),
        ("memory.load_latency:working_set=32KiB,pages=base", Primitive::L1),
        ("memory.load_latency:working_set=1MiB,pages=base", Primitive::CacheLatency),
        ("memory.load_latency:working_set=64MiB,pages=base", Primitive::DramLatency),
        ("memory.memcpy:working_set=64MiB", Primitive::DramWrite),
        ("cpu.aes:threads=1", Primitive::Aes),
        ("cpu.arithmetic:type=double", Primitive::CoreClock),
        ("os.fork_exec:linking=static", Primitive::Exec),
        ("ipc.pipe_latency:placement=same_cpu", Primitive::Pipe),
        ("ipc.tcp_bandwidth:block=64KiB,buffers=largest,data=copied,placement=same_cpu", Primitive::KernelCopy),
    ] {
        assert_eq!(measured(key), primitive, "{key}");
    }
}

/// Archived documents contain facts that only one side knows; none of them explains anything.
#[test]
fn facts_that_only_one_document_knows_explain_nothing() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut old = drawn(&documents(), "2026-11-22T05:00:00Z", &|_| 1.0, &mut rng);
    old.machine.facts.retain(|fact| !["cpu.governor", "cgroup.cpus"].contains(&fact.name.as_str()));
    old.results.retain(|result| {
        ["os.syscall_getppid", "memory.memcpy", "cpu.arithmetic"].contains(&result.benchmark.as_str())
    });
    let mut new = old.clone();
    new.id.push_str("-later");
    new.session.started = "2026-11-22T10:15:00Z".to_owned();
    let mut before = old.clone();
    decoys(&mut before, &mut new, &[], &mut rng);
    set(&mut new, "cpu.governor", FactValue::Text("powersave".to_owned()), &[Primitive::CoreClock]);
    set(&mut new, "cgroup.cpus", FactValue::Number(0.5), &[Primitive::CoreClock]);
    for result in &mut new.results {
        if let Outcome::Measured(estimate) = &mut result.outcome {
            for end in [&mut estimate.value, &mut estimate.low, &mut estimate.high] {
                *end *= 3.0;
            }
            result.samples.iter_mut().for_each(|sample| sample.value *= 3.0);
        }
    }
    let found = explained(&before, &new);
    assert!(found.difference && stated(&found).is_empty(), "{:#?}", found.sentences());
    let said = found.sentences().join(" ");
    assert!(!said.contains("governor") && !said.contains("cgroup"), "{said}");
    assert!(found.facts.iter().all(|d| d.name != "cpu.governor" && d.name != "cgroup.cpus"), "{:?}", found.facts);
}

#[test]
fn every_planted_cause_is_named_or_among_the_rivals() {
    let documents = documents();
    let levels = Levels::new(&documents[0]);
    let (mut planted, mut named, mut unseen, mut missed) = (0, 0, 0, Vec::new());
    for (number, rule) in RULES.iter().enumerate().filter(|(_, rule)| !rule.facts.is_empty()) {
        let touched = documents[0].results.iter().filter(|result| touches(rule, result, &levels)).count();
        // A cause that no result of these documents can show cannot be planted either.
        if touched == 0 {
            // Causes of accelerators are planted in `tests/it/devices.rs`.
            let of_devices = rule.touches.iter().all(|primitive| ACCELERATOR.contains(primitive));
            assert!(
                of_devices || ["another compiler", "the compiler"].contains(&rule.title),
                "nothing shows {}",
                rule.title
            );
            continue;
        }
        for (turn, fact) in rule.facts.iter().enumerate() {
            let mut rng = ChaCha8Rng::seed_from_u64((100 * number + turn) as u64);
            let files = [Primitive::FileMetadata, Primitive::Durability].iter().any(|p| rule.own.contains(p));
            let slower = |result: &BenchmarkResult| match touches(rule, result, &levels) {
                true if files && result.class == Class::FileMetadata => FILES,
                true => FACTOR,
                false => 1.0,
            };
            let mut a = drawn(&documents, "2026-11-22T05:00:00Z", &|_| 1.0, &mut rng);
            let mut b = drawn(&documents, "2026-11-22T06:00:00Z", &slower, &mut rng);
            // By BBR, which the recorded guest uses, sessions lie too far apart for a cause of this size to be seen.
            for run in [&mut a, &mut b] {
                set(run, "network.congestion_control", FactValue::Text("cubic".to_owned()), &[Primitive::TcpStack]);
            }
            let disk = if fact.starts_with("disk") { "vda" } else { "eth0" };
            let fact = fact.replace('*', if fact.starts_with("cache") { "l2" } else { disk });
            plant(rule, &fact, &mut a, &mut b);
            let decoys = decoys(&mut a, &mut b, rule.facts, &mut rng);
            let found = explained(&a, &b);
            let (first, stated) = (first_or_rivals(&found), stated(&found));
            let told = format!("{} by {fact}, decoys {decoys:?}: {:#?}", rule.title, found.sentences());
            if !found.difference {
                // The recorded noise may hide a factor, but it must never turn it into another cause.
                unseen += 1;
            } else if !first.iter().any(|title| title == rule.title) {
                missed.push(format!("not found: {told}"));
            }
            if !stated.iter().all(|name| name == rule.title || is_fact(&fact, name)) {
                missed.push(format!("{stated:?}: {told}"));
            }
            planted += 1;
            named += usize::from(!stated.is_empty());
        }
    }
    println!("{planted} planted causes: {named} named, {unseen} hidden by noise, the others among the rivals");
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
    assert!(planted > 60 && named > 10 && unseen * 20 < planted, "{planted} planted, {named} named, {unseen} hidden");
}

/// A true cause whose neighbours are too noisy to decide. They must not count as unchanged, and the cause must be named
/// nearly as often as without noise.
#[test]
fn undecided_neighbours_do_not_speak_against_a_true_cause() {
    let documents = documents();
    let levels = Levels::new(&documents[0]);
    let rules = RULES.iter().filter(|rule| !rule.wide && !rule.own.is_empty() && !rule.facts.is_empty());
    let (mut pairs, mut open, mut named) = (0, 0, 0);
    for (number, rule) in rules.enumerate() {
        let neighbour = |result: &BenchmarkResult| {
            let own = measures(result, &levels).is_some_and(|primitive| rule.own.contains(&primitive));
            touches(rule, result, &levels) && !own
        };
        if rule.title == CPU_LIMIT || !documents[0].results.iter().any(neighbour) {
            continue;
        }
        for turn in 0..4 {
            let mut rng = ChaCha8Rng::seed_from_u64(20_000 + 100 * number as u64 + turn);
            let slower = |result: &BenchmarkResult| if touches(rule, result, &levels) { FACTOR } else { 1.0 };
            let mut a = drawn(&documents, "2026-11-22T05:00:00Z", &|_| 1.0, &mut rng);
            let mut b = drawn(&documents, "2026-11-22T06:00:00Z", &slower, &mut rng);
            let noise = |result: &BenchmarkResult| if neighbour(result) { 2.0 } else { 0.0 };
            scatter(&mut a, &noise, &mut rng);
            scatter(&mut b, &noise, &mut rng);
            for run in [&mut a, &mut b] {
                set(run, "network.congestion_control", FactValue::Text("cubic".to_owned()), &[Primitive::TcpStack]);
            }
            plant(rule, &rule.facts[0].replace('*', "vda"), &mut a, &mut b);
            let found = explained(&a, &b);
            let said = format!("{} by {}: {:#?}", rule.title, rule.facts[0], found.evidence());
            let rivals = found.causes.iter().flat_map(|cause| &cause.rivals);
            let against: Vec<&String> = rivals
                .filter(|rival| rival.title == rule.title)
                .flat_map(|rival| &rival.but)
                .filter(|but| but.contains("which should be affected as well"))
                .collect();
            assert!(against.is_empty(), "{against:?}: {said}");
            pairs += 1;
            let cause = found.causes.iter().find(|cause| cause.known_as.as_deref() == Some(rule.title));
            named += usize::from(cause.is_some());
            if let Some(cause) = cause.filter(|cause| !cause.inconclusive.is_empty()) {
                open += 1;
                let told = format!("or is inconclusive ({}", cause.inconclusive[0].benchmark);
                assert!(said.contains(&told) || cause.because.is_empty(), "{told}: {said}");
            }
        }
    }
    println!("{pairs} pairs: {named} causes are named, {open} of them beside inconclusive results");
    assert!(open >= 10, "{pairs} pairs, {named} named, {open} beside inconclusive results");
}

/// A decoy touches what moved and more, which stood still: however noisy that is, it is not taken to have moved too.
#[test]
fn what_stood_still_speaks_against_a_decoy() {
    let documents = documents();
    let levels = Levels::new(&documents[0]);
    let rule = RULES.iter().find(|rule| rule.title == "page-table isolation").unwrap();
    let entry = |result: &BenchmarkResult| measures(result, &levels) == Some(Primitive::SyscallEntry);
    for spread in [0.0, 0.1, 0.3] {
        for seed in 0..10 {
            let mut rng = ChaCha8Rng::seed_from_u64(30_000 + seed);
            let mut a = drawn(&documents, "2026-11-22T05:00:00Z", &|_| 1.0, &mut rng);
            let slower = |result: &BenchmarkResult| if entry(result) { FACTOR } else { 1.0 };
            let mut b = drawn(&documents, "2026-11-22T06:00:00Z", &slower, &mut rng);
            for run in [&mut a, &mut b] {
                scatter(run, &|result| if entry(result) { 0.0 } else { spread }, &mut rng);
            }
            plant(rule, rule.facts[0], &mut a, &mut b);
            let found = explained(&a, &b);
            assert!(stated(&found).is_empty(), "scatter of {spread}: {:#?}", found.sentences());
            let rivals = || found.causes.iter().flat_map(|cause| &cause.rivals);
            let mut but = rivals().filter(|rival| rival.title == rule.title).flat_map(|rival| &rival.but);
            let against = but.any(|but| but.contains("which should be affected as well"));
            assert!(against, "scatter of {spread}: {:#?}", found.sentences());
        }
    }
}

/// Pairs with only the clock changed: user mode follows it, and other results may not. Constant results did not become
/// cheaper, and a true improvement shows in what it changed.
#[test]
fn a_clock_alone_makes_nothing_else_cheaper() {
    let documents = documents();
    let user = |result: &BenchmarkResult| result.benchmark.starts_with("cpu.");
    let pipe = |result: &BenchmarkResult| result.benchmark == "ipc.pipe_latency";
    let mut gains = 0;
    for seed in 0..20 {
        for (factor, of_pipe) in [(1.5, 1.0), (3.0, 1.0), (3.0, 1.6), (1.0 / 3.0, 1.0), (3.0, 0.2)] {
            let mut rng = ChaCha8Rng::seed_from_u64(40_000 + seed);
            let mut a = drawn(&documents, "2026-11-22T05:00:00Z", &|_| 1.0, &mut rng);
            let slower = |result: &BenchmarkResult| match result {
                result if user(result) => factor,
                result if pipe(result) => of_pipe,
                _ => 1.0,
            };
            let mut b = drawn(&documents, "2026-11-22T06:00:00Z", &slower, &mut rng);
            set(&mut a, "cpu.clock", FactValue::Number(3e9), &[]);
            set(&mut b, "cpu.clock", FactValue::Number(3e9 / factor), &[]);
            let found = explained(&a, &b);
            let said = format!("clock {factor}, pipes {of_pipe}: {:#?}", found.sentences());
            assert!(found.common_factor.is_clock || factor < 2.0, "{said}");
            let pipes = found.causes.iter().filter(|cause| cause.unit.benchmark == "ipc.pipe_latency");
            let changes: Vec<f64> = pipes.map(|cause| cause.factor).collect();
            if of_pipe < 1.0 {
                gains += usize::from(changes.iter().any(|change| (change / of_pipe - 1.0).abs() < 0.5));
            } else {
                assert!(found.causes.is_empty(), "{said}");
            }
        }
    }
    assert!(gains >= 15, "a gain that is one is told: {gains} of 20");
}

#[test]
fn facts_that_differ_by_chance_are_never_stated_as_causes() {
    let documents = documents();
    let levels = Levels::new(&documents[0]);
    let all: Vec<Primitive> = documents[0].results.iter().filter_map(|result| measures(result, &levels)).collect();
    let (mut told, mut moved_pairs) = (0, 0);
    for seed in 0..60_u64 {
        let mut rng = ChaCha8Rng::seed_from_u64(5000 + seed);
        // Every second pair differs by something that no fact explains: one or two primitives, or one benchmark.
        let many = rng.random_range(1..3);
        let moved: Vec<Primitive> = all.choose_multiple(&mut rng, many).copied().collect();
        let factor = rng.random_range(1.5..FACTOR);
        let benchmark = documents[0].results.choose(&mut rng).unwrap().benchmark.clone();
        let slower = |result: &BenchmarkResult| {
            let hit = match seed % 4 {
                1 => measures(result, &levels).is_some_and(|primitive| moved.contains(&primitive)),
                3 => result.benchmark == benchmark,
                _ => false,
            };
            if hit { factor } else { 1.0 }
        };
        let (mut a, mut b) = if seed % 10 == 0 {
            (documents[0].clone(), documents[1].clone())
        } else {
            let a = drawn(&documents, "2026-11-22T05:00:00Z", &|_| 1.0, &mut rng);
            (a, drawn(&documents, "2026-11-22T06:00:00Z", &slower, &mut rng))
        };
        // Noise leaves more of what stood still undecided.
        let noise = if seed % 3 == 2 { 0.3 } else { 0.0 };
        scatter(&mut a, &|_| noise, &mut rng);
        scatter(&mut b, &|_| noise, &mut rng);
        let decoys = decoys(&mut a, &mut b, &[], &mut rng);
        let found = explained(&a, &b);
        let said = format!("seed {seed}, decoys {decoys:?}, moved {moved:?} or {benchmark}: {:#?}", found.sentences());
        assert!(stated(&found).is_empty(), "{:?}: {said}", stated(&found));
        told += usize::from(found.difference && seed % 2 == 0);
        moved_pairs += usize::from(found.difference && seed % 2 == 1);
    }
    println!("of 30 pairs without a difference {told} were said to differ; of 30 with one {moved_pairs}");
    assert!(moved_pairs >= 15, "the planted shifts are seen: {moved_pairs}");
}

/// A run under load against a quiet one: recorded disturbances come before any fact.
#[test]
fn recorded_disturbances_are_the_first_rival() {
    let documents = documents();
    let levels = Levels::new(&documents[0]);
    let rule = RULES.iter().find(|rule| rule.title == "page-table isolation").unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let slower = |result: &BenchmarkResult| if touches(rule, result, &levels) { FACTOR } else { 1.0 };
    let mut a = drawn(&documents, "2026-11-22T05:00:00Z", &|_| 1.0, &mut rng);
    let mut b = drawn(&documents, "2026-11-22T06:00:00Z", &slower, &mut rng);
    plant(rule, rule.facts[0], &mut a, &mut b);
    assert!(explained(&a, &b).causes[0].known_as.is_some());
    a.session.conditions.load = Some(0.1);
    let found = explained(&a, &b);
    let first = &found.causes[0];
    assert!(first.known_as.is_none() && first.because.is_empty(), "{:#?}", found.sentences());
    let titles: Vec<&str> = first.rivals.iter().map(|rival| rival.title.as_str()).collect();
    assert_eq!(titles[..2], ["interference", rule.title], "{:#?}", found.sentences());
    let said = found.sentences();
    assert!(said[1].starts_with("Interference in ") && said[1].contains("10.5 on 2 CPUs"), "{}", said[1]);
    assert!(said[0].contains("Interference may explain"), "{}", said[0]);
    assert!(said.iter().any(|text| text.starts_with("Repeat both runs on an idle machine")), "{said:#?}");
    assert!(found.evidence()[1].contains("cannot separate them"), "{}", found.evidence()[1]);
}

/// The factor of a kernel result in a session with common noise and noise of its own.
fn kernel_noise(common: f64, own: f64, result: &BenchmarkResult, levels: &Levels, rng: &mut ChaCha8Rng) -> f64 {
    let kernel = RULES.iter().find(|rule| rule.title == "another kernel").unwrap();
    let moved = measures(result, levels).is_some_and(|primitive| kernel.touches(primitive));
    if moved { (common + own * stats::simulate::standard_normal(rng)).exp() } else { 1.0 }
}

/// One machine compared with itself on a busy host: its kernel's results vary both together and separately.
#[test]
fn what_moves_with_disturbances_is_no_cause() {
    let documents = documents();
    let levels = Levels::new(&documents[0]);
    for (spread, unlike) in [(0.03, false), (0.06, false), (0.1, true), (0.3, true)] {
        let (mut named, mut told, mut differ) = (0, 0, 0);
        for seed in 0..40_u64 {
            let mut rng = ChaCha8Rng::seed_from_u64(9000 + seed);
            let mut side = |started: &str| {
                let common = spread * stats::simulate::standard_normal(&mut rng);
                let mut noise = rng.clone();
                let factors: Vec<(model::ResultKey, f64)> = documents[0]
                    .results
                    .iter()
                    .map(|result| (result.key(), kernel_noise(common, spread / 2.0, result, &levels, &mut noise)))
                    .collect();
                rng = noise;
                let of = |result: &BenchmarkResult| factors.iter().find(|(key, _)| *key == result.key()).unwrap().1;
                drawn(&documents, started, &of, &mut rng)
            };
            let (mut a, b) = (side("2026-11-22T05:00:00Z"), side("2026-11-22T06:00:00Z"));
            if unlike {
                a.session.conditions.load = Some(0.1);
            }
            let found = explained(&a, &b);
            named += usize::from(!found.causes.is_empty());
            differ += usize::from(found.difference);
            let said = found.sentences().join("\n");
            let untold = found.left_open.iter().any(|open| open.why == super::result::UNTOLD);
            assert_eq!(untold, said.contains("Interference alone may explain"), "{said}");
            if untold {
                told += 1;
                assert!(said.contains("Repeat both runs on an idle machine"), "{said}");
            }
        }
        println!(
            "noise of {spread}, disturbed unlike: {unlike}: of 40 pairs {differ} differ, {named} name a cause, {told} leave it open"
        );
        assert!(named <= 2, "noise of {spread}, disturbed unlike: {unlike}: {named} of 40 name a cause");
        assert!(spread < 0.3 || told >= 10, "{told} of 40");
    }
}
