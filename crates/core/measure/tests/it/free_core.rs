//! Samples that wait until their core is exclusive, and those that never do.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use measure::{Purpose, WorkerStep};
use model::{CacheGroup, CacheKind, CpuSet, Machine, Topology, ValueBasis};

use crate::sensors::{CYCLES, SharedCore, measured, measured_on, shared_core};

#[test]
fn the_first_samples_of_a_result_never_wait_and_others_begin_when_the_neighbour_has_gone() {
    let neighbour: fn(f64) -> Option<f64> = |now| ((now / 0.4).fract() < 0.5).then_some(1.5);
    let mut subject = SharedCore { scatter: 0.05, ..SharedCore::new(neighbour) };
    let run = measured(&mut subject, true);
    let (mut first, mut later, mut repeated) = ([0, 0], [0, 0], [0, 0]);
    for (at, step) in subject.steps.iter().enumerate().filter(|(_, step)| step.purpose == Purpose::Measure) {
        let again = |earlier: &&WorkerStep| {
            (earlier.purpose, earlier.round, earlier.tasks[0].result)
                == (step.purpose, step.round, step.tasks[0].result)
        };
        let counts = if subject.steps[..at].iter().any(|earlier| again(&earlier)) {
            &mut repeated
        } else if step.round < 10 {
            &mut first
        } else {
            &mut later
        };
        counts[usize::from(neighbour(subject.began[at]).is_some())] += 1;
    }
    assert!(first[0] > 5 && first[1] > 5, "ten samples of each begin beside a neighbour or not: {first:?}");
    assert!(later[0] > 10 && later[1] == 0, "those after them only when it has gone: {later:?}");
    assert!(repeated[0] > 1 && repeated[1] == 0, "and so do repeated ones: {repeated:?}");
    assert!(run.results[..2].iter().all(|result| result.basis() == &ValueBasis::Cycles && shared_core(result) > 0));
}

#[test]
fn a_sample_waits_for_the_moments_of_a_core_that_is_hardly_ever_free() {
    let neighbour: fn(f64) -> Option<f64> = |now| ((now / 1.5).fract() > 0.07).then(|| 1.2 + 0.7 * (now * 7.3).fract());
    let mut subject = SharedCore::new(neighbour);
    let run = measured(&mut subject, true);
    let sensors = run.session.sensors.as_ref().unwrap();
    assert!(sensors.core_shared.is_some_and(|share| share.get() > 0.85), "waiting is in it: {sensors:?}");
    for result in &run.results[..2] {
        assert_eq!(result.basis(), &ValueBasis::Cycles, "{:?}", result.sensors);
        let estimate = result.outcome.estimate().unwrap();
        assert!((estimate.value * sensors.clock.unwrap() / CYCLES - 1.0).abs() < 2e-3, "{estimate:?}");
        let raw = result.sensors.as_ref().unwrap().raw.unwrap();
        assert!(raw.value > 1.2 * estimate.value, "what is observed is not chosen: {raw:?}");
        let kept = result.sensors.as_ref().unwrap().kept.unwrap();
        assert!(kept.get() < 0.3, "nor is the share of clean batches: {kept:?}");
    }
}

/// Two cores of one class and the CPUs behind each of their caches.
fn two_cores(caches: &[Vec<usize>]) -> Topology {
    let cpus = caches.iter().map(|cpus| CpuSet::from(cpus.as_slice())).collect();
    let third = CacheGroup { level: 3, kind: CacheKind::Unified, bytes: Some(1 << 25), line: None, ways: None, cpus };
    Topology { caches: vec![third], ..Topology::unknown(&[0, 1]) }
}

#[test]
fn a_core_result_takes_the_other_core_while_its_own_is_shared() {
    // A neighbour of CPU 1 stays for nine seconds of ten; CPU 0 behind the same cache has none. On other cores it has
    // to wait.
    let neighbour: fn(f64) -> Option<f64> = |now| ((now / 10.0).fract() > 0.1).then_some(1.5);
    let with = |machine: Machine| {
        let mut subject = SharedCore { free: vec![0], scatter: 0.05, ..SharedCore::new(neighbour) };
        let run = measured_on(machine, &mut subject, true);
        let moved = subject.steps.iter().filter(|step| step.tasks[0].cpus == [0]).count();
        let cores = run.results[..2].iter().all(|result| result.basis() == &ValueBasis::Cycles);
        (moved, cores, subject.now, run)
    };
    let one_cache = Machine { topology: Some(two_cores(&[vec![0, 1]])), ..Machine::default() };
    let (moved, cores, took, run) = with(one_cache);
    assert!(moved > 5 && cores, "{moved} samples");
    let estimate = run.results[0].outcome.estimate().unwrap();
    assert!((estimate.value * run.session.sensors.unwrap().clock.unwrap() / CYCLES - 1.0).abs() < 0.03);
    let two_caches = Machine { topology: Some(two_cores(&[vec![0], vec![1]])), ..Machine::default() };
    let (moved, _, longer, _) = with(two_caches);
    assert!(moved == 0 && longer > took, "{moved} samples elsewhere, {longer} s and {took} s");
}
