//! An answer agrees with the results: nothing inconclusive is called equal, no cause is excluded, no end of an interval
//! is reported as a value, and differences are distinguished.

#![allow(clippy::unwrap_used, reason = "helpers of tests, which Clippy does not recognise as such")]

use explain::{Explanation, explain};
use model::{BenchmarkResult, Class, FactValue, Metric, Primitive as P, Run, Unit};
use stats::simulate::{generator, standard_normal};

use crate::common::core::{GUEST, GuestSession, Surroundings, core_run};
use crate::common::{from_values, run, time};
use crate::measured::{fact, measured, unchanged};

fn explained(a: &Run, b: &Run) -> Explanation {
    explain(a, b, &crate::options()).unwrap()
}

fn text(name: &str, value: &str) -> model::Fact {
    fact(name, FactValue::Text(value.to_owned()), &[])
}

/// Twenty samples around a value, with this standard deviation of their logarithms.
fn around(
    benchmark: &str,
    metric: Metric,
    class: Class,
    measures: P,
    value: f64,
    spread: f64,
    seed: u64,
) -> BenchmarkResult {
    let rng = &mut generator(seed);
    let values: Vec<f64> = (0..20).map(|_| value * (spread * standard_normal(rng)).exp()).collect();
    let mut made = from_values(benchmark, "", metric, class, &values);
    made.stresses = vec![measures];
    made
}

#[test]
fn a_shift_that_is_not_decided_is_not_called_no_difference() {
    let mut inconclusive = 0;
    for seed in 0..10 {
        // 4% more for programs and files, which two sessions may differ by.
        let slower = |benchmark: &str, at: &str| {
            let those = benchmark.starts_with("os.fork") || benchmark.starts_with("file.");
            (at.to_owned(), if those { 1.04 } else { 1.0 })
        };
        let a = measured("a", "day 1", &unchanged, &mut generator(2 * seed));
        let b = measured("b", "day 2", &slower, &mut generator(2 * seed));
        let found = explained(&a, &b);
        if found.difference {
            continue;
        }
        let said = found.sentences().join(" ");
        let decided = found.decided;
        assert_eq!(decided.results, 22, "{said}");
        assert!(decided.inconclusive > 0 && !said.contains("No result differs"), "{said}");
        let begin = format!("No difference is certain: {} of 22 results are inconclusive.", decided.inconclusive);
        assert!(said.contains(&begin), "{said}");
        let needs = [decided.by_samples, decided.by_sessions, decided.too_close];
        assert!(needs.iter().sum::<usize>() == decided.inconclusive, "{decided:?}: {said}");
        assert!(
            decided.by_sessions == 0
                || said.contains(&format!("{} need up to {} runs of each machine", needs[1], decided.sessions))
                || needs[1] == 1,
            "{said}"
        );
        inconclusive += 1;
    }
    assert!(inconclusive >= 5, "{inconclusive} of 10 pairs were left undecided");
    // Twice the same values of one session are the same, and said to be.
    let a = measured("a", "now", &unchanged, &mut generator(3));
    let mut b = measured("b", "now", &unchanged, &mut generator(3));
    b.id = "b".to_owned();
    let said = explained(&a, &b).sentences().join(" ");
    assert_eq!(said, "Same machine. No result differs: all 22 are the same within the margin.");
}

#[test]
fn samples_without_an_interval_are_inconclusive() {
    let of = |id: &str, value: f64| {
        let mut result = from_values("os.fork_exit", "", time("fork"), Class::Process, &[value]);
        result.stresses = vec![P::Fork];
        run(id, "m", id, vec![result])
    };
    let said = explained(&of("a", 1.0), &of("b", 3.0)).sentences().join(" ");
    assert_eq!(
        said,
        "Same machine. No difference is certain: 1 of 1 results is inconclusive. 1 has no interval to test."
    );
}

/// Memory and the entry into the kernel both became slower: each is a cause, and neither is ruled out as one.
#[test]
fn a_cause_is_not_ruled_out() {
    let both = |benchmark: &str, at: &str| {
        let factor = match benchmark {
            _ if benchmark.starts_with("memory.") && !at.contains("32KiB") => 2.0,
            _ if benchmark.starts_with("os.syscall") => 4.0,
            _ => 1.0,
        };
        (at.to_owned(), factor)
    };
    for faster in [false, true] {
        let a = measured("a", "now", &unchanged, &mut generator(5));
        let b = measured("b", "now", &both, &mut generator(5));
        let found = if faster { explained(&b, &a) } else { explained(&a, &b) };
        let causes: Vec<P> = found.causes.iter().flat_map(|cause| cause.primitives.clone()).collect();
        assert!(causes.contains(&P::DramRead) && causes.contains(&P::SyscallEntry), "{:#?}", found.sentences());
        for out in &found.ruled_out {
            let is_cause = out.primitives.iter().any(|primitive| causes.contains(primitive));
            assert!(!is_cause || !out.of.is_empty(), "{} is a cause: {:#?}", out.title, found.sentences());
            for cause in found.causes.iter().filter(|cause| out.of.contains(&cause.title)) {
                let same = cause.primitives.iter().any(|primitive| out.primitives.contains(primitive));
                assert!(!same, "{} is ruled out for {}: {:#?}", out.title, cause.title, found.sentences());
            }
        }
        // Memory is half as much slower, and ruled out for the calls by name; what did not move, for all.
        let memory = found.ruled_out.iter().find(|out| out.title == "memory");
        let named = memory.is_some_and(|out| out.of == ["system call entry"]);
        assert!(named || faster, "{:#?}", found.sentences());
        let clock = found.ruled_out.iter().any(|out| out.title == "clock" && out.of.is_empty());
        assert!(clock || faster, "{:#?}", found.sentences());
    }
}

/// One of two results of a primitive moved: the bound of its effect includes that result.
#[test]
fn a_bound_holds_the_result_that_moved() {
    let some = |benchmark: &str, at: &str| {
        let factor = match benchmark {
            "os.syscall_write" => 2.0,
            "os.fork_exit" => 1.7,
            _ => 1.0,
        };
        (at.to_owned(), factor)
    };
    let mut a = measured("a", "now", &unchanged, &mut generator(6));
    let mut b = measured("b", "now", &some, &mut generator(6));
    // More results that did not move, so that the median is constant.
    for run in [&mut a, &mut b] {
        let more = (0..3).map(|at| {
            let benchmark = format!("os.syscall_{at}");
            around(&benchmark, time("call"), Class::Compute, P::SyscallEntry, 1e-6, 0.002, at)
        });
        run.results.extend(more.collect::<Vec<_>>());
    }
    let found = explained(&a, &b);
    assert!(found.causes.iter().any(|cause| cause.primitives == [P::Fork]), "{:#?}", found.sentences());
    let out = found.ruled_out.iter().find(|out| out.title == "system call entry");
    assert!(out.is_none(), "a system call takes twice as long, a fork 1.7 times: {:#?}", found.sentences());
}

/// Programs with this slowdown, an fsync that scatters and an exec with this slowdown.
fn mixture(slower: f64, fsync_spread: f64, exec: f64) -> (Run, Run) {
    let side = |id: &str, seed: u64, slower: f64, exec: f64| {
        let mut made = measured(id, "now", &unchanged, &mut generator(9));
        made.results.retain(|result| result.benchmark != "file.fsync" && result.benchmark != "os.fork_exec");
        let fsync = around("file.fsync", time("call"), Class::FileMetadata, P::Durability, 5e-4, fsync_spread, seed);
        let other = around("os.fork_exec", time("exec"), Class::Process, P::Exec, 8e-4 * exec, 0.003, seed + 10);
        let scripts = Metric::higher(Unit::PerSecond, "scripts");
        let script = around("shell.script", scripts, Class::Process, P::Shell, 60.0 / slower, 0.003, seed + 20);
        made.results.extend([fsync, other, script]);
        made
    };
    (side("a", 1, 1.0, 1.0), side("b", 2, slower, exec))
}

#[test]
fn the_end_of_an_interval_is_not_told_as_a_value() {
    let (a, b) = mixture(5.0, 0.5, 1.0);
    let found = explained(&a, &b);
    let said = found.evidence().join(" ");
    let [group] = found.unmeasured.as_slice() else { panic!("{said}") };
    let slowest = group.slowest_measured.unwrap();
    assert!(slowest.primitive == P::Durability && slowest.at_most > 1.2 * slowest.slowdown, "{slowest:?}");
    let told = format!("nothing measured is more than {:.1}x slower", slowest.at_most);
    assert!(said.contains(&told) && !said.contains("the slowest thing measured"), "{said}");
    // A certain slowdown is reported by its value.
    let (a, b) = mixture(5.0, 0.001, 2.0);
    let said = explained(&a, &b).evidence().join(" ");
    assert!(said.contains("the slowest thing measured, exec, is 2.0x slower"), "{said}");
    // Where a part may have moved as much, nothing is said to be unmeasured.
    let (a, b) = mixture(2.0, 6.0, 1.0);
    let found = explained(&a, &b);
    assert!(found.unmeasured.is_empty(), "{:#?}", found.sentences());
}

/// Calls of a guest at this clock, with these factors on their cycles.
fn calls(id: &str, clock: f64, factors: [f64; 3]) -> Run {
    let mut rng = generator(31);
    let mut session = GuestSession::new(Surroundings { clock, steps: false, ..GUEST }, &mut rng);
    let results = factors.iter().enumerate().map(|(at, factor)| {
        let mut made = session.core(&format!("os.call{at}"), time("call"), Class::Compute, 400.0 * factor, 0.001);
        made.stresses = vec![P::SyscallEntry];
        made
    });
    core_run(id, "guest", id, results.collect())
}

#[test]
fn a_clock_that_no_result_shows_alone_does_not_explain_none_of_them() {
    let of = |factors: [f64; 3]| {
        let found = explained(&calls("a", GUEST.clock, [1.0; 3]), &calls("b", GUEST.clock / 1.475, factors));
        assert!(found.common_factor.is_clock, "{:?}", found.common_factor);
        [found.sentences(), found.evidence()].concat().join(" ")
    };
    let none = of([0.7, 0.75, 0.8]);
    assert!(!none.contains(" 0 of ") && !none.contains("in each"), "{none}");
    assert!(none.contains("The measured clocks give +47.5%, but no result changed by just that"), "{none}");
    let one = of([0.7, 1.0, 0.8]);
    assert!(one.contains("The clock explains 1 of 3 results: +47.5"), "{one}");
}

#[test]
fn different_cpus_are_named_first() {
    let of = |id: &str, facts: &[(&str, &str)]| {
        let mut made = measured(id, "now", &unchanged, &mut generator(3));
        made.machine.facts = facts.iter().map(|(name, value)| text(name, value)).collect();
        made
    };
    let amd = |family: &'static str, model: &'static str| {
        [("cpu.model", "AMD EPYC"), ("cpu.vendor", "AuthenticAMD"), ("cpu.family", family), ("cpu.model_number", model)]
    };
    let said = |a: &[(&str, &str)], b: &[(&str, &str)]| explained(&of("a", a), &of("b", b));
    let found = said(&amd("26", "2"), &amd("25", "1"));
    assert!(found.sentences()[0].starts_with("The CPUs differ: Zen 5 against Zen 3."), "{:?}", found.sentences());
    assert!(found.facts.iter().any(|fact| fact.name == "cpu.family"), "{:?}", found.facts);
    let named = said(&[("cpu.model", "Xeon 1"), ("cpu.family", "6")], &[("cpu.model", "Xeon 2"), ("cpu.family", "6")]);
    assert!(named.sentences()[0].starts_with("The CPUs differ: Xeon 1 against Xeon 2."), "{:?}", named.sentences());
    // Of one generation, or of one that has no certain name.
    let of_one = said(&amd("25", "1"), &amd("25", "33"));
    let numbers = "The CPUs differ: AMD EPYC, family 25 model 1 against AMD EPYC, family 25 model 33.";
    assert!(of_one.sentences()[0].starts_with(numbers), "{:?}", of_one.sentences());
    let unknown = said(&amd("99", "1"), &amd("25", "33"));
    assert!(unknown.sentences()[0].contains("family 99 model 1 against"), "{:?}", unknown.sentences());
    // The same CPU, or one that only one of the runs recorded.
    for (a, b) in [(&amd("25", "1")[..], &amd("25", "1")[..]), (&amd("25", "1")[..], &[][..])] {
        let found = said(a, b);
        assert!(found.cpus.is_none() && !found.sentences()[0].contains("CPUs"), "{:?}", found.sentences());
    }
}

/// Compilations of this slowdown, by a compiler that the result notes, and an exec of this slowdown.
fn compiles(id: &str, compiler: Option<&str>, slower: f64, exec: f64, seed: u64) -> Run {
    let mut made = measured(id, "now", &unchanged, &mut generator(9));
    made.results.retain(|result| result.benchmark != "os.fork_exec");
    made.results.push(around("os.fork_exec", time("exec"), Class::Process, P::Exec, 8e-4 * exec, 0.002, seed));
    let programs = Metric::higher(Unit::PerSecond, "programs");
    let mut result = around("shell.compile", programs, Class::Process, P::Compiler, 20.0 / slower, 0.002, seed + 1);
    result.notes.extend(compiler.map(|name| format!("compiler: /usr/bin/cc is {name}")));
    made.results.push(result);
    made
}

#[test]
fn another_compiler_may_be_why_compiling_takes_longer() {
    let (old, new) = (Some("gcc 9.4.0"), Some("gcc 14.2.0"));
    let between = |b: Option<&str>, slower: f64, exec: f64| {
        let found = explained(&compiles("a", old, 1.0, 1.0, 41), &compiles("b", b, slower, exec, 43));
        let said = found.evidence().join(" ");
        let rivals = found.causes.iter().flat_map(|cause| &cause.rivals);
        let named = rivals.filter(|rival| rival.title == "the compiler").count();
        (named, said, found)
    };
    let (named, said, found) = between(new, 2.0, 1.0);
    assert_eq!(named, 1, "{said}");
    assert!(said.contains("gcc 9.4.0 against /usr/bin/cc is gcc 14.2.0"), "{said}");
    assert!(found.facts.iter().any(|fact| fact.name == "software.compiler"), "{:?}", found.facts);
    // The same compiler, or one that only one run noted, is no reason.
    for same in [old, None] {
        let (named, said, _) = between(same, 2.0, 1.0);
        assert!(named == 0 && !said.contains("gcc"), "{said}");
    }
    // The compiler does not explain the cost of its execs: six of them, each by 4 ms.
    let (named, said, found) = between(new, 1.0 + 6.0 * 4e-3 * 20.0, 6.0);
    let exec = found.causes.iter().find(|cause| cause.primitives.contains(&P::Exec)).unwrap();
    let pays = exec.pays_for.iter().any(|payment| payment.test.benchmark == "shell.compile");
    assert!(named == 0 && pays, "{said}");
    // A compilation that takes as long as before has no cause, whichever the compiler is.
    assert!(!between(new, 1.0, 1.0).2.difference);
}
