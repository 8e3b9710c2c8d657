//! Differing facts that do not cause an effect, or not alone.

use explain::Explanation;
use model::{FactValue, Primitive as P, Run};

use crate::measured::{fact, planted};

/// Memory that became slower, by this factor.
fn memory(benchmark: &str, at: &str) -> (String, f64) {
    let slow = benchmark.starts_with("memory.") && !at.contains("32KiB");
    (at.to_owned(), if slow { 3.0 } else { 1.0 })
}

fn speeds(a: f64, b: f64) -> impl Fn(&mut Run, &mut Run) {
    let of = |speed: f64| fact("memory.speed", FactValue::Number(speed), &[P::DramRead, P::DramWrite]);
    move |one: &mut Run, other: &mut Run| {
        one.machine.facts.push(of(a));
        other.machine.facts.push(of(b));
    }
}

fn blames(found: &Explanation, title: &str) -> bool {
    let rivals = |cause: &explain::Cause| cause.rivals.iter().any(|rival| rival.title == title);
    found.causes.iter().any(|cause| cause.known_as.as_deref() == Some(title) || rivals(cause))
}

#[test]
fn faster_modules_are_no_cause_of_slower_memory() {
    let title = "memory channels and modules";
    planted(&memory, &speeds(4.8e9, 2.4e9), &|found| assert!(blames(found, title), "{:#?}", found.sentences()));
    planted(&memory, &speeds(2.4e9, 4.8e9), &|found| assert!(!blames(found, title), "{:#?}", found.sentences()));
}

/// Both make every entry into the kernel slower, so that neither is named for a call.
#[test]
fn two_facts_that_touch_every_call_are_rivals_in_every_call() {
    let calls = |benchmark: &str, at: &str| {
        let kernel =
            ["os.syscall", "os.page_fault", "os.context_switch", "ipc."].iter().any(|one| benchmark.starts_with(one));
        (at.to_owned(), if kernel { 1.8 } else { 1.0 })
    };
    let differ = |a: &mut Run, b: &mut Run| {
        for (run, value) in [(a, false), (b, true)] {
            for name in ["kernel.traced_calls", "kernel.page_table_isolation"] {
                run.machine.facts.push(fact(name, FactValue::Truth(value), &[P::SyscallEntry]));
            }
        }
    };
    planted(&calls, &differ, &|found| {
        let named = |title: &str| found.causes.iter().any(|cause| cause.known_as.as_deref() == Some(title));
        assert!(!named("agents that trace system calls"), "{:#?}", found.sentences());
        assert!(blames(found, "page-table isolation"), "{:#?}", found.sentences());
    });
}
