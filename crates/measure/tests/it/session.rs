//! The order of execution and the ways to end, with launches that need no clock.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails, and says what it skips")]

use measure::{
    EndReason, MeasureEvent, MeasureSession, MockFigure, MockSubject, NullObserver, Observer, Purpose, RunRequest,
    RunResult, Saver, Stopper, select,
};
use model::{FigureKey, Flag, Identity, Machine, Outcome, Plan, Run};
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

pub(crate) fn key(benchmark: &str) -> FigureKey {
    FigureKey::new(benchmark, model::Point::origin())
}

fn outcome<'a>(run: &'a Run, benchmark: &str) -> &'a Outcome {
    &run.figures.iter().find(|figure| figure.benchmark == benchmark).unwrap().outcome
}

#[test]
fn everything_is_calibrated_once_and_then_launched_in_shuffled_rounds_to_the_first_look() {
    let mut subject = MockSubject::new(1, MockFigure::stable(1e-7));
    let (ended, saves) = run_with(order(THREE), &mut subject);
    assert_eq!(ended.ending, EndReason::Complete);
    assert!(ended.run.session.complete);
    let log = subject.log();
    assert!(log[..3].iter().all(|step| step.purpose == Purpose::Calibrate));
    assert!(log[3..].iter().all(|step| step.purpose == Purpose::Measure));
    let round = |number: u32| -> Vec<usize> {
        log.iter()
            .filter(|step| step.purpose == Purpose::Measure && step.round == number)
            .map(|step| step.tasks[0].figure)
            .collect()
    };
    for number in 0..10 {
        let mut figures = round(number);
        figures.sort_unstable();
        assert_eq!(figures, [0, 1, 2], "round {number} launches every figure once");
    }
    assert!((1..10).any(|number| round(number) != round(0)), "rounds are shuffled");
    assert!(log.iter().all(|step| step.tasks.len() == 1));
    let mut seeds: Vec<u64> = log[3..].iter().map(|step| step.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), log.len() - 3, "every launch draws its own layout");
    let rounds = ended.run.session.rounds as usize;
    assert_eq!(saves.0.len(), 2 + rounds, "saved after calibration, after every round, and at the end");
    for figure in &ended.run.figures {
        let estimate = figure.outcome.estimate().unwrap();
        assert!(estimate.low <= 1e-7 * 1.02 && estimate.high >= 1e-7 * 0.98 && estimate.level >= 0.95);
        assert!([14, 20, 28, 40].contains(&estimate.launches), "ended at a look, and ten launches call nothing");
        assert!(!figure.has(Flag::Unfinished));
    }
}

#[test]
fn a_long_plan_is_measured_part_by_part_and_a_limit_leaves_finished_figures() {
    let plan = |limit| {
        let entries = select(Some("full"), &[], 0.02).unwrap();
        let entries =
            entries.into_iter().filter(|entry| entry.benchmark == "memory.load_latency_strided").take(130).collect();
        Plan { seed: 7, entries, time_limit: limit, ..Plan::default() }
    };
    let whole = RunRequest::new(plan(None), Machine::default(), identity(), vec![0, 1]).unwrap();
    let figures = whole.run().figures.len();
    assert!(figures > 120, "{figures} figures make no long plan");
    let mut subject = MockSubject::new(5, MockFigure::stable(1e-7));
    let measured = |order: RunRequest, subject: &mut MockSubject| {
        MeasureSession::measure(order, subject, &mut NullObserver, &mut Forgets, Stopper::default()).unwrap()
    };
    let ended = measured(whole, &mut subject);
    assert_eq!(ended.ending, EndReason::Complete);
    assert!(ended.run.figures.iter().all(|figure| figure.outcome.estimate().is_some() && figure.launches.len() >= 10));
    let of = |purpose: Purpose| subject.log().iter().filter(|step| step.purpose == purpose).count();
    assert_eq!(of(Purpose::Calibrate), figures, "each is calibrated once");
    let together = subject.log().iter().filter(|step| step.purpose == Purpose::Measure && step.round == 0).count();
    assert!((100..figures).contains(&together), "{together} figures stand in the first round");
    let seconds = ended.run.session.seconds;
    let cut = RunRequest::new(plan(Some(seconds * 0.9)), Machine::default(), identity(), vec![0, 1]).unwrap();
    let mut subject = MockSubject::new(5, MockFigure::stable(1e-7));
    let ended = measured(cut, &mut subject);
    assert_eq!(ended.ending, EndReason::TimeLimit);
    let finished = |run: &Run| run.figures.iter().filter(|figure| !figure.has(Flag::Unfinished)).count();
    let before = finished(&ended.run);
    assert!((30..figures).contains(&before), "{before} of {figures} are finished near the end");

    let resumed = RunRequest::resume(ended.run, &identity(), vec![0, 1]).unwrap();
    let ended = measured(resumed, &mut subject);
    assert_eq!(ended.ending, EndReason::Complete);
    assert_eq!(finished(&ended.run), figures);
    assert_eq!(subject.log().iter().filter(|step| step.purpose == Purpose::Calibrate).count(), figures, "not again");
}

#[test]
fn the_same_seed_asks_for_the_same_launches() {
    let steps = |seed: u64| {
        let mut plan = plan(THREE);
        plan.seed = seed;
        let order = RunRequest::new(plan, Machine::default(), identity(), vec![0]).unwrap();
        let mut subject = MockSubject::new(1, MockFigure::stable(1e-7));
        run_with(order, &mut subject);
        subject.log().iter().map(|step| (step.seed, step.tasks[0].figure)).collect::<Vec<_>>()
    };
    assert_eq!(steps(3), steps(3));
    assert_ne!(steps(3), steps(4));
}

#[test]
fn a_figure_ends_when_it_has_converged_and_a_noisy_one_at_the_last_look() {
    let wild = MockFigure { noise: Noise { between: 0.3, ..Noise::stable(2e-7) }, ..MockFigure::stable(2e-7) };
    let mut subject = MockSubject::new(2, MockFigure::stable(1e-7)).with(key("os.clock_read"), wild);
    let (ended, _) = run_with(order(THREE), &mut subject);
    let wild = ended.run.figures.iter().find(|figure| figure.benchmark == "os.clock_read").unwrap();
    assert_eq!(wild.launches.len(), 40);
    assert!(wild.has(Flag::CannotConverge));
    assert!(ended.run.figures[0].launches.len() < 40);
}

#[test]
fn modes_are_reported_as_modes_and_never_as_converged() {
    let two = Noise { second_share: 0.4, second_ratio: 10.0, disturbed: 0.0, ..Noise::stable(6.5e-6) };
    let figure = MockFigure { noise: two, ..MockFigure::stable(1.0) };
    let mut subject = MockSubject::new(3, figure);
    let (ended, _) = run_with(order(&["os.syscall_write"]), &mut subject);
    let figure = &ended.run.figures[0];
    let Outcome::Modes(modes) = &figure.outcome else { panic!("{:?}", figure.outcome) };
    assert_eq!(modes.len(), 2);
    assert!((modes.iter().map(|mode| mode.share).sum::<f64>() - 1.0).abs() < 1e-9);
    assert!(figure.has(Flag::Modes) && figure.launches.len() == 40);
}

#[test]
fn failures_and_crashes_do_not_affect_other_figures() {
    let unfit = MockFigure { unfit: Some("there is no such thing".to_owned()), ..MockFigure::stable(1.0) };
    let crash = MockFigure { crashes_at: Some(4), ..MockFigure::stable(1e-7) };
    let mut subject = MockSubject::new(4, MockFigure::stable(1e-7))
        .with(key("os.syscall_write"), unfit)
        .with(key("os.clock_read"), crash);
    let (ended, _) = run_with(order(THREE), &mut subject);
    assert_eq!(ended.ending, EndReason::Complete);
    assert_eq!(outcome(&ended.run, "os.syscall_write"), &Outcome::Unfit("there is no such thing".to_owned()));
    assert!(matches!(outcome(&ended.run, "os.clock_read"), Outcome::Failed(reason) if reason.contains("134")));
    assert!(outcome(&ended.run, "os.syscall_getppid").estimate().is_some());
}

#[test]
fn a_worker_that_is_killed_once_is_tried_again_and_one_that_is_killed_always_is_given_up() {
    let killed_in =
        |steps: std::ops::Range<usize>| MockFigure { killed_in: steps.collect(), ..MockFigure::stable(1e-7) };
    // While it calibrates, and in its third launch.
    for once in [0..1, 3..4] {
        let mut subject =
            MockSubject::new(4, MockFigure::stable(1e-7)).with(key("os.clock_read"), killed_in(once.clone()));
        let (ended, _) = run_with(order(THREE), &mut subject);
        assert_eq!(ended.ending, EndReason::Complete);
        let figure = ended.run.figures.iter().find(|figure| figure.benchmark == "os.clock_read").unwrap();
        assert!(figure.outcome.estimate().is_some(), "{once:?}: {:?}", figure.outcome);
        let said = |note: &String| note.contains("made again") && note.contains("killed by signal 9");
        assert_eq!(figure.notes.iter().filter(|note| said(note)).count(), 1, "{once:?}: {:?}", figure.notes);
    }
    let mut subject = MockSubject::new(4, MockFigure::stable(1e-7)).with(key("os.clock_read"), killed_in(0..9));
    let (ended, _) = run_with(order(THREE), &mut subject);
    assert!(matches!(outcome(&ended.run, "os.clock_read"), Outcome::Failed(reason) if reason.contains("signal 9")));
    let attempts = |step: &&measure::WorkerStep| step.tasks.iter().any(|task| task.benchmark == "os.clock_read");
    assert_eq!(subject.log().iter().filter(attempts).count(), 2);
    assert!(outcome(&ended.run, "os.syscall_getppid").estimate().is_some());
}

/// A CPU that is taken offline: what was measured before stays.
#[test]
fn a_figure_that_cannot_be_measured_any_more_keeps_its_launches() {
    let away = |steps: std::ops::Range<usize>| {
        let noise = Noise { between: 0.3, ..Noise::stable(1e-7) };
        let figure = MockFigure { unfit_in: steps, noise, ..MockFigure::stable(1e-7) };
        let mut subject = MockSubject::new(4, MockFigure::stable(1e-7)).with(key("os.clock_read"), figure);
        let (ended, _) = run_with(order(THREE), &mut subject);
        assert_eq!(ended.ending, EndReason::Complete);
        ended.run.figures.into_iter().find(|figure| figure.benchmark == "os.clock_read").unwrap()
    };
    let whole = away(0..0);
    let back = away(7..10);
    assert_eq!((back.launches.len(), &back.notes), (whole.launches.len(), &whole.notes), "it came back");
    let gone = away(7..1000);
    assert!(gone.outcome.estimate().is_some() && gone.flags.contains(&Flag::Unfinished), "{:?}", gone.outcome);
    assert!(gone.launches.len() < whole.launches.len() && gone.launches.len() > 2, "{}", gone.launches.len());
    let said = gone.notes.iter().filter(|note| note.contains("any more: its CPU is offline"));
    assert_eq!(said.count(), 1, "{:?}", gone.notes);
    assert_eq!(away(0..1000).outcome, Outcome::Unfit("its CPU is offline".to_owned()), "never measured");
}

#[test]
fn figures_of_two_cpus_are_never_measured_on_one() {
    let named = plan(&["ipc.pipe_latency:placement=cross_cpu", "os.clock_read"]);
    let order = RunRequest::new(named, Machine::default(), identity(), vec![3]).unwrap();
    let mut subject = MockSubject::new(4, MockFigure::stable(1e-7));
    let (ended, _) = run_with(order, &mut subject);
    assert_eq!(ended.ending, EndReason::Complete);
    assert!(matches!(outcome(&ended.run, "ipc.pipe_latency"), Outcome::Unfit(reason) if reason.contains("two CPUs")));
    assert!(subject.log().iter().all(|step| step.tasks.iter().all(|task| task.benchmark == "os.clock_read")));
    assert!(outcome(&ended.run, "os.clock_read").estimate().is_some());
}

#[test]
fn invalid_launches_are_kept_repeated_and_flagged_and_do_not_count() {
    let spoiled = MockFigure { invalid: vec![0, 5], ..MockFigure::stable(1e-7) };
    let mut subject = MockSubject::new(5, spoiled);
    let (ended, _) = run_with(order(&["os.syscall_write"]), &mut subject);
    let figure = &ended.run.figures[0];
    assert_eq!(figure.launches.iter().filter(|launch| launch.invalid.is_some()).count(), 2);
    assert_eq!(figure.outcome.estimate().unwrap().launches as usize, figure.launches.len() - 2);
    assert!(figure.has(Flag::Repeated));
    let hopeless = MockFigure { invalid: (0..10_000).collect(), ..MockFigure::stable(1e-7) };
    let mut subject = MockSubject::new(5, hopeless);
    let (ended, _) = run_with(order(&["os.syscall_write"]), &mut subject);
    assert!(matches!(&ended.run.figures[0].outcome, Outcome::Failed(reason) if reason.contains("belong on")));
}

#[test]
fn what_was_measured_stays_when_no_launch_counts_any_more() {
    let spoilt_later = MockFigure { invalid: (5..10_000).collect(), ..MockFigure::stable(1e-7) };
    let (ended, _) = run_with(order(&["os.syscall_write"]), &mut MockSubject::new(5, spoilt_later));
    let figure = &ended.run.figures[0];
    assert_eq!(figure.outcome.estimate().unwrap().launches, 5, "{:?}", figure.outcome);
    assert!(figure.notes.iter().any(|note| note.contains("no launch counted any more")), "{:?}", figure.notes);
    // One in four counts: whole rounds are lost, but never so many in a row.
    let wild = Noise { between: 0.3, ..Noise::stable(1e-7) };
    let invalid = (0..10_000).filter(|at| at % 4 != 3).collect();
    let often_spoilt = MockFigure { noise: wild, invalid, ..MockFigure::stable(1e-7) };
    let (ended, _) = run_with(order(&["os.syscall_write"]), &mut MockSubject::new(5, often_spoilt));
    let figure = &ended.run.figures[0];
    assert!(figure.outcome.estimate().unwrap().launches > 20, "{:?}", figure.outcome);
}

#[test]
fn an_excluded_launch_is_made_again_after_all_others_of_its_round() {
    let spoiled = MockFigure { invalid: vec![0], ..MockFigure::stable(1e-7) };
    let mut subject = MockSubject::new(5, spoiled);
    run_with(order(THREE), &mut subject);
    let steps = subject.log().iter().filter(|step| step.purpose == Purpose::Measure && step.round == 0);
    let figures: Vec<usize> = steps.map(|step| step.tasks[0].figure).collect();
    let mut once = figures[..3].to_vec();
    once.sort_unstable();
    assert_eq!((once, &figures[..3]), (vec![0, 1, 2], &figures[3..]), "each once, then each again in the same order");
}

#[test]
fn a_crash_in_a_shared_launch_gives_each_sharer_its_own() {
    let named = [
        "memory.copy:threads=1,stores=normal,working_set=1MiB",
        "memory.triad:threads=1,stores=normal,working_set=1MiB",
    ];
    let entries = plan(&named).entries;
    let copy = FigureKey::new("memory.copy", entries[0].point.clone());
    let crash = MockFigure { crashes_at: Some(2), ..MockFigure::stable(1e10) };
    let mut subject = MockSubject::new(6, MockFigure::stable(1e10)).with(copy, crash);
    let (ended, _) = run_with(order(&named), &mut subject);
    let shared = subject.log().iter().filter(|step| step.tasks.len() == 2).count();
    assert_eq!(shared, 4, "calibration and three rounds, the last of which crashes");
    assert!(
        ended.run.figures.iter().all(|figure| figure.outcome.estimate().is_some()),
        "a crash that does not recur blames no figure"
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
    let mut subject = MockSubject::new(11, MockFigure::stable(1e-7));
    let mut saves = Saves::default();
    MeasureSession::measure(order(&["os.syscall_write"]), &mut subject, &mut words, &mut saves, Stopper::default())
        .unwrap();
    assert_eq!(words.0[..5], ["began", "calibrating", "round", "launching", "saved"]);
    assert_eq!(words.0[words.0.len() - 3..], ["finished", "saved", "ended"]);
}

#[test]
fn a_paired_figure_is_never_negative() {
    let named = ["os.signal_handle"];
    let benchmark = benchmarks::find("os.signal_handle").unwrap();
    assert!(benchmark.paired);
    let nothing =
        MockFigure { noise: Noise { centre: 1e-12, between: 3.0, ..Noise::stable(1e-12) }, ..MockFigure::stable(1.0) };
    let mut subject = MockSubject::new(12, nothing);
    let (ended, _) = run_with(order(&named), &mut subject);
    match &ended.run.figures[0].outcome {
        Outcome::Below { bound } => assert!(*bound > 0.0),
        Outcome::Measured(estimate) => assert!(estimate.low > 0.0),
        Outcome::Modes(modes) => assert!(modes.iter().all(|mode| mode.estimate.value > 0.0)),
        other => panic!("{other:?}"),
    }
}
