//! Sessions that a limit or a stop ends, and the rest of their runs.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails, and says what it skips")]

use super::session::{Forgets, Saves, THREE, identity, key, order, plan, run_with};
use measure::{EndReason, MeasureSession, MockResult, MockSubject, NullObserver, Purpose, RunRequest, Stopper, select};
use model::{Flag, Identity, Machine, Placement, Plan, ResultKey, Run, Sample};
use stats::simulate::Noise;

#[test]
fn a_time_limit_ends_the_run_with_correct_intervals() {
    let mut plan = plan(THREE);
    plan.time_limit = Some(1.1);
    let order = RunRequest::new(plan, Machine::default(), identity(), vec![0]).unwrap();
    let mut subject = MockSubject::new(7, MockResult::stable(1e-7));
    let (ended, _) = run_with(order, &mut subject);
    assert_eq!(ended.ending, EndReason::TimeLimit);
    let found: Vec<_> = ended.run.results.iter().filter(|result| result.outcome.estimate().is_some()).collect();
    assert!(found.len() >= 2);
    for result in found {
        let samples = result.outcome.estimate().unwrap().samples;
        assert!(samples < 14 && result.has(Flag::Unfinished), "{samples} samples");
    }
}

/// On a busy machine a round of many results takes longer than all the time.
#[test]
fn a_limit_ends_a_round_between_two_samples() {
    let mut plan = plan(THREE);
    plan.time_limit = Some(70.0);
    let order = RunRequest::new(plan, Machine::default(), identity(), vec![0, 1]).unwrap();
    let sample = MockResult { calibration: 1.0, seconds: 9.0, ..MockResult::stable(1e-7) };
    let (ended, _) = run_with(order, &mut MockSubject::new(5, sample));
    assert_eq!(ended.ending, EndReason::TimeLimit);
    let last = ended.run.results.iter().flat_map(|result| &result.samples).map(|sample| sample.began);
    assert!(last.fold(0.0, f64::max) <= 70.0 && ended.run.session.seconds < 80.0, "{} s", ended.run.session.seconds);
}

/// Other work can make calibration longer than a short limit, which must not leave the run empty.
#[test]
fn a_limited_run_measures_what_is_cheap_before_it_calibrates_what_is_expensive() {
    let shared = "memory.copy:threads=1,stores=normal,working_set=1MiB";
    let expensive = MockResult { calibration: 3.0, ..MockResult::stable(1e10) };
    let copy = ResultKey::new("memory.copy", plan(&[shared]).entries[0].parameters.clone());
    let mut named = vec!["memory.hierarchy:level=1", shared];
    named.extend(THREE);
    for (limit, measured) in [(8.0, 4), (600.0, 5)] {
        let mut plan = plan(&named);
        plan.time_limit = Some(limit);
        let order = RunRequest::new(plan, Machine::default(), identity(), vec![0, 1]).unwrap();
        let hierarchy = ResultKey::new("memory.hierarchy", model::Parameters::none().with("level", "1"));
        let mut subject = MockSubject::new(7, MockResult::stable(1e-7));
        subject = subject
            .with(copy.clone(), expensive.clone())
            .with(hierarchy, MockResult { calibration: 30.0, ..expensive.clone() });
        let (ended, _) = run_with(order, &mut subject);
        let values = ended.run.results.iter().filter(|result| result.outcome.estimate().is_some());
        assert_eq!(values.count(), measured, "in {limit} s");
    }
}

#[test]
fn a_limit_too_short_for_all_results_leaves_some_that_are_measured() {
    let expensive = MockResult { calibration: 1.5, seconds: 1.5, ..MockResult::stable(1e-7) };
    let mut plan = plan(THREE);
    plan.time_limit = Some(10.0);
    let order = RunRequest::new(plan, Machine::default(), identity(), vec![0, 1]).unwrap();
    let (ended, _) = run_with(order, &mut MockSubject::new(5, expensive));
    let samples: Vec<usize> = ended.run.results.iter().map(|result| result.samples.len()).collect();
    assert!(samples.iter().any(|made| *made >= 3), "in turn none of them has so many: {samples:?}");
}

#[test]
fn the_time_of_a_limited_run_goes_to_results_that_can_converge() {
    let hopeless = MockResult { noise: Noise { between: 0.5, ..Noise::stable(1e-7) }, ..MockResult::stable(1e-7) };
    let slow = MockResult { noise: Noise { between: 0.016, ..Noise::stable(1e-7) }, ..MockResult::stable(1e-7) };
    let mut plan = plan(THREE);
    plan.time_limit = Some(3.6);
    let order = RunRequest::new(plan, Machine::default(), identity(), vec![0, 1]).unwrap();
    let mut subject = MockSubject::new(5, slow).with(key("os.clock_read"), hopeless);
    let (ended, _) = run_with(order, &mut subject);
    let samples =
        |benchmark: &str| ended.run.results.iter().find(|result| result.benchmark == benchmark).unwrap().samples.len();
    // An equal share of 3.6 s among three results at 0.05 s per sample is 24 samples.
    let of_slow = samples("os.syscall_write").max(samples("os.syscall_getppid"));
    assert!(of_slow > 24, "{of_slow}");
    let last = |benchmark: &str| {
        ended.run.results.iter().find(|result| result.benchmark == benchmark).unwrap().samples.last().unwrap().round
    };
    assert!(last("os.clock_read") >= 12, "what is out of reach keeps a turn now and then");
}

/// Infeasible results fill the least length of a round; a feasible result must still get the rounds that it needs.
#[test]
fn rounds_of_a_limited_run_are_short_enough_for_what_it_can_settle() {
    let entries = select(Some("full"), &[], 0.02).unwrap();
    let entries =
        entries.into_iter().filter(|entry| entry.benchmark == "memory.load_latency_strided").take(31).collect();
    let plan = Plan { seed: 7, entries, time_limit: Some(20.0), checkpoints: vec![10, 80], ..Plan::default() };
    let order = RunRequest::new(plan, Machine::default(), identity(), vec![0, 1]).unwrap();
    let quick = order.run().results[0].key();
    let of = |between: f64, seconds: f64| MockResult {
        noise: Noise { between, ..Noise::stable(1e-7) },
        seconds,
        ..MockResult::stable(1e-7)
    };
    // Ten rounds of all take half of the time; the other half has room for forty rounds of least length, or for
    // seventy.
    let mut subject = MockSubject::new(3, of(0.5, 0.03)).with(quick.clone(), of(0.01, 0.005));
    let ended =
        MeasureSession::measure(order, &mut subject, &mut NullObserver, &mut Forgets, Stopper::default()).unwrap();
    let result = ended.run.results.iter().find(|result| result.key() == quick).unwrap();
    assert!(!result.has(Flag::Unfinished) && result.samples.len() == 80, "{} samples", result.samples.len());
    assert_eq!(ended.ending, EndReason::TimeLimit);
}

#[test]
fn a_stopped_run_keeps_what_was_measured_and_resumes_to_the_same_end() {
    let mut subject = MockSubject::new(8, MockResult::stable(1e-7)).stopping_after(20);
    let (ended, saves) = run_with(order(THREE), &mut subject);
    assert_eq!(ended.ending, EndReason::Stopped);
    assert_eq!(saves.0.last(), Some(&Run { session: saves.0.last().unwrap().session.clone(), ..ended.run.clone() }));
    let measured: usize = ended.run.results.iter().map(|result| result.samples.len()).sum();
    assert_eq!(measured, 17);
    let again = RunRequest::resume(ended.run, &identity(), vec![0, 1]).unwrap();
    let mut subject = MockSubject::new(9, MockResult::stable(1e-7));
    let (ended, _) = run_with(again, &mut subject);
    assert_eq!(ended.ending, EndReason::Complete);
    assert!(subject.log().iter().all(|step| step.purpose == Purpose::Measure), "operations stay fixed");
    assert!(ended.run.results.iter().all(|result| result.samples.len() >= 10));
    assert!(RunRequest::resume(ended.run, &identity(), vec![0]).is_err(), "a complete run is not resumed");
}

#[test]
fn a_run_of_another_machine_is_not_resumed() {
    let mut subject = MockSubject::new(8, MockResult::stable(1e-7)).stopping_after(6);
    let (ended, _) = run_with(order(THREE), &mut subject);
    let other = Identity { fingerprint: "g".to_owned(), host: "there".to_owned(), ..identity() };
    let error = RunRequest::resume(ended.run, &other, vec![0]).unwrap_err().to_string();
    assert!(error.contains("here") && error.contains("there"), "{error}");
}

#[test]
fn a_full_disk_ends_the_run_and_its_result_is_returned() {
    let mut subject = MockSubject::new(10, MockResult::stable(1e-7));
    let mut saves = Saves(Vec::new(), Some(4));
    let ended =
        MeasureSession::measure(order(THREE), &mut subject, &mut NullObserver, &mut saves, Stopper::default()).unwrap();
    assert!(matches!(&ended.ending, EndReason::NotSaved(reason) if reason.contains("no space")));
    assert_eq!(ended.run.session.rounds, 4);
    assert!(ended.run.results.iter().all(|result| result.samples.len() == 4));
}

#[test]
fn a_run_that_was_stopped_within_a_round_makes_no_sample_too_many() {
    let limited = || order(THREE).at_most(Some(8));
    // Calibrations, seven rounds, and one or two samples of the last.
    for stop in [3 + 7 * 3 + 1, 3 + 7 * 3 + 2] {
        let mut subject = MockSubject::new(1, MockResult::stable(1e-7)).stopping_after(stop);
        let (stopped, _) = run_with(limited(), &mut subject);
        assert_eq!(stopped.ending, EndReason::Stopped);
        let samples = |run: &Run| -> Vec<usize> { run.results.iter().map(|result| result.samples.len()).collect() };
        assert_eq!(samples(&stopped.run).iter().sum::<usize>(), stop - 3);
        let resumed = RunRequest::resume(stopped.run, &identity(), vec![0, 1]).unwrap();
        let (ended, _) = run_with(resumed, &mut MockSubject::new(2, MockResult::stable(1e-7)));
        assert_eq!((ended.ending, samples(&ended.run)), (EndReason::Complete, vec![8, 8, 8]));
        assert!(ended.run.results.iter().all(|result| !result.has(Flag::Unfinished)));
    }
}

#[test]
fn a_run_resumed_on_other_cpus_has_a_note() {
    let mut run = order(THREE).run().clone();
    run.session.conditions.cpus = Some(2);
    let notes = |run: &Run, allowed: &[usize]| {
        let resumed = RunRequest::resume(run.clone(), &identity(), allowed.to_vec()).unwrap();
        resumed.run().session.notes.clone()
    };
    assert!(notes(&run, &[0, 1]).is_empty());
    assert_eq!(notes(&run, &[1]), ["resumed on other CPUs (1): samples before and after stand side by side"]);
    let placement = Placement { asked: vec![1], ..Placement::default() };
    run.results[0].samples.push(Sample { placement, ..Sample::default() });
    assert!(notes(&run, &[0, 1]).is_empty());
    assert_eq!(notes(&run, &[2, 3]), ["resumed on other CPUs (2, 3): samples before and after stand side by side"]);
    run.session.notes = notes(&run, &[2, 3]);
    assert_eq!(notes(&run, &[2, 3]).len(), 1, "it is said once");
}
