//! When samples are made: converged core results are tightened under a limit, and never lost by it; rounds keep their
//! spacing.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeSet;

use measure::{
    EndReason, MeasureEvent, MeasureSession, MockResult, MockSubject, NullObserver, Observer, Purpose, RunRequest,
    Saver, Stopper, select,
};
use model::{Flag, Identity, Machine, Plan, Run, ValueBasis};

use crate::sensors::{Checked, SharedCore};

/// Saves nothing, where a run is long.
struct Unsaved;

impl Saver for Unsaved {
    fn save(&mut self, _: &Run) -> Result<(), String> {
        Ok(())
    }
}

/// The seconds that had passed and were said to be left after each round.
#[derive(Default)]
struct ReportedTimes(Vec<(f64, f64)>);

impl Observer for ReportedTimes {
    fn on_event(&mut self, event: &MeasureEvent<'_>) {
        if let MeasureEvent::Saved { elapsed, left, .. } = event {
            self.0.push((*elapsed, *left));
        }
    }
}

/// Two core results of samples that scatter, in a run with this time limit.
fn measured_within(limit: Option<f64>, scatter: f64) -> (Run, f64) {
    let mut subject = SharedCore { scatter, ..SharedCore::new(|now| (now.fract() < 0.2).then_some(1.5)) };
    let named = ["os.syscall_getppid", "os.syscall_write"].map(str::to_owned);
    let entries = select(None, &named, 0.02).unwrap();
    let plan = Plan { seed: 7, entries, sensors: true, time_limit: limit, ..Plan::default() };
    let order = RunRequest::new(plan, Machine::default(), Identity::default(), vec![0, 1]).unwrap();
    let ended =
        MeasureSession::measure(order, &mut subject, &mut NullObserver, &mut Checked, Stopper::default()).unwrap();
    assert_eq!(ended.ending, EndReason::Complete);
    (ended.run, subject.now)
}

#[test]
fn core_results_within_their_targets_are_tightened_in_the_time_of_a_limit() {
    let finest = |run: &Run| -> Vec<f64> {
        run.results[..2]
            .iter()
            .map(|result| {
                assert_eq!(result.basis(), &ValueBasis::Cycles, "{:?}", result.sensors);
                assert!(!result.has(Flag::Unfinished) && result.is_within(0.02, 0.99), "{:?}", result.flags);
                let samples = u32::try_from(result.counted().len()).unwrap();
                assert!(run.plan.checkpoints.contains(&samples), "{samples} samples are no checkpoint");
                result.outcome.estimate().unwrap().relative_half_width()
            })
            .collect()
    };
    let (usual, seconds) = measured_within(None, 0.007);
    assert!(finest(&usual).iter().all(|width| *width > 0.005), "without a limit the target is the target");
    let (tightened, longer) = measured_within(Some(100.0), 0.007);
    assert!(finest(&tightened).iter().all(|width| *width <= 0.005), "{:?}", finest(&tightened));
    assert!(longer > seconds && longer < seconds + 10.0, "{seconds} s and {longer} s");
    // With little time nothing is tightened, and nothing that was finished is lost.
    let (short, little) = measured_within(Some(seconds), 0.007);
    assert!(little < seconds * 1.2, "{little} s of {seconds}");
    drop(finest(&short));
}

/// A result within its target must stay so if the time ends between two checkpoints. Its samples are shorter than those
/// before.
#[test]
fn a_tightened_result_is_left_at_a_checkpoint_where_others_need_the_time() {
    for seed in 0..testing::trials(1, 3) as u64 {
        let mut subject =
            SharedCore { scatter: 0.016, wild: Some(2), ..SharedCore::new(|now| (now.fract() < 0.2).then_some(1.5)) };
        let wild = ["clock_read", "signal_handle", "signal_install", "fork_exit", "syscall_mix", "yield"];
        let named = ["syscall_getppid", "syscall_write"].into_iter().chain(wild).map(|name| format!("os.{name}"));
        let entries = select(None, &named.collect::<Vec<_>>(), 0.02).unwrap();
        let checkpoints = model::checkpoints(320);
        let plan = Plan { seed, entries, checkpoints, sensors: true, time_limit: Some(61.0), ..Plan::default() };
        let order = RunRequest::new(plan, Machine::default(), Identity::default(), vec![0, 1]).unwrap();
        let mut reported = ReportedTimes::default();
        let ended =
            MeasureSession::measure(order, &mut subject, &mut reported, &mut Unsaved, Stopper::default()).unwrap();
        assert_eq!(ended.ending, EndReason::TimeLimit);
        for (elapsed, left) in reported.0 {
            assert!((elapsed + left - 61.0).abs() < 1.0, "{left} s left were reported after {elapsed}");
        }
        let mut seeds = BTreeSet::new();
        for step in subject.steps.iter().filter(|step| step.purpose == Purpose::Measure) {
            assert!(seeds.insert(step.seed), "samples of one seed get the same memory: {step:?}");
            for task in step.tasks.iter().filter(|task| !task.full) {
                assert!(task.result < 2 && task.enough < 20, "a sample that tightens an interval is short: {task:?}");
            }
        }
        assert!(subject.steps.iter().any(|step| step.tasks.iter().any(|task| !task.full)));
        for result in &ended.run.results[..2] {
            let samples = u32::try_from(result.counted().len()).unwrap();
            assert!(
                samples > 14 && ended.run.plan.checkpoints.contains(&samples),
                "{samples} samples are no checkpoint"
            );
            assert!(!result.has(Flag::Unfinished) && result.is_within(0.02, 0.99), "{:?}", result.outcome);
        }
    }
}

#[test]
fn rounds_begin_as_far_apart_as_planned() {
    for spacing in [0.0, 1.0] {
        let mut subject = MockSubject::new(5, MockResult::stable(1e-6));
        let entries = select(None, &["os.syscall_write".to_owned()], 0.02).unwrap();
        let plan = Plan { seed: 5, entries, spacing, ..Plan::default() };
        let order = RunRequest::new(plan, Machine::default(), Identity::default(), vec![0, 1]).unwrap();
        let run = MeasureSession::measure(order, &mut subject, &mut NullObserver, &mut Unsaved, Stopper::default())
            .unwrap()
            .run;
        let began: Vec<f64> = run.results[0].samples.iter().map(|sample| sample.began).collect();
        let closest = began.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
        assert!(began.len() >= 8 && (closest >= 0.999) == (spacing > 0.0), "{spacing} s: {began:?}");
        let ended = began.last().unwrap() + run.results[0].samples.last().unwrap().wall;
        assert!(run.session.seconds < ended + 0.5, "no wait after the last sample: {}", run.session.seconds);
    }
}

#[test]
fn no_round_waits_beyond_the_limit() {
    let mut subject = MockSubject::new(5, MockResult::stable(1e-6));
    let entries = select(None, &["os.syscall_write".to_owned()], 0.02).unwrap();
    let plan = Plan { seed: 5, entries, spacing: 60.0, time_limit: Some(3.0), ..Plan::default() };
    let order = RunRequest::new(plan, Machine::default(), Identity::default(), vec![0, 1]).unwrap();
    let ended =
        MeasureSession::measure(order, &mut subject, &mut NullObserver, &mut Unsaved, Stopper::default()).unwrap();
    assert_eq!(ended.ending, EndReason::TimeLimit);
    assert!(ended.run.session.seconds < 4.0, "{}", ended.run.session.seconds);
}
