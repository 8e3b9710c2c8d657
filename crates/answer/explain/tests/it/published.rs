//! The worked example: two near-identical machines of 2004, from the published tables alone.

#![allow(clippy::unwrap_used, reason = "helpers of tests, which Clippy does not recognise as such")]

use crate::common;

use crate::common::{plain, published, published_run};
use explain::{Explanation, explain};
use model::{BenchmarkResult, Fact, FactValue, Metric, Primitive, ResultKey, Run, Unit};

/// Id and parameters of a row of the BYTE table.
fn id(test: &str) -> (&'static str, String) {
    let after = |from: &str| test.split(from).nth(1).unwrap_or_default().trim_end_matches(')').to_owned();
    match test {
        _ if test.starts_with("Dhrystone 2 without") => ("cpu.dhrystone", "registers=no".into()),
        _ if test.starts_with("Dhrystone") => ("cpu.dhrystone", "registers=yes".into()),
        _ if test.starts_with("Arithmetic") => {
            let kind = after("type = ").replace("arithoh", "overhead");
            ("cpu.arithmetic", format!("type={kind}"))
        }
        _ if test.starts_with("System Call") => ("os.syscall_mix", String::new()),
        _ if test.starts_with("Pipe Throughput") => ("ipc.pipe_throughput", String::new()),
        _ if test.starts_with("Pipe-based") => ("os.pipe_switch", "placement=free".into()),
        _ if test.starts_with("Process Creation") => ("os.fork_exit", String::new()),
        _ if test.starts_with("Execl") => ("os.exec", String::new()),
        _ if test.starts_with("File Read") => ("file.read", format!("seconds={}", &after("(")[..2])),
        _ if test.starts_with("File Write") => ("file.write", format!("seconds={}", &after("(")[..2])),
        _ if test.starts_with("File Copy") => ("file.copy", format!("seconds={}", &after("(")[..2])),
        _ if test.starts_with("C Compiler") => ("shell.compile", String::new()),
        _ if test.starts_with("Shell") => ("shell.script", format!("concurrent={}", &after("(")[..1])),
        _ if test.starts_with("Dc") => ("shell.dc", String::new()),
        _ => ("cpu.hanoi", String::new()),
    }
}

fn cyberlife() -> Option<(Run, Run)> {
    let byte = published("cyberlife-2004/byte_benchmark.csv")?;
    let ram = published("cyberlife-2004/ramspeed.csv")?;
    let configuration = published("cyberlife-2004/configuration.csv")?;
    let run = |name: &str, column: usize| {
        let mut results: Vec<BenchmarkResult> = Vec::new();
        for row in &byte[1..] {
            let (benchmark, parameters) = id(&row[0]);
            let (column, value): (usize, f64) = (row.len() - 2 + column, row[row.len() - 2 + column].parse().unwrap());
            assert!(column >= 2);
            let (metric, scale) = match row[row.len() - 3].as_str() {
                "lpm" => (Metric::higher(Unit::PerSecond, "loops"), 1.0 / 60.0),
                "KBps" => (Metric::higher(Unit::BytesPerSecond, "bytes"), 1000.0),
                _ => (Metric::higher(Unit::PerSecond, "loops"), 1.0),
            };
            results.push(plain(benchmark, &parameters, metric, value * scale));
        }
        for row in &ram[1..] {
            for (benchmark, offset) in [("memory.read", 1), ("memory.write", 2)] {
                let value: f64 = row[2 * column + offset].parse().unwrap();
                let parameters = format!("working_set={}KiB", row[0]);
                results.push(plain(benchmark, &parameters, Metric::higher(Unit::BytesPerSecond, "bytes"), value * 1e6));
            }
        }
        let mut made = published_run(name, results);
        made.machine.facts = configuration[1..].iter().flat_map(|row| facts(&row[0], &row[1 + column])).collect();
        made
    };
    Some((run("appserver.geo", 0), run("beastie.lab", 1)))
}

/// Facts of a row of the configuration table, with the ids that the import of the evaluation gives them.
fn facts(component: &str, value: &str) -> Vec<Fact> {
    let fact = |name: &str, value: FactValue| Fact::new(name, value, "configuration", &[]);
    let text = |name: &str| fact(name, FactValue::Text(value.to_owned()));
    match component {
        _ if value.is_empty() => Vec::new(),
        "CPU" => {
            let clock = if value.contains("1.73") { 1.73e9 } else { 1.8e9 };
            vec![text("cpu.model"), fact("cpu.clock", FactValue::Number(clock))]
        }
        "RAM" => vec![fact("memory.kind", FactValue::Text(value.split(' ').next().unwrap().to_owned()))],
        "Chipset" => vec![text("board.chipset")],
        "ATA Controller" => vec![text("disk.controller")],
        "System Drive" => vec![text("disk.system.model")],
        "Secondary Drive" => vec![text("disk.secondary.model")],
        "Operating System" => vec![text("os.name")],
        _ => Vec::new(),
    }
}

fn worked() -> Option<Explanation> {
    let (a, b) = cyberlife()?;
    let found = explain(&a, &b, &crate::options()).unwrap();
    Some(found)
}

fn near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected} within {tolerance}");
}

fn residual(found: &Explanation, primitive: Primitive) -> f64 {
    found.residuals.iter().find(|r| r.primitive == primitive).unwrap().residual
}

#[test]
fn the_clock_explains_ten_of_twenty_seven_tests() {
    let Some(found) = worked() else { return };
    assert_eq!((found.tests, found.curve_points, found.difference), (27, 30, true));
    let factor = &found.common_factor;
    near((factor.value - 1.0) * 100.0, -3.75, 0.005);
    assert_eq!((factor.from.len(), factor.explains.len(), factor.follows.len()), (10, 10, 2));
    near((factor.clock_ratio.unwrap() - 1.0) * 100.0, -3.7, 0.02);
    assert!(factor.is_clock && !factor.clock_seen && factor.rivals.is_empty(), "{:?}", factor.rivals);
    assert!(factor.because.iter().any(|d| d.name == "cpu.clock"), "{:?}", factor.because);
    assert!(found.assumed.iter().any(|text| text.contains("1733.3 MHz")), "{:?}", found.assumed);
}

#[test]
fn residuals_are_those_of_the_worked_case() {
    let Some(found) = worked() else { return };
    for primitive in [Primitive::L1, Primitive::L2, Primitive::PageCache] {
        near(residual(&found, primitive), 1.0, 0.02);
    }
    for (primitive, percent) in [
        (Primitive::DramRead, 1.1),
        (Primitive::DramWrite, 5.0),
        (Primitive::SyscallEntry, 2.0),
        (Primitive::Pipe, -5.0),
        (Primitive::Fork, 12.0),
        (Primitive::ContextSwitch, 279.0),
        (Primitive::Exec, 384.0),
        (Primitive::DiskWrite, 249.0),
    ] {
        near((residual(&found, primitive) - 1.0) * 100.0, percent, 0.6);
    }
}

#[test]
fn switch_and_exec_are_causes_of_their_own() {
    let Some(found) = worked() else { return };
    let cause = |primitive: Primitive| found.causes.iter().find(|cause| cause.primitives == [primitive]).unwrap();
    let (switch, exec) = (cause(Primitive::ContextSwitch), cause(Primitive::Exec));
    near(switch.excess * 1e6, 8.2, 0.05);
    near(exec.excess * 1e3, 2.87, 0.005);
    near(exec.excess / switch.excess, 351.0, 0.5);
    let fork = switch.pays_for.iter().find(|payment| payment.test.benchmark == "os.fork_exit").unwrap();
    near(fork.units, 1.5, 0.05);
    assert_eq!(exec.pays_for.len(), 1);
    let disk = cause(Primitive::DiskWrite);
    assert_eq!(disk.pays_for.len(), 4);
    assert!(disk.because.iter().any(|d| d.name == "disk.system.model"), "{:?}", disk.because);
    assert_eq!(disk.known_as.as_deref(), Some("disk model, mode or write cache"));
    // One machine has no second disk: a fact that is not recorded is no difference.
    assert!(found.facts.iter().all(|d| d.name != "disk.secondary.model"), "{:?}", found.facts);
    for cause in [exec, switch] {
        assert!(cause.because.is_empty() && cause.rivals.is_empty(), "{cause:?}");
    }
    assert_eq!(found.causes.len(), 3, "fork is paid for, system call and pipe are too small to call");
}

#[test]
fn shell_and_compiler_are_an_unmeasured_third_cause() {
    let Some(found) = worked() else { return };
    let [group] = found.unmeasured.as_slice() else { panic!("{:?}", found.unmeasured) };
    let names: Vec<String> = group.tests.iter().map(ToString::to_string).collect();
    assert_eq!(
        names,
        [
            "shell.compile",
            "shell.script:concurrent=1",
            "shell.script:concurrent=2",
            "shell.script:concurrent=4",
            "shell.script:concurrent=8"
        ]
    );
    near(group.excess.0 * 1e3, 155.3, 0.5);
    near(group.excess.1 * 1e3, 170.3, 0.5);
    near(group.slowdown.0, 7.3, 0.05);
    near(group.slowdown.1, 11.1, 0.05);
    let need = |primitive: Primitive| group.would_need.iter().find(|need| need.primitive == primitive).unwrap();
    near(need(Primitive::ContextSwitch).least, 19_000.0, 200.0);
    near(need(Primitive::Exec).least, 54.0, 0.5);
    near(need(Primitive::Exec).most, 59.5, 0.2);
    let slowest = group.slowest_measured.unwrap();
    assert!(slowest.primitive == Primitive::Exec && slowest.at_most < group.slowdown.0, "{slowest:?}");
}

#[test]
fn bounds_rule_out_and_do_not_rule_out() {
    let Some(found) = worked() else { return };
    let out = |title: &str| found.ruled_out.iter().find(|out| out.title == title).unwrap();
    for title in ["caches", "memory"] {
        assert!(out(title).of.is_empty(), "{title} is ruled out for every cause");
    }
    // The clock explains other tests: it is ruled out by name.
    assert_eq!(out("clock").of, ["disk write", "exec", "context switch", "unmeasured resource"]);
    near(out("memory").bound, 1.05, 0.005);
    assert!(out("clock").bound < 1.0);
    assert_eq!(out("disk").of, ["exec", "context switch"]);
    let disk = found.not_ruled_out.iter().find(|not| not.title == "disk").unwrap();
    assert_eq!(disk.tests.len(), 5, "neither for the scripts nor for the compiler");
    let next = found.next_experiment.as_ref().unwrap();
    assert_eq!(next.benchmarks[..3], ["file.create", "file.fsync", "os.fork_exec"]);
    assert!(next.why.contains("mount options") && next.why.contains("a static and a dynamic"));
}

#[test]
fn what_was_assumed_is_named() {
    let Some(found) = worked() else { return };
    let text = found.assumed.join("\n");
    for word in ["no spread", "units", "one switch of os.pipe_switch", "one script of shell.script", "8 × exec"] {
        assert!(text.contains(word), "{word} is missing from {text}");
    }
    let dc =
        found.left_open.iter().find(|open| open.test == ResultKey::new("shell.dc", common::parameters(""))).unwrap();
    assert!(dc.why.contains("doubtful") && dc.why.contains("206 µs"), "{}", dc.why);
    let arithmetic = found.arithmetic().join("\n");
    for line in [
        "os.exec: 3.62 ms − 747 µs × 1.0000 = 2.87 ms per exec",
        "os.fork_exit: 12.0 µs / 8.18 µs = 1.5 of os.pipe_switch:placement=free; it uses 2 (assumed)",
    ] {
        assert!(arithmetic.contains(line), "{line}");
    }
    let said = found.sentences();
    let cpus = "The CPUs differ: AMD Athlon XP 2100+ (1.73 GHz) against AMD Athlon XP 2200+ (1.8 GHz).";
    assert!(said[0].starts_with(cpus) && said[0].contains("The clock would make"), "{}", said[0]);
    assert!(said.iter().any(|text| text.contains("at least 11x slower")), "{said:#?}");
    let said = found.evidence();
    assert!(said[0].starts_with("The clock explains 10 of 27 results: −3.75% in each"), "{}", said[0]);
    assert!(said.iter().any(|text| text.contains("(351 per exec would be needed): a separate cause")));
    assert!(said.iter().any(|text| text.contains("54 to 59 execs") && text.contains("at least 11x slower")));
    let round: Explanation = serde_json::from_str(&serde_json::to_string(&found).unwrap()).unwrap();
    assert_eq!(round.sentences(), found.sentences());
}

#[test]
fn unrelated_facts_are_no_causes_of_the_worked_case() {
    let Some((mut a, mut b)) = cyberlife() else { return };
    // Added one after the other: facts that differ without an effect.
    let decoys = [
        ("kernel.address_space_randomised", "1", "2"),
        ("memory.overcommit", "0", "2"),
        ("software.shell", "/bin/sh", "/usr/local/bin/bash"),
        ("software.libc", "libc 4", "libc 5"),
        ("cpu.microcode", "0x1", "0x2"),
        ("cpu.idle_governor", "menu", "ladder"),
        ("memory.transparent_huge_pages", "always", "never"),
    ];
    for (name, x, y) in decoys {
        for (run, value) in [(&mut a, x), (&mut b, y)] {
            let value = FactValue::Text(value.to_owned());
            run.machine.facts.push(Fact::new(name, value, "", &[]));
        }
        let found = explain(&a, &b, &crate::options()).unwrap();
        for cause in found.causes.iter().filter(|cause| cause.primitives != [Primitive::DiskWrite]) {
            assert!(cause.known_as.is_none() && cause.because.is_empty(), "{name}: {cause:#?}");
        }
        assert!(
            !found.evidence().join(" ").contains("cpu.idle_governor"),
            "no driver is known: {:#?}",
            found.sentences()
        );
    }
    b.machine.facts.push(Fact::new("cgroup.cpus", 0.5, "", &[Primitive::CoreClock]));
    let found = explain(&a, &b, &crate::options()).unwrap();
    assert!(found.common_factor.is_clock && !found.sentences().join(" ").contains("limit"), "{:#?}", found.sentences());
}

#[test]
fn a_common_factor_is_called_clock_only_where_the_clocks_agree() {
    let Some((a, mut b)) = cyberlife() else { return };
    let mut clock = |hertz: Option<f64>| {
        b.machine.facts.retain(|fact| fact.name != "cpu.clock");
        let value = hertz.map_or_else(|| FactValue::Unknown("not printed".to_owned()), FactValue::Number);
        b.machine.facts.push(Fact::new("cpu.clock", value, "", &[]));
        for fact in b.machine.facts.iter_mut().filter(|fact| fact.name == "cpu.model") {
            fact.value = FactValue::Text("AMD Athlon XP 2200+".to_owned());
        }
        explain(&a, &b, &crate::options()).unwrap()
    };
    let equal = clock(Some(1.73e9));
    assert!(!equal.common_factor.is_clock && equal.common_factor.because.is_empty());
    assert!(equal.sentences()[0].contains("A common factor other than the clock"), "{:?}", equal.sentences());
    let said = &equal.evidence()[0];
    assert!(said.starts_with("A common factor explains 10 of 27 results: −3.75% in each"), "{said}");
    assert!(said.contains("not known to be the clock (the nominal clocks give +0.0%)"), "{said}");
    let unknown = clock(None);
    assert!(!unknown.common_factor.is_clock, "{:?}", unknown.common_factor);
    assert!(unknown.evidence()[0].contains("no clock is recorded for both"), "{}", unknown.evidence()[0]);
    assert!(clock(Some(1.8e9)).evidence()[0].starts_with("The clock explains 10 of 27 results"));
}
