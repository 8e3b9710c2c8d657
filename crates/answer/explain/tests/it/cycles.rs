//! The common factor comes from the references, and a neighbour is a rival where it can touch the results.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests, which Clippy does not recognise as such"
)]

use explain::{Explanation, explain};
use model::{
    Class, CpuDistance, Definition, Domain, Fact, Primitive, RawReason, ResultSensors, Run, Share, ValueBasis,
};
use rand_chacha::ChaCha8Rng;
use stats::simulate::{generator, standard_normal};

use crate::common::core::{GUEST, GuestSession, Surroundings, core_run, shared_core};
use crate::common::{from_values, time};

const PRIMITIVES: [Primitive; 6] = [
    Primitive::IntegerAlu,
    Primitive::FloatingPoint,
    Primitive::Divide,
    Primitive::Branch,
    Primitive::SyscallEntry,
    Primitive::Vector,
];

/// A session of six core results; each takes `factor` times the cycles.
fn guest(id: &str, clock: f64, factor: f64, rng: &mut ChaCha8Rng) -> Run {
    guest_of(id, clock, &|_| factor, rng)
}

/// The same with a factor of each primitive.
fn guest_of(id: &str, clock: f64, factor: &dyn Fn(Primitive) -> f64, rng: &mut ChaCha8Rng) -> Run {
    let mut session = GuestSession::new(Surroundings { clock, steps: false, ..GUEST }, rng);
    let results = PRIMITIVES.iter().enumerate().map(|(i, primitive)| {
        let cycles = factor(*primitive) * (5.0 + i as f64);
        let mut made = session.core(&format!("cpu.f{i}"), time("operation"), Class::Compute, cycles, 0.001);
        made.stresses = vec![*primitive];
        made
    });
    core_run(id, "guest", id, results.collect())
}

fn explained(a: &Run, b: &Run) -> Explanation {
    let found = explain(a, b, &crate::options()).unwrap();
    for sentence in found.sentences() {
        println!("{sentence}");
    }
    found
}

#[test]
fn a_clock_that_fell_explains_everything_and_causes_nothing_else() {
    let mut rng = generator(11);
    let found = explained(&guest("a", 2.6e9, 1.0, &mut rng), &guest("b", 2.6e9 * 0.9, 1.0, &mut rng));
    let factor = &found.common_factor;
    assert!(factor.is_clock && factor.clock_seen && (factor.value * 0.9 - 1.0).abs() < 1e-6, "{factor:?}");
    assert_eq!(factor.explains.len(), 5, "{factor:?}");
    assert!(found.difference && found.causes.is_empty() && found.left_open.is_empty(), "{found:?}");
    assert!(found.residuals.iter().all(|residual| !residual.significant && (residual.residual - 1.0).abs() < 0.01));
}

/// A memory result, whose time does not follow the clock.
fn memory(run: &mut Run, benchmark: &str, domain: Domain, seconds: f64, rng: &mut ChaCha8Rng) {
    let samples: Vec<f64> = (0..20).map(|_| seconds * (0.001 * standard_normal(rng)).exp()).collect();
    let mut made = from_values(benchmark, "", time("load"), Class::MemoryLatency, &samples);
    made.stresses = vec![Primitive::DramLatency];
    let basis = ValueBasis::Raw(RawReason::LongOperation);
    made.sensors = Some(ResultSensors { domain, basis, ..ResultSensors::default() });
    run.results.push(made);
}

/// A memory that stays constant while the clock moves is not reported as moved; one that moved is.
#[test]
fn a_clock_that_moved_says_nothing_of_the_memory() {
    let mut rng = generator(15);
    for (domain, slower, clock) in [
        (Domain::Memory, 1.0, 0.5),
        (Domain::Memory, 1.0, 1.8),
        (Domain::Mixed, 1.0, 0.5),
        (Domain::Mixed, 1.5, 0.5),
        (Domain::Mixed, 2.0, 0.5),
        (Domain::Memory, 2.0, 0.5),
        (Domain::Mixed, 4.0, 0.5),
        (Domain::Mixed, 0.5, 0.5),
    ] {
        let (mut a, mut b) = (guest("a", 2.6e9, 1.0, &mut rng), guest("b", 2.6e9 * clock, 1.0, &mut rng));
        memory(&mut a, "memory.chase", domain, 1e-7, &mut rng);
        memory(&mut b, "memory.chase", domain, 1e-7 * slower, &mut rng);
        let found = explained(&a, &b);
        let factor = &found.common_factor;
        assert!(factor.is_clock && (factor.value * clock - 1.0).abs() < 1e-6, "{factor:?}");
        // A change that neither the whole clock nor no clock explains.
        let moved = match (domain, slower) {
            (Domain::Memory, slower) => slower - 1.0,
            (_, slower) if slower > 1.0 / clock => slower - 1.0 / clock,
            (_, slower) if slower < 1.0 => slower - 1.0,
            _ => 0.0,
        };
        let causes: Vec<f64> = found.causes.iter().map(|cause| cause.excess / 1e-7).collect();
        assert_eq!(causes.len(), usize::from(moved != 0.0), "{domain:?} {slower} {clock}: {:?}", found.sentences());
        assert!(causes.iter().all(|excess| (excess - moved).abs() < 0.05), "{domain:?} {slower}: {causes:?}");
        let follows = factor.follows.iter().any(|key| key.benchmark == "memory.chase");
        assert_eq!(follows, domain == Domain::Mixed && slower * clock == 1.0, "{domain:?} {slower}");
    }
}

#[test]
fn what_moves_while_the_clock_stands_is_not_the_clock() {
    let mut rng = generator(12);
    let found = explained(&guest("a", 2.6e9, 1.0, &mut rng), &guest("b", 2.6e9, 1.2, &mut rng));
    let factor = &found.common_factor;
    assert!(!factor.is_clock && (factor.value - 1.2).abs() < 0.01, "{factor:?}");
    assert!(found.evidence().iter().any(|text| text.contains("not known to be the clock")), "{:?}", found.evidence());
    // Nothing to explain where neither moved.
    let same = explained(&guest("a", 2.6e9, 1.0, &mut rng), &guest("b", 2.6e9, 1.0, &mut rng));
    assert!(!same.difference, "{same:?}");
}

/// If only user mode moved while the clock stayed, the kernel's calls did not become cheaper.
#[test]
fn a_factor_that_is_not_the_clock_says_nothing_of_what_does_not_follow_it() {
    let mut rng = generator(16);
    for (call, moved) in [(1.0, 0.0), (1.2, 0.0), (1.5, 0.0), (0.5, -0.5), (3.0, 1.5)] {
        let b = |primitive| if primitive == Primitive::SyscallEntry { call } else { 1.5 };
        let found = explained(&guest("a", 2.6e9, 1.0, &mut rng), &guest_of("b", 2.6e9, &b, &mut rng));
        assert!(!found.common_factor.is_clock && (found.common_factor.value - 1.5).abs() < 0.01);
        let causes: Vec<_> = found.causes.iter().map(|cause| (&cause.primitives[..], cause.excess)).collect();
        assert_eq!(causes.len(), usize::from(moved != 0.0), "{call}: {:?}", found.sentences());
        // Nine cycles of a call at 2.6 GHz.
        let right = |&(primitives, excess): &(&[Primitive], f64)| {
            primitives == [Primitive::SyscallEntry] && (excess / (9.0 / 2.6e9) - moved).abs() < 0.05
        };
        assert!(causes.iter().all(right), "{call}: {causes:?}");
    }
}

/// The share of the time with another thread on the core.
fn shared(run: &mut Run, share: f64) {
    run.session.sensors.as_mut().unwrap().core_shared = Share::new(share);
}

#[test]
fn a_neighbour_is_a_rival_on_three_sides() {
    let mut rng = generator(13);
    let raw = |id: &str, slower: f64, share: f64, rng: &mut ChaCha8Rng| {
        let mut run = guest(id, 2.6e9, 1.0, rng);
        run.results.iter_mut().flat_map(|result| &mut result.samples).for_each(|sample| {
            sample.value = sample.clean.unwrap().value.unwrap() * slower;
        });
        (0..PRIMITIVES.len()).for_each(|i| shared_core(&mut run, &format!("cpu.f{i}")));
        shared(&mut run, share);
        run
    };
    let named = |found: &Explanation| {
        let causes = found.causes.iter().flat_map(|cause| &cause.rivals).chain(&found.common_factor.rivals);
        causes.filter(|rival| rival.title == "a busy sibling hyperthread").count()
    };
    // Recorded by both, moved the right way, and not filtered.
    let (quiet, busy) = (raw("a", 1.0, 0.02, &mut rng), raw("b", 1.3, 0.8, &mut rng));
    let found = explained(&quiet, &busy);
    assert!(named(&found) > 0 && !found.common_factor.is_clock, "{found:?}");
    let shares = |said: &&String| said.contains("the sibling hyperthread was busy 80% of the time");
    assert_eq!(found.disturbed.iter().filter(shares).count(), 1, "{:?}", found.disturbed);
    // The side with the neighbour is the faster one, or the other run has no sensors.
    let (quiet, busy) = (raw("a", 1.3, 0.02, &mut rng), raw("b", 1.0, 0.8, &mut rng));
    assert_eq!(named(&explained(&quiet, &busy)), 0);
    let mut blind = raw("a", 1.0, 0.0, &mut rng);
    blind.session.sensors.as_mut().unwrap().core_shared = None;
    let busy = raw("b", 1.3, 0.8, &mut rng);
    assert_eq!(named(&explained(&blind, &busy)), 0);
    // Clean batches alone count: a neighbour cannot be why they differ.
    let (mut a, mut b) = (guest("a", 2.6e9, 1.0, &mut rng), guest("b", 2.6e9, 1.3, &mut rng));
    shared(&mut a, 0.02);
    shared(&mut b, 0.8);
    let fact = |text: &str| Fact::new("kernel.release", text, "", &[Primitive::CoreClock]);
    a.machine.facts.push(fact("6.1"));
    b.machine.facts.push(fact("6.8"));
    let found = explained(&a, &b);
    assert!(found.difference && named(&found) == 0, "{found:?}");
    let shared = found.facts.iter().find(|fact| fact.name == "cpu.core_shared").unwrap();
    let (a, b) = shared.in_words();
    assert!(a.ends_with('%') && b.ends_with('%'), "said, and no cause; a share is a percentage: {a}, {b}");
}

#[test]
fn cpus_that_a_host_had_apart_in_one_run_are_told() {
    let mut rng = generator(14);
    let mut at = |id: &str, picos: u32| {
        let mut run = guest(id, 2.6e9, 1.0, &mut rng);
        run.session.sensors.as_mut().unwrap().distances =
            vec![CpuDistance { cpus: [0, 1], picos, share: Share::ALL, elsewhere: None }];
        run
    };
    let (near, busy, far) = (at("a", 40_000), at("b", 58_000), at("c", 180_000));
    let found = explained(&near, &far);
    let told: Vec<_> = found.facts.iter().filter(|fact| fact.name.starts_with("cpu.distance")).collect();
    assert_eq!((told.len(), told[0].a.as_str(), told[0].b.as_str()), (1, "40.0 ns", "180.0 ns"));
    assert_eq!(told[0].affects, [Primitive::CoreToCore]);
    let alike = explained(&near, &busy);
    assert!(alike.facts.iter().all(|fact| !fact.name.starts_with("cpu.distance")), "a busy link is no other place");
}

#[test]
fn results_of_another_definition_explain_nothing_and_are_counted_as_a_comparison_does() {
    let mut rng = generator(15);
    let (mut a, mut b) = (guest("a", 2.6e9, 1.0, &mut rng), guest("b", 2.6e9, 1.0, &mut rng));
    for run in [&mut a, &mut b] {
        ["cpu.f0", "cpu.f1", "cpu.f2"].iter().for_each(|benchmark| shared_core(run, benchmark));
    }
    b.results.iter_mut().find(|result| result.benchmark == "cpu.f0").unwrap().definition =
        Definition::Other("half of the work".to_owned());
    let tested = |a: &Run, b: &Run| {
        let found = explained(a, b);
        (found.tests, found.disturbed.join("; ").matches("3 results are raw").count())
    };
    let compared = compare::compare(&[&a, &b], &compare::CompareOptions::default()).unwrap();
    let says =
        |at: usize| compared.machines[at].disturbances.iter().filter(|one| one.says.contains("3 results")).count();
    assert_eq!((says(0), says(1)), (1, 1));
    for (a, b) in [(&a, &b), (&b, &a)] {
        assert_eq!(tested(a, b).0, PRIMITIVES.len() - 1);
    }
    assert_eq!(tested(&a, &b).1 + usize::from(explained(&a, &b).disturbed.join(" ").contains("likewise")), 2);
}
