//! Differences that few samples leave open are no cause, and results compared in cycles are reported in cycles.
#![allow(clippy::unwrap_used, reason = "helpers of tests, which Clippy does not recognise as such")]

use explain::{Explanation, explain};
use model::{BenchmarkResult, Class, Estimate, EstimateMethod, Fact, Origin, Outcome, Primitive, Run, Sample};
use stats::simulate::generator;

use crate::common::core::{GUEST, GuestSession, Surroundings, core_run};
use crate::common::{from_values, result, run, time};

fn isolation(on: bool) -> Fact {
    Fact::new(
        "kernel.page_table_isolation",
        on,
        "",
        &[Primitive::SyscallEntry, Primitive::ContextSwitch, Primitive::PageFault],
    )
}

/// A result as a run states it with too few samples for an interval.
fn few(benchmark: &str, class: Class, primitive: Primitive, values: &[f64]) -> BenchmarkResult {
    let range = stats::sample_median_range(values);
    let value = stats::median(values).unwrap();
    let estimate = range.map_or_else(
        || Estimate::without_spread(value),
        |found| found.estimate(values.len(), 20, EstimateMethod::Range),
    );
    let mut made = result(benchmark, "", time("call"), class, &[primitive], Outcome::Measured(estimate));
    made.samples = values.iter().map(|&value| Sample { value, ..Sample::default() }).collect();
    made
}

/// Everything that page-table isolation touches, a quarter slower by its median where `slower`.
fn side(id: &str, slower: bool, samples: usize) -> Run {
    let scatter: &[f64] = if slower { &[1.25, 1.9, 2.4, 2.0] } else { &[1.0, 1.5, 2.0, 1.6] };
    let of = |benchmark: &str, class: Class, primitive: Primitive, value: f64| {
        let values: Vec<f64> = scatter[..samples].iter().map(|factor| factor * value).collect();
        few(benchmark, class, primitive, &values)
    };
    let results = vec![
        of("os.syscall_getppid", Class::Compute, Primitive::SyscallEntry, 1e-7),
        of("os.page_fault", Class::Fault, Primitive::PageFault, 3e-7),
        of("os.context_switch", Class::Ipc, Primitive::ContextSwitch, 2e-6),
    ];
    let mut made = run(id, "m", id, results);
    made.machine.facts = vec![isolation(slower)];
    made
}

fn explained(a: &Run, b: &Run) -> Explanation {
    explain(a, b, &crate::options()).unwrap()
}

#[test]
fn samples_that_determine_no_interval_name_no_cause() {
    for samples in 1..=3 {
        let found = explained(&side("a", false, samples), &side("b", true, samples));
        let said = found.sentences().join(" ");
        assert!(found.causes.is_empty() && !found.difference, "{samples} samples: {said}");
        assert!(
            said.contains("No difference is certain: 3 of 3 results are inconclusive."),
            "{samples} samples: {said}"
        );
    }
}

#[test]
fn values_that_others_printed_without_spread_still_count_from_ten_percent_on() {
    let printed = |mut run: Run| {
        run.origin = Some(Origin { tool: "a table".to_owned(), ..Origin::default() });
        run
    };
    let found = explained(&printed(side("a", false, 1)), &printed(side("b", true, 1)));
    assert!(!found.causes.is_empty(), "{:?}", found.sentences());
}

/// A session whose system call takes `factor` times the cycles, and everything else the same.
fn guest(id: &str, clock: f64, factor: f64, seed: u64) -> Run {
    let mut rng = generator(seed);
    let mut session = GuestSession::new(Surroundings { clock, steps: false, neighbour: 0.0 }, &mut rng);
    let mut results: Vec<BenchmarkResult> =
        [Primitive::IntegerAlu, Primitive::Divide, Primitive::Branch, Primitive::SyscallEntry]
            .into_iter()
            .enumerate()
            .map(|(at, primitive)| {
                let cycles = if primitive == Primitive::SyscallEntry { 400.0 * factor } else { 5.0 + at as f64 };
                let mut made = session.core(&format!("sim.f{at}"), time("call"), Class::Compute, cycles, 0.0003);
                made.stresses = vec![primitive];
                made
            })
            .collect();
    results[3].benchmark = "os.call".to_owned();
    core_run(id, "guest", id, results)
}

#[test]
fn what_is_slower_in_cycles_is_told_as_slower_whatever_the_clock_did_within_the_band() {
    let base = guest("a", GUEST.clock, 1.0, 21);
    for (clock, factor) in [(1.017, 1.03), (1.017, 1.018), (0.985, 1.02), (1.0, 1.02)] {
        let found = explained(&base, &guest("b", GUEST.clock * clock, factor, 22));
        let said = found.sentences().join(" ");
        assert!((found.common_factor.value - 1.0).abs() < 1e-12, "within the band: {said}");
        let [cause] = found.causes.as_slice() else { panic!("clock {clock}, cycles {factor}: {said}") };
        assert!((cause.factor - factor).abs() < 0.004, "clock {clock}, cycles {factor}: {said}");
        let (low, high) = (cause.excess_low.unwrap(), cause.excess_high.unwrap());
        assert!(0.0 < low && low < cause.excess && cause.excess < high, "{low} {} {high}", cause.excess);
        assert_eq!(cause.at_one_clock, clock != 1.0, "{said}");
        assert_eq!(said.contains("at the same clock"), clock != 1.0, "{said}");
    }
    let found = explained(&base, &guest("b", GUEST.clock * 1.017, 1.0, 23));
    assert!(!found.difference, "{:?}", found.sentences());
}

#[test]
fn a_bound_on_slowdowns_rules_nothing_out_for_what_is_faster() {
    let said = |factor: f64| {
        let mut b = guest("b", GUEST.clock, 1.3, 24);
        let memory = |id: &str, factor: f64, seed: u64| {
            let mut rng = generator(seed);
            let values: Vec<f64> =
                (0..20).map(|_| factor * (0.002 * stats::simulate::standard_normal(&mut rng)).exp()).collect();
            let mut made = from_values(id, "", time("byte"), Class::Bandwidth, &values);
            made.stresses = vec![Primitive::DramRead];
            made
        };
        let mut a = guest("a", GUEST.clock, 1.0, 25);
        a.results.push(memory("memory.read", 1.0, 26));
        b.results.push(memory("memory.read", factor, 27));
        explained(&a, &b).evidence().join(" ")
    };
    let faster = said(0.6);
    assert!(faster.contains("Ruled out for system call entry: memory"), "{faster}");
    assert!(said(1.0).contains("Ruled out as the main cause: "));
}

/// System calls of two sessions, with the factors by which the second has a short one and a yield of the CPU.
fn calls(short: f64, offered: f64) -> (Run, Run) {
    let side = |id: &str, short: f64, offered: f64| {
        let of = |benchmark: &str, value: f64| {
            let values: Vec<f64> = (0..12).map(|at| value * (1.0 + 0.001 * f64::from(at * 7 % 12))).collect();
            from_values(benchmark, "", time("call"), Class::Compute, &values)
        };
        let mut results = vec![
            of("os.syscall_getppid", 1e-7 * short),
            of("os.syscall_write", 1.3e-7 * short),
            of("os.yield", 5e-7 * offered),
        ];
        results.iter_mut().for_each(|result| result.stresses = vec![Primitive::SyscallEntry]);
        run(id, "m", id, results)
    };
    (side("a", 1.0, 1.0), side("b", short, offered))
}

/// Next to a busy thread a yield takes that thread's whole time slice, in some recorded documents.
#[test]
fn what_is_more_than_a_whole_system_call_is_not_its_entry() {
    let (a, b) = calls(1.0, 16_000.0);
    for (a, b) in [(&a, &b), (&b, &a)] {
        let found = explained(a, b);
        let said = found.evidence().join(" ");
        assert!(found.causes.is_empty() && found.difference, "{said}");
        assert!(said.contains("os.yield") && said.contains("more than all of os.syscall_getppid"), "{said}");
    }
    // An entry that is ten times as long shows in all of them.
    let (a, b) = calls(10.0, 3.0);
    let found = explained(&a, &b);
    assert_eq!(found.causes[0].primitives, [Primitive::SyscallEntry], "{:?}", found.sentences());
    assert_eq!(found.causes[0].pays_for.len(), 3, "{:?}", found.sentences());
}
