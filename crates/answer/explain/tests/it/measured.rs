//! Runs that differ by one planted cause are explained by that cause first; equal runs have no cause.

use crate::common::{from_values, parameters, rate, run, time};
use explain::{DifferenceKind, ExplainOptions, Explanation, explain};
use model::{BenchmarkResult, Class, Fact, FactValue, Footprint, Metric, Primitive as P, Run, Unit};
use rand_chacha::ChaCha8Rng;
use stats::simulate::{Noise, generator, standard_normal};

struct Spec(&'static str, &'static str, bool, Class, &'static [P], f64);

/// Similar to the suite of `prony run`. The third member says whether it is a rate.
#[rustfmt::skip]
const SUITE: &[Spec] = &[
    Spec("cpu.arithmetic", "type=int", true, Class::Compute, &[P::IntegerAlu], 4e8),
    Spec("cpu.arithmetic", "type=double", true, Class::Compute, &[P::FloatingPoint], 3e8),
    Spec("cpu.hanoi", "", true, Class::Compute, &[P::CoreClock], 3e5),
    Spec("cpu.dhrystone", "", true, Class::Compute, &[P::IntegerAlu], 5e7),
    Spec("memory.read", "working_set=256MiB,threads=1,pages=base", true, Class::Bandwidth, &[P::DramRead, P::Tlb], 16e9),
    Spec("memory.write", "working_set=256MiB,threads=1,stores=normal", true, Class::Bandwidth, &[P::DramWrite], 9e9),
    Spec("memory.copy", "working_set=256MiB,threads=1,stores=normal", true, Class::Bandwidth, &[P::DramWrite, P::DramRead], 13e9),
    Spec("memory.load_latency", "working_set=32KiB,pages=base", false, Class::Compute, &[P::L1], 2e-9),
    Spec("memory.load_latency", "working_set=64MiB,pages=base", false, Class::MemoryLatency, &[P::DramLatency, P::Tlb], 130e-9),
    Spec("os.syscall_write", "", false, Class::Compute, &[P::SyscallEntry], 0.13e-6),
    Spec("os.syscall_getppid", "", false, Class::Compute, &[P::SyscallEntry], 0.1e-6),
    Spec("os.page_fault", "", false, Class::Fault, &[P::PageFault], 0.5e-6),
    Spec("os.fork_exit", "", false, Class::Process, &[P::Fork, P::PageFault], 200e-6),
    Spec("os.fork_exec", "", false, Class::Process, &[P::Exec, P::Fork], 800e-6),
    Spec("os.context_switch", "processes=2,working_set=0", false, Class::Ipc, &[P::ContextSwitch], 1e-6),
    Spec("ipc.pipe_latency", "placement=same_cpu", false, Class::Ipc, &[P::Pipe, P::ContextSwitch], 2.8e-6),
    Spec("ipc.unix_latency", "placement=same_cpu", false, Class::Ipc, &[P::UnixSocket, P::ContextSwitch], 3.5e-6),
    Spec("ipc.tcp_latency", "placement=same_cpu", false, Class::Ipc, &[P::TcpStack, P::ContextSwitch], 9e-6),
    Spec("file.create", "size=0B", true, Class::FileMetadata, &[P::FileMetadata], 180e3),
    Spec("file.delete", "size=0B", true, Class::FileMetadata, &[P::FileMetadata], 250e3),
    Spec("file.fsync", "", false, Class::FileMetadata, &[P::Durability], 500e-6),
    Spec("file.read_cached", "", true, Class::FileData, &[P::PageCache], 6e9),
];

/// A run of the suite. `change` changes the parameters and value of a result. Each class has a normal shift of the
/// session, with the session noise as its standard deviation.
pub(crate) fn measured(
    id: &str,
    session: &str,
    change: &dyn Fn(&str, &str) -> (String, f64),
    rng: &mut ChaCha8Rng,
) -> Run {
    let moved: Vec<f64> = (0..10).map(|_| standard_normal(rng)).collect();
    let results: Vec<BenchmarkResult> = SUITE
        .iter()
        .map(|Spec(benchmark, at, is_rate, class, stresses, value)| {
            let (at, factor) = change(benchmark, at);
            let metric = match (is_rate, benchmark.starts_with("memory") || *benchmark == "file.read_cached") {
                (true, true) => Metric::higher(Unit::BytesPerSecond, "bytes"),
                (true, false) => rate("operations"),
                (false, _) => time("operation"),
            };
            let factor = if *is_rate { 1.0 / factor } else { factor };
            let session = (class.session_noise() * moved[*class as usize]).exp();
            let noise = Noise { disturbed: 0.0, ..Noise::stable(value * factor * session) };
            let mut result = from_values(benchmark, &at, metric, *class, &noise.samples(20, rng));
            result.stresses = stresses.to_vec();
            result.footprint = footprint(benchmark);
            result
        })
        .collect();
    run(id, "this machine", session, results)
}

fn footprint(benchmark: &str) -> Footprint {
    let cpu = benchmark.starts_with("cpu");
    let (switches, faults, forks) = match benchmark {
        "os.fork_exit" => (2, 60, 1),
        "os.fork_exec" => (2, 150, 1),
        "os.context_switch" => (1, 0, 0),
        "ipc.pipe_latency" | "ipc.unix_latency" | "ipc.tcp_latency" => (2, 0, 0),
        "os.page_fault" => (0, 1, 0),
        _ => (0, 0, 0),
    };
    Footprint {
        operations: 1000,
        user_seconds: Some(if cpu { 1.0 } else { 0.3 }),
        system_seconds: Some(if cpu { 0.0 } else { 0.7 }),
        voluntary_switches: Some(switches * 1000),
        minor_faults: Some(faults * 1000),
        forks: Some(forks * 1000),
        ..Footprint::default()
    }
}

pub(crate) fn unchanged(_: &str, at: &str) -> (String, f64) {
    (at.to_owned(), 1.0)
}

pub(crate) fn fact(name: &str, value: FactValue, affects: &[P]) -> Fact {
    Fact { name: name.to_owned(), value, unit: None, source: "test".to_owned(), affects: affects.to_vec() }
}

/// Explains a planted change over several seeds, in one session and between two.
#[allow(clippy::unwrap_used, reason = "a helper of tests")]
pub(crate) fn planted(
    change: &dyn Fn(&str, &str) -> (String, f64),
    differ: &dyn Fn(&mut Run, &mut Run),
    check: &dyn Fn(&Explanation),
) {
    for seed in 0..6 {
        let mut rng = generator(seed);
        let sessions = if seed % 2 == 0 { ("now", "now") } else { ("day 1", "day 2") };
        let quiet = &mut generator(100 + seed);
        let mut a = measured("a", sessions.0, &unchanged, if seed % 2 == 0 { &mut rng } else { quiet });
        let mut rng = generator(seed);
        let mut b = measured("b", sessions.1, change, &mut rng);
        differ(&mut a, &mut b);
        let found = explain(&a, &b, &crate::options()).unwrap();
        assert!(found.difference, "seed {seed}: {:?}", found.sentences());
        check(&found);
        let text = serde_json::to_string(&found).unwrap();
        assert!(!text.contains("NaN"), "{text}");
    }
}

pub(crate) fn first_is(found: &Explanation, known_as: &str) {
    let first = found.causes.first().unwrap_or_else(|| panic!("no cause: {:?}", found.sentences()));
    assert_eq!(first.known_as.as_deref(), Some(known_as), "{:#?}", found.sentences());
}

#[test]
fn equals_have_no_difference_to_explain() {
    let mut told = 0;
    for seed in 0..20 {
        let mut rng = generator(1000 + seed);
        let sessions = if seed % 2 == 0 { ("now", "now") } else { ("day 1", "day 2") };
        let a = measured("a", sessions.0, &unchanged, &mut rng);
        // Within one session both runs have the same shift.
        let b = if seed % 2 == 0 {
            let mut rng = generator(1000 + seed);
            let same = measured("b", sessions.1, &unchanged, &mut rng);
            let mut other = measured("b", sessions.1, &unchanged, &mut rng);
            for (result, reference) in other.results.iter_mut().zip(&same.results) {
                let (value, wanted) =
                    (result.outcome.estimate().unwrap().value, reference.outcome.estimate().unwrap().value);
                let noise = Noise { disturbed: 0.0, ..Noise::stable(wanted) };
                let values = noise.samples(20, &mut rng);
                assert!(value > 0.0);
                let stresses = result.stresses.clone();
                *result = from_values(
                    &result.benchmark,
                    &result.parameters.to_string(),
                    result.metric.clone(),
                    result.class,
                    &values,
                );
                result.stresses = stresses;
            }
            other
        } else {
            measured("b", sessions.1, &unchanged, &mut rng)
        };
        let mut b = b;
        // A fact that differs does not make an explanation necessary.
        b.machine.facts.push(fact("memory.transparent_huge_pages", FactValue::Text("never".into()), &[P::Tlb]));
        let found = explain(&a, &b, &crate::options()).unwrap();
        if found.difference {
            told += 1;
        } else {
            let said = &found.sentences()[0];
            let none = found.decided.inconclusive == 0;
            assert!(said.contains(if none { "No result differs" } else { "No difference is certain: " }), "{said}");
            assert!(found.causes.is_empty() && found.next_experiment.is_none() && found.unmeasured.is_empty());
        }
    }
    assert!(told <= 1, "{told} of 20 equal pairs were explained");
}

#[test]
fn placement_of_the_parties() {
    let change = |_: &str, at: &str| {
        let crossed = at.replace("placement=same_cpu", "placement=cross_cpu");
        let factor = if crossed == at { 1.0 } else { 12.0 };
        (crossed, factor)
    };
    planted(&change, &|_, _| {}, &|found| {
        first_is(found, "CPU placement of the two processes");
        let first = &found.causes[0];
        assert_eq!(first.pays_for.len(), 3);
        assert!(
            first
                .because
                .iter()
                .any(|d| d.kind == DifferenceKind::Parameter && d.a == "same_cpu" && d.b == "cross_cpu")
        );
        assert_eq!(found.causes.len(), 1, "{:?}", found.sentences());
        assert!(found.sentences()[1].contains("(same_cpu against cross_cpu)"), "{:?}", found.sentences());
    });
}

#[test]
fn one_run_at_two_placements() {
    let mut rng = generator(5);
    let mut a = measured("a", "now", &unchanged, &mut rng);
    let crossed = |_: &str, at: &str| (at.replace("same_cpu", "cross_cpu"), 12.0);
    let b = measured("b", "now", &crossed, &mut rng);
    a.results.extend(b.results.into_iter().filter(|result| result.parameters.get("placement").is_some()));
    let at = Some((parameters("placement=same_cpu"), parameters("placement=cross_cpu")));
    let found = explain(&a, &a.clone(), &ExplainOptions { at, ..crate::options() }).unwrap();
    first_is(&found, "CPU placement of the two processes");
    assert!(!explain(&a, &a.clone(), &crate::options()).unwrap().difference, "a run is like itself");
    // Without measurements there is no conclusion, least of all "no difference".
    for (wrong, told) in
        [("placement=same_moon", "placement is cross_cpu, same_cpu there"), ("moon=full", "have the parameters ")]
    {
        let at = Some((parameters("placement=same_cpu"), parameters(wrong)));
        let refused = explain(&a, &a.clone(), &ExplainOptions { at, ..crate::options() }).unwrap_err();
        assert!(refused.to_string().contains(wrong) && refused.to_string().contains(told), "{refused}");
    }
}

#[test]
fn huge_pages() {
    let slower = |benchmark: &str, at: &str| {
        let factor = match benchmark {
            "memory.load_latency" if at.contains("64MiB") => 2.5,
            "memory.read" => 1.12,
            "os.page_fault" => 1.9,
            "os.fork_exit" => 1.4,
            _ => 1.0,
        };
        (at.to_owned(), factor)
    };
    let facts = |a: &mut Run, b: &mut Run| {
        for (run, value) in [(a, "always"), (b, "never")] {
            let value = FactValue::Text(value.into());
            run.machine.facts.push(fact("memory.transparent_huge_pages", value, &[P::Tlb, P::PageFault]));
        }
    };
    // If the benchmarks chose their pages, the policy of the system has no effect.
    planted(&slower, &facts, &|found| {
        for cause in &found.causes {
            assert!(cause.known_as.is_none() && cause.because.is_empty(), "{:#?}", found.sentences());
        }
        assert!(!found.sentences().join(" ").contains("huge pages"), "{:#?}", found.sentences());
        assert!(found.facts.iter().any(|d| d.name == "memory.transparent_huge_pages"));
    });
    // The same as a parameter: the results were requested on other pages.
    let parameter = |benchmark: &str, at: &str| {
        let (_, factor) = slower(benchmark, at);
        (at.replace("pages=base", "pages=huge"), if at.contains("pages=base") { 1.0 / factor } else { 1.0 })
    };
    planted(&parameter, &|_, _| {}, &|found| {
        first_is(found, "huge pages");
        assert!(found.causes[0].excess < 0.0 && found.evidence()[0].contains("less per"), "{:?}", found.sentences());
    });
}

#[test]
fn streaming_against_normal_stores() {
    let change = |benchmark: &str, at: &str| {
        let factor = match benchmark {
            "memory.write" => 1.0 / 2.45,
            "memory.copy" => 1.0 / 1.5,
            _ => 1.0,
        };
        (at.replace("stores=normal", "stores=streaming"), factor)
    };
    planted(&change, &|_, _| {}, &|found| {
        first_is(found, "streaming or normal stores");
        assert_eq!(found.causes.len(), 1);
    });
}

#[test]
fn a_slower_directory() {
    let files = |benchmark: &str, at: &str| {
        let factor = match benchmark {
            "file.create" | "file.delete" => 9.0,
            "file.fsync" => 12.0,
            _ => 1.0,
        };
        (at.to_owned(), factor)
    };
    let directory = |a: &mut Run, b: &mut Run| {
        a.plan.directory = Some("/dev/shm".into());
        b.plan.directory = Some("/var/tmp".into());
    };
    planted(&files, &directory, &|found| {
        first_is(found, "file system and mount options");
        assert_eq!(found.causes.len(), 1);
        assert_eq!(found.causes[0].pays_for.len(), 3);
        assert_eq!(found.next_experiment.as_ref().unwrap().benchmarks, ["file.create"]);
    });
}

#[test]
fn a_cause_without_a_fact_is_named_by_its_primitive() {
    // Page faults twice as expensive: they explain fork and exec by their measured counts.
    let fault = 0.5e-6;
    let change = move |benchmark: &str, at: &str| {
        let factor = match benchmark {
            "os.page_fault" => 2.0,
            "os.fork_exit" => 1.0 + 60.0 * fault / 200e-6,
            "os.fork_exec" => 1.0 + 150.0 * fault / 800e-6,
            _ => 1.0,
        };
        (at.to_owned(), factor)
    };
    let mut rng = generator(3);
    let a = measured("a", "now", &unchanged, &mut generator(3));
    let b = measured("b", "now", &change, &mut rng);
    let found = explain(&a, &b, &crate::options()).unwrap();
    assert_eq!(found.causes.len(), 1, "{:#?}", found.sentences());
    let first = &found.causes[0];
    assert_eq!(first.primitives, [P::PageFault]);
    assert!(first.known_as.is_none() && first.because.is_empty());
    assert_eq!(first.pays_for.len(), 3, "{:#?}", found.sentences());
    assert!((first.excess - fault).abs() < 0.1 * fault);
    assert!(first.excess_low.unwrap() <= first.excess && first.excess <= first.excess_high.unwrap());
    assert_eq!(found.next_experiment.as_ref().unwrap().benchmarks, ["os.page_fault"]);
    assert!(found.ruled_out.iter().any(|out| out.title == "memory" && out.bound < 1.3));
}

#[test]
fn a_faster_clock_is_removed_before_memory_is_judged() {
    // The clock of B is 10% faster. If its memory equals A's, it differs from the clock alone, and not from A's.
    let at_clock = |memory_slower: f64| {
        let change = |benchmark: &str, at: &str| {
            let memory = benchmark.starts_with("memory") && !at.contains("32KiB");
            (at.to_owned(), if memory { memory_slower } else { 1.0 / 1.1 })
        };
        let mut a = measured("a", "now", &unchanged, &mut generator(8));
        let mut b = measured("b", "now", &change, &mut generator(8));
        for (run, clock) in [(&mut a, 2.0e9), (&mut b, 2.2e9)] {
            run.machine.facts.push(fact("cpu.clock", FactValue::Number(clock), &[P::CoreClock]));
        }
        explain(&a, &b, &crate::options()).unwrap()
    };
    let alike = at_clock(1.0);
    assert!(alike.difference && alike.causes.is_empty(), "{:#?}", alike.sentences());
    assert!((alike.common_factor.value - 1.0 / 1.1).abs() < 0.01);
    let found = at_clock(1.5);
    assert!((found.common_factor.value - 1.0 / 1.1).abs() < 0.01);
    assert!((found.common_factor.clock_ratio.unwrap() - 1.0 / 1.1).abs() < 1e-9);
    assert_eq!(found.common_factor.because.len(), 1);
    assert_eq!(found.common_factor.explains.len(), 4);
    let primitives: Vec<P> = found.causes.iter().flat_map(|cause| cause.primitives.clone()).collect();
    assert!(primitives.contains(&P::DramRead) && primitives.contains(&P::DramWrite), "{:#?}", found.sentences());
    assert!(!primitives.contains(&P::SyscallEntry));
}
