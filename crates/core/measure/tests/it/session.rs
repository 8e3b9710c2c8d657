//! The order of execution and the ways to end, with samples that need no clock.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails, and says what it skips")]

use measure::{
    EndReason, MeasureEvent, MeasureSession, MockResult, MockSubject, NullObserver, Observer, Purpose, RunRequest,
    RunResult, Saver, Stopper, select,
};
use model::{Flag, Identity, Machine, Outcome, Plan, ResultKey, Run};
use stats::simulate::Noise;

#[derive(Default)]
pub(crate) struct Saves(pub(crate) Vec<Run>, pub(crate) Option<usize>);

impl Saver for Saves {
    fn save(&mut self, run: &Run) -> Result<(), String> {
        if self.1 == Some(self.0.len()) {
            return Err("could not write the store: no space left".to_owned());
        }
        // A document that cannot be written and read back counts as not saved.
        let text = model::render_run(run).map_err(|error| error.to_string())?;
        assert_eq!(&model::parse_run(&text).unwrap(), run);
        self.0.push(run.clone());
        Ok(())
    }
}

/// Saves nothing: for plans so long that reading back every saved document would take minutes.
pub(crate) struct Forgets;

impl Saver for Forgets {
    fn save(&mut self, _: &Run) -> Result<(), String> {
        Ok(())
    }
}

pub(crate) fn identity() -> Identity {
    Identity { fingerprint: "f".to_owned(), boot: "b".to_owned(), host: "here".to_owned() }
}

pub(crate) fn plan(named: &[&str]) -> Plan {
    let named: Vec<String> = named.iter().map(|name| (*name).to_owned()).collect();
    Plan { seed: 7, entries: select(None, &named, 0.02).unwrap(), ..Plan::default() }
}

pub(crate) fn order(named: &[&str]) -> RunRequest {
    RunRequest::new(plan(named), Machine::default(), identity(), vec![0, 1]).unwrap()
}

pub(crate) fn run_with(order: RunRequest, subject: &mut MockSubject) -> (RunResult, Saves) {
    let mut saves = Saves::default();
    let ended = MeasureSession::measure(order, subject, &mut NullObserver, &mut saves, Stopper::default()).unwrap();
    (ended, saves)
}

pub(crate) const THREE: &[&str] = &["os.syscall_write", "os.syscall_getppid", "os.clock_read"];

pub(crate) fn key(benchmark: &str) -> ResultKey {
    ResultKey::new(benchmark, model::Parameters::none())
}

fn outcome<'a>(run: &'a Run, benchmark: &str) -> &'a Outcome {
    &run.results.iter().find(|result| result.benchmark == benchmark).unwrap().outcome
}

#[test]
fn everything_is_calibrated_once_and_then_launched_in_shuffled_rounds_to_the_first_checkpoint() {
    let mut subject = MockSubject::new(1, MockResult::stable(1e-7));
    let (ended, saves) = run_with(order(THREE), &mut subject);
    assert_eq!(ended.ending, EndReason::Complete);
    assert!(ended.run.session.complete);
    let log = subject.log();
    assert!(log[..3].iter().all(|step| step.purpose == Purpose::Calibrate));
    assert!(log[3..].iter().all(|step| step.purpose == Purpose::Measure));
    let round = |number: u32| -> Vec<usize> {
        log.iter()
            .filter(|step| step.purpose == Purpose::Measure && step.round == number)
            .map(|step| step.tasks[0].result)
            .collect()
    };
    for number in 0..10 {
        let mut results = round(number);
        results.sort_unstable();
        assert_eq!(results, [0, 1, 2], "round {number} samples every result once");
    }
    assert!((1..10).any(|number| round(number) != round(0)), "rounds are shuffled");
    assert!(log.iter().all(|step| step.tasks.len() == 1));
    let mut seeds: Vec<u64> = log[3..].iter().map(|step| step.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), log.len() - 3, "every sample draws its own layout");
    let rounds = ended.run.session.rounds as usize;
    assert_eq!(saves.0.len(), 2 + rounds, "saved after calibration, after every round, and at the end");
    for result in &ended.run.results {
        let estimate = result.outcome.estimate().unwrap();
        assert!(estimate.low <= 1e-7 * 1.02 && estimate.high >= 1e-7 * 0.98 && estimate.level >= 0.95);
        assert!([14, 20, 28, 40].contains(&estimate.samples), "ended at a checkpoint, and ten samples call nothing");
        assert!(!result.has(Flag::Unfinished));
    }
}

#[test]
fn a_long_plan_is_measured_part_by_part_and_a_limit_leaves_finished_results() {
    let plan = |limit| {
        let entries = select(Some("full"), &[], 0.02).unwrap();
        let entries =
            entries.into_iter().filter(|entry| entry.benchmark == "memory.load_latency_strided").take(130).collect();
        Plan { seed: 7, entries, time_limit: limit, ..Plan::default() }
    };
    let whole = RunRequest::new(plan(None), Machine::default(), identity(), vec![0, 1]).unwrap();
    let results = whole.run().results.len();
    assert!(results > 120, "{results} results make no long plan");
    let mut subject = MockSubject::new(5, MockResult::stable(1e-7));
    let measured = |order: RunRequest, subject: &mut MockSubject| {
        MeasureSession::measure(order, subject, &mut NullObserver, &mut Forgets, Stopper::default()).unwrap()
    };
    let ended = measured(whole, &mut subject);
    assert_eq!(ended.ending, EndReason::Complete);
    assert!(ended.run.results.iter().all(|result| result.outcome.estimate().is_some() && result.samples.len() >= 10));
    let of = |purpose: Purpose| subject.log().iter().filter(|step| step.purpose == purpose).count();
    assert_eq!(of(Purpose::Calibrate), results, "each is calibrated once");
    let together = subject.log().iter().filter(|step| step.purpose == Purpose::Measure && step.round == 0).count();
    assert!((100..results).contains(&together), "{together} results stand in the first round");
    let seconds = ended.run.session.seconds;
    let cut = RunRequest::new(plan(Some(seconds * 0.9)), Machine::default(), identity(), vec![0, 1]).unwrap();
    let mut subject = MockSubject::new(5, MockResult::stable(1e-7));
    let ended = measured(cut, &mut subject);
    assert_eq!(ended.ending, EndReason::TimeLimit);
    let finished = |run: &Run| run.results.iter().filter(|result| !result.has(Flag::Unfinished)).count();
    let before = finished(&ended.run);
    assert!((30..results).contains(&before), "{before} of {results} are finished near the end");

    let resumed = RunRequest::resume(ended.run, &identity(), vec![0, 1]).unwrap();
    let ended = measured(resumed, &mut subject);
    assert_eq!(ended.ending, EndReason::Complete);
    assert_eq!(finished(&ended.run), results);
    assert_eq!(subject.log().iter().filter(|step| step.purpose == Purpose::Calibrate).count(), results, "not again");
}

#[test]
fn the_same_seed_asks_for_the_same_samples() {
    let steps = |seed: u64| {
        let mut plan = plan(THREE);
        plan.seed = seed;
        let order = RunRequest::new(plan, Machine::default(), identity(), vec![0]).unwrap();
        let mut subject = MockSubject::new(1, MockResult::stable(1e-7));
        run_with(order, &mut subject);
        subject.log().iter().map(|step| (step.seed, step.tasks[0].result)).collect::<Vec<_>>()
    };
    assert_eq!(steps(3), steps(3));
    assert_ne!(steps(3), steps(4));
}

#[test]
fn a_result_ends_when_it_has_converged_and_a_noisy_one_at_the_last_checkpoint() {
    let wild = MockResult { noise: Noise { between: 0.3, ..Noise::stable(2e-7) }, ..MockResult::stable(2e-7) };
    let mut subject = MockSubject::new(2, MockResult::stable(1e-7)).with(key("os.clock_read"), wild);
    let (ended, _) = run_with(order(THREE), &mut subject);
    let wild = ended.run.results.iter().find(|result| result.benchmark == "os.clock_read").unwrap();
    assert_eq!(wild.samples.len(), 40);
    assert!(wild.has(Flag::CannotConverge));
    assert!(ended.run.results[0].samples.len() < 40);
}

#[test]
fn modes_are_reported_as_modes_and_never_as_converged() {
    let two = Noise { second_share: 0.4, second_ratio: 10.0, disturbed: 0.0, ..Noise::stable(6.5e-6) };
    let result = MockResult { noise: two, ..MockResult::stable(1.0) };
    let mut subject = MockSubject::new(3, result);
    let (ended, _) = run_with(order(&["os.syscall_write"]), &mut subject);
    let result = &ended.run.results[0];
    let Outcome::Modes(modes) = &result.outcome else { panic!("{:?}", result.outcome) };
    assert_eq!(modes.len(), 2);
    assert!((modes.iter().map(|mode| mode.share).sum::<f64>() - 1.0).abs() < 1e-9);
    assert!(result.has(Flag::Modes) && result.samples.len() == 40);
}

#[test]
fn failures_and_crashes_do_not_affect_other_results() {
    let not_measured =
        MockResult { not_measured: Some("there is no such thing".to_owned()), ..MockResult::stable(1.0) };
    let crash = MockResult { crashes_at: Some(4), ..MockResult::stable(1e-7) };
    let mut subject = MockSubject::new(4, MockResult::stable(1e-7))
        .with(key("os.syscall_write"), not_measured)
        .with(key("os.clock_read"), crash);
    let (ended, _) = run_with(order(THREE), &mut subject);
    assert_eq!(ended.ending, EndReason::Complete);
    assert_eq!(outcome(&ended.run, "os.syscall_write"), &Outcome::NotMeasured("there is no such thing".to_owned()));
    assert!(matches!(outcome(&ended.run, "os.clock_read"), Outcome::Failed(reason) if reason.contains("134")));
    assert!(outcome(&ended.run, "os.syscall_getppid").estimate().is_some());
}

#[test]
fn a_worker_that_is_killed_once_is_tried_again_and_one_that_is_killed_always_is_given_up() {
    let killed_in =
        |steps: std::ops::Range<usize>| MockResult { killed_in: steps.collect(), ..MockResult::stable(1e-7) };
    // While it calibrates, and in its third sample.
    for once in [0..1, 3..4] {
        let mut subject =
            MockSubject::new(4, MockResult::stable(1e-7)).with(key("os.clock_read"), killed_in(once.clone()));
        let (ended, _) = run_with(order(THREE), &mut subject);
        assert_eq!(ended.ending, EndReason::Complete);
        let result = ended.run.results.iter().find(|result| result.benchmark == "os.clock_read").unwrap();
        assert!(result.outcome.estimate().is_some(), "{once:?}: {:?}", result.outcome);
        let said = |note: &String| note.contains("made again") && note.contains("killed by signal 9");
        assert_eq!(result.notes.iter().filter(|note| said(note)).count(), 1, "{once:?}: {:?}", result.notes);
    }
    let mut subject = MockSubject::new(4, MockResult::stable(1e-7)).with(key("os.clock_read"), killed_in(0..9));
    let (ended, _) = run_with(order(THREE), &mut subject);
    assert!(matches!(outcome(&ended.run, "os.clock_read"), Outcome::Failed(reason) if reason.contains("signal 9")));
    let attempts = |step: &&measure::WorkerStep| step.tasks.iter().any(|task| task.benchmark == "os.clock_read");
    assert_eq!(subject.log().iter().filter(attempts).count(), 2);
    assert!(outcome(&ended.run, "os.syscall_getppid").estimate().is_some());
}

/// A CPU goes offline: earlier values stay.
#[test]
fn a_result_that_cannot_be_measured_any_more_keeps_its_samples() {
    let away = |steps: std::ops::Range<usize>| {
        let noise = Noise { between: 0.3, ..Noise::stable(1e-7) };
        let result = MockResult { not_measured_in: steps, noise, ..MockResult::stable(1e-7) };
        let mut subject = MockSubject::new(4, MockResult::stable(1e-7)).with(key("os.clock_read"), result);
        let (ended, _) = run_with(order(THREE), &mut subject);
        assert_eq!(ended.ending, EndReason::Complete);
        ended.run.results.into_iter().find(|result| result.benchmark == "os.clock_read").unwrap()
    };
    let whole = away(0..0);
    let back = away(7..10);
    assert_eq!((back.samples.len(), &back.notes), (whole.samples.len(), &whole.notes), "it came back");
    let gone = away(7..1000);
    assert!(gone.outcome.estimate().is_some() && gone.flags.contains(&Flag::Unfinished), "{:?}", gone.outcome);
    assert!(gone.samples.len() < whole.samples.len() && gone.samples.len() > 2, "{}", gone.samples.len());
    let said = gone.notes.iter().filter(|note| note.contains("any more: its CPU is offline"));
    assert_eq!(said.count(), 1, "{:?}", gone.notes);
    assert_eq!(away(0..1000).outcome, Outcome::NotMeasured("its CPU is offline".to_owned()), "never measured");
}

#[test]
fn results_of_two_cpus_are_never_measured_on_one() {
    let named = plan(&["ipc.pipe_latency:placement=cross_cpu", "os.clock_read"]);
    let order = RunRequest::new(named, Machine::default(), identity(), vec![3]).unwrap();
    let mut subject = MockSubject::new(4, MockResult::stable(1e-7));
    let (ended, _) = run_with(order, &mut subject);
    assert_eq!(ended.ending, EndReason::Complete);
    assert!(
        matches!(outcome(&ended.run, "ipc.pipe_latency"), Outcome::NotMeasured(reason) if reason.contains("two CPUs"))
    );
    assert!(subject.log().iter().all(|step| step.tasks.iter().all(|task| task.benchmark == "os.clock_read")));
    assert!(outcome(&ended.run, "os.clock_read").estimate().is_some());
}

#[test]
fn invalid_samples_are_kept_repeated_and_flagged_and_do_not_count() {
    let spoiled = MockResult { invalid: vec![0, 5], ..MockResult::stable(1e-7) };
    let mut subject = MockSubject::new(5, spoiled);
    let (ended, _) = run_with(order(&["os.syscall_write"]), &mut subject);
    let result = &ended.run.results[0];
    assert_eq!(result.samples.iter().filter(|sample| sample.invalid.is_some()).count(), 2);
    assert_eq!(result.outcome.estimate().unwrap().samples as usize, result.samples.len() - 2);
    assert!(result.has(Flag::Repeated));
    let hopeless = MockResult { invalid: (0..10_000).collect(), ..MockResult::stable(1e-7) };
    let mut subject = MockSubject::new(5, hopeless);
    let (ended, _) = run_with(order(&["os.syscall_write"]), &mut subject);
    assert!(matches!(&ended.run.results[0].outcome, Outcome::Failed(reason) if reason.contains("belong on")));
}

#[test]
fn what_was_measured_stays_when_no_sample_counts_any_more() {
    let spoilt_later = MockResult { invalid: (5..10_000).collect(), ..MockResult::stable(1e-7) };
    let (ended, _) = run_with(order(&["os.syscall_write"]), &mut MockSubject::new(5, spoilt_later));
    let result = &ended.run.results[0];
    assert_eq!(result.outcome.estimate().unwrap().samples, 5, "{:?}", result.outcome);
    assert!(result.notes.iter().any(|note| note.contains("no sample counted any more")), "{:?}", result.notes);
    // One in four counts: whole rounds are lost, but never too many in a row.
    let wild = Noise { between: 0.3, ..Noise::stable(1e-7) };
    let invalid = (0..10_000).filter(|at| at % 4 != 3).collect();
    let often_spoilt = MockResult { noise: wild, invalid, ..MockResult::stable(1e-7) };
    let (ended, _) = run_with(order(&["os.syscall_write"]), &mut MockSubject::new(5, often_spoilt));
    let result = &ended.run.results[0];
    assert!(result.outcome.estimate().unwrap().samples > 20, "{:?}", result.outcome);
}

#[test]
fn an_excluded_sample_is_made_again_after_all_others_of_its_round() {
    let spoiled = MockResult { invalid: vec![0], ..MockResult::stable(1e-7) };
    let mut subject = MockSubject::new(5, spoiled);
    run_with(order(THREE), &mut subject);
    let steps = subject.log().iter().filter(|step| step.purpose == Purpose::Measure && step.round == 0);
    let results: Vec<usize> = steps.map(|step| step.tasks[0].result).collect();
    let mut once = results[..3].to_vec();
    once.sort_unstable();
    assert_eq!((once, &results[..3]), (vec![0, 1, 2], &results[3..]), "each once, then each again in the same order");
}

#[test]
fn a_crash_in_a_shared_sample_gives_each_sharer_its_own() {
    let named = [
        "memory.copy:threads=1,stores=normal,working_set=1MiB",
        "memory.triad:threads=1,stores=normal,working_set=1MiB",
    ];
    let entries = plan(&named).entries;
    let copy = ResultKey::new("memory.copy", entries[0].parameters.clone());
    let crash = MockResult { crashes_at: Some(2), ..MockResult::stable(1e10) };
    let mut subject = MockSubject::new(6, MockResult::stable(1e10)).with(copy, crash);
    let (ended, _) = run_with(order(&named), &mut subject);
    let shared = subject.log().iter().filter(|step| step.tasks.len() == 2).count();
    assert_eq!(shared, 4, "calibration and three rounds, the last of which crashes");
    assert!(
        ended.run.results.iter().all(|result| result.outcome.estimate().is_some()),
        "a crash that does not recur blames no result"
    );
}

#[test]
fn observers_get_events_in_order() {
    #[derive(Default)]
    struct Words(Vec<&'static str>);
    impl Observer for Words {
        fn on_event(&mut self, event: &MeasureEvent<'_>) {
            self.0.push(match event {
                MeasureEvent::Began(_) => "began",
                MeasureEvent::Calibrating { .. } => "calibrating",
                MeasureEvent::Round { .. } => "round",
                MeasureEvent::Launching { .. } => "launching",
                MeasureEvent::Repeated { .. } => "repeated",
                MeasureEvent::Finished { .. } => "finished",
                MeasureEvent::Saved { .. } => "saved",
                MeasureEvent::Ended(_) => "ended",
            });
        }
    }
    let mut words = Words::default();
    let mut subject = MockSubject::new(11, MockResult::stable(1e-7));
    let mut saves = Saves::default();
    MeasureSession::measure(order(&["os.syscall_write"]), &mut subject, &mut words, &mut saves, Stopper::default())
        .unwrap();
    assert_eq!(words.0[..5], ["began", "calibrating", "round", "launching", "saved"]);
    assert_eq!(words.0[words.0.len() - 3..], ["finished", "saved", "ended"]);
}

#[test]
fn a_paired_result_is_never_negative() {
    let named = ["os.signal_handle"];
    let benchmark = benchmarks::find("os.signal_handle").unwrap();
    assert!(benchmark.paired);
    let nothing =
        MockResult { noise: Noise { centre: 1e-12, between: 3.0, ..Noise::stable(1e-12) }, ..MockResult::stable(1.0) };
    let mut subject = MockSubject::new(12, nothing);
    let (ended, _) = run_with(order(&named), &mut subject);
    match &ended.run.results[0].outcome {
        Outcome::Below { bound } => assert!(*bound > 0.0),
        Outcome::Measured(estimate) => assert!(estimate.low > 0.0),
        Outcome::Modes(modes) => assert!(modes.iter().all(|mode| mode.estimate.value > 0.0)),
        other => panic!("{other:?}"),
    }
}
