//! Evaluation of samples, from simulated and recorded readings.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use model::{
    Class, Domain, ExclusiveCore, ExclusiveSource, Metric, Parameters, Placement, ResultKey, SensorLengths,
    SensorTrack, SmallSteps, Unit,
};

use super::super::end::conclude_result;
use super::*;

const LENGTHS: SensorLengths = SensorLengths { clock: 36_000, contention: 180_000, issue: 0 };

/// A session with a known exclusive core.
pub(crate) fn session(ratio: Option<f64>) -> SessionSensors {
    let source = if ratio.is_some() { ExclusiveSource::LowerMode } else { ExclusiveSource::Unknown };
    let core = ExclusiveCore { cpus: vec![0, 1], ratio, source, ..ExclusiveCore::default() };
    SessionSensors { lengths: LENGTHS, exclusive: vec![core], clock: Some(3e9), ..SessionSensors::default() }
}

/// A sample of 20 batches of 1000 operations at a clock; the last `shared` are shared and take twice as long.
pub(crate) fn sample(round: u32, gigahertz: f64, shared: usize) -> Sample {
    let nanos = |cycles: f64| (cycles / gigahertz) as u32;
    let batch = |at: usize| if at >= 20 - shared { 2.0 } else { 1.0 };
    let reading = |at: usize| if at > 20 - shared { 1.8 } else { 1.25 };
    let track = SensorTrack {
        cpu: 1,
        clock: SmallSteps((0..=20).map(|_| nanos(36_000.0)).collect()),
        contention: SmallSteps((0..=20).map(|at| nanos(36_000.0 * reading(at))).collect()),
    };
    let batches: Vec<u64> = (0..20).map(|at| u64::from(nanos(600_000.0 * batch(at)))).collect();
    Sample {
        round,
        value: stats::median(&batches.iter().map(|nanos| *nanos as f64 * 1e-12).collect::<Vec<_>>()).unwrap(),
        nanos: batches,
        placement: Placement { asked: vec![1], seen: vec![vec![1]] },
        sensors: Some(SampleSensors { lengths: LENGTHS, tracks: vec![track], ..SampleSensors::default() }),
        ..Sample::default()
    }
}

pub(crate) fn result(benchmark: &str, samples: Vec<Sample>) -> BenchmarkResult {
    let metric = Metric::lower(Unit::Seconds, "call");
    let result =
        BenchmarkResult::unmeasured(ResultKey::new(benchmark, Parameters::none()), benchmark, metric, Class::Compute);
    BenchmarkResult { samples, ops: 1000, ..result }
}

/// Classifies all samples of a result by a session's evidence.
pub(crate) fn classify(result: &mut BenchmarkResult, session: &SessionSensors) -> ResultClasses {
    let (asked, mut classes) = (Description::of(result), ResultClasses::default());
    classes.update(result, Some(session), &asked);
    classes
}

pub(crate) const CORE: &str = "os.syscall_getppid";

#[test]
fn a_core_result_is_in_cycles_and_neither_clock_nor_neighbour_changes_it() {
    let clocks = [2.1, 2.4, 2.7, 3.0, 3.3, 3.6];
    let samples = (0..12).map(|at| sample(at, clocks[at as usize % 6], at as usize % 12)).collect();
    let mut result = result(CORE, samples);
    classify(&mut result, &session(Some(0.25)));
    assert_eq!((result.basis(), result.sensors.as_ref().unwrap().domain), (&ValueBasis::Cycles, Domain::Core));
    let cycles = result.cycles().unwrap();
    assert_eq!(cycles.len(), 12, "each has at least 8 clean batches");
    assert!(cycles.iter().all(|cycles| (cycles / 600.0 - 1.0).abs() < 1e-3), "{cycles:?}");
    assert!(result.values().iter().all(|value| (value / 200e-9 - 1.0).abs() < 1e-3), "at 3 GHz: {:?}", result.values());
    let raw: Vec<f64> = result.samples.iter().map(|sample| sample.value).collect();
    assert!(raw[0] / raw[5] > 1.5, "raw values are as they were: {raw:?}");
    let (slope, half) = result.sensors.as_ref().unwrap().slope.unwrap();
    assert!((slope - 1.0).abs() < 0.01 && half < 0.05, "{slope} {half}");
    result.sensors.as_mut().unwrap().clock = Some(1e9);
    assert!(result.values().iter().all(|value| (value / 600e-9 - 1.0).abs() < 1e-3), "at 1 GHz");
}

#[test]
fn an_unknown_exclusive_core_filters_nothing() {
    let mut result = result(CORE, (0..12).map(|at| sample(at, 3.0, 20)).collect());
    classify(&mut result, &session(None));
    assert_eq!(result.basis(), &ValueBasis::Raw(RawReason::ExclusiveNeverSeen));
    assert_eq!(result.values().len(), 12);
    assert!(result.samples.iter().all(|sample| sample.invalid.is_none()));
}

#[test]
fn shared_core_samples_are_excluded_until_the_neighbour_is_the_machine() {
    let shared = |at: u32| if at.is_multiple_of(3) { 0 } else { 15 };
    let mut some = result(CORE, (0..30).map(|at| sample(at, 3.0, shared(at))).collect());
    classify(&mut some, &session(Some(0.25)));
    assert_eq!((some.basis(), some.values().len()), (&ValueBasis::Cycles, 10), "two thirds are excluded");
    let excluded = some.samples.iter().filter_map(|sample| sample.invalid.clone()).collect::<Vec<_>>();
    assert_eq!(excluded[0], Invalid::SharedCore { batches: 5, of: 20 });
    // Three attempts per round, one of them clean in the whole run.
    let mut all = result(CORE, (0..21).map(|at| sample(at / 3, 3.0, if at == 10 { 0 } else { 20 })).collect());
    classify(&mut all, &session(Some(0.25)));
    assert_eq!(all.basis(), &ValueBasis::Raw(RawReason::FewClean { samples: 1, of: 21 }));
    assert_eq!(all.values().len(), 21, "raw: every sample counts");
    let slowed = all.values().iter().filter(|value| (**value / 400e-9 - 1.0).abs() < 1e-3).count();
    assert_eq!(slowed, 20, "as observed: {:?}", all.values());
}

#[test]
fn a_run_that_ends_with_hardly_an_clean_sample_prints_what_it_observed() {
    let mut few = result(CORE, (0..9).map(|at| sample(at, 3.0, if at < 3 { 0 } else { 18 })).collect());
    classify(&mut few, &session(Some(0.25)));
    assert_eq!((few.basis(), few.values().len()), (&ValueBasis::Cycles, 3));
    conclude_result(&mut few, 0.95, false);
    assert_eq!(few.values().len(), 9);
    assert!(matches!(few.basis(), ValueBasis::Raw(RawReason::FewClean { samples: 3, of: 9 })));
    let mut enough = result(CORE, (0..9).map(|at| sample(at, 3.0, if at < 6 { 0 } else { 18 })).collect());
    classify(&mut enough, &session(Some(0.25)));
    conclude_result(&mut enough, 0.95, false);
    assert_eq!(enough.basis(), &ValueBasis::Cycles);
}

#[test]
fn long_operations_are_never_filtered_and_memory_is_kept_in_time() {
    let stretched = |at: u32| {
        let mut one = sample(at, 3.0, 15);
        one.nanos.iter_mut().for_each(|nanos| *nanos *= 20);
        one
    };
    let mut long = result(CORE, (0..12).map(stretched).collect());
    classify(&mut long, &session(Some(0.25)));
    assert_eq!(long.basis(), &ValueBasis::Raw(RawReason::LongOperation));
    assert_eq!(long.values().len(), 12);
    assert!(long.sensors.unwrap().kept.is_some_and(|kept| kept.get() < 0.3), "the share is evidence all the same");
    let mut memory = result("memory.copy", (0..12).map(|at| sample(at, 2.0 + 0.1 * f64::from(at), 0)).collect());
    memory.parameters = "working_set=64MiB,threads=1,stores=normal".parse().unwrap();
    classify(&mut memory, &session(Some(0.25)));
    assert_eq!(memory.basis(), &ValueBasis::Clean);
    assert_eq!(memory.values()[0], memory.samples[0].clean.unwrap().value.unwrap());
    assert_eq!(memory.sensors.unwrap().domain, Domain::Mixed, "its time follows the clock, and it was declared not to");
}

#[test]
fn a_result_that_disturbs_its_own_readings_is_not_filtered() {
    let own = |at: u32| {
        let mut one = sample(at, 3.0, 11);
        let quiet = sample(at, 3.0, 0).sensors.unwrap().tracks;
        one.sensors.as_mut().unwrap().null = quiet;
        one
    };
    let mut result = result(CORE, (0..12).map(own).collect());
    classify(&mut result, &session(Some(0.25)));
    assert_eq!(result.basis(), &ValueBasis::Raw(RawReason::OwnWork));
}

#[test]
fn without_readings_nothing_changes() {
    let mut result = result(CORE, (0..3).map(|at| Sample { sensors: None, ..sample(at, 3.0, 0) }).collect());
    let before = result.clone();
    classify(&mut result, &session(Some(0.25)));
    assert_eq!(result, before);
    assert_eq!(result.basis(), &ValueBasis::All);
}
