//! Time taken from a session: rounds are judged together, and every exclusion is limited.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::time::Duration;

use measure::{
    EndReason, MeasureSession, MockResult, MockSubject, NullObserver, RunRequest, RunResult, Saver, Stopper, select,
};
use model::{Flag, Identity, Invalid, Machine, Outcome, Plan, Run, TakenTime};

struct Forgets;

impl Saver for Forgets {
    fn save(&mut self, _: &Run) -> Result<(), String> {
        Ok(())
    }
}

fn measured(machine: Machine, allowed: Vec<usize>, named: &[&str], subject: &mut MockSubject) -> RunResult {
    let named: Vec<String> = named.iter().map(|name| (*name).to_owned()).collect();
    let plan = Plan { seed: 7, entries: select(None, &named, 0.02).unwrap(), ..Plan::default() };
    let identity = Identity { fingerprint: "f".to_owned(), boot: "b".to_owned(), host: "here".to_owned() };
    let order = RunRequest::new(plan, machine, identity, allowed).unwrap();
    MeasureSession::measure(order, subject, &mut NullObserver, &mut Forgets, Stopper::default()).unwrap()
}

const THREE: &[&str] = &["os.syscall_write", "os.syscall_getppid", "os.clock_read"];

/// Seconds of a watched sample; three of them make 60 ticks of 10 ms.
const WATCHED: f64 = 0.2;

fn taken(seconds: f64) -> TakenTime {
    TakenTime { seconds, of: WATCHED }
}

#[test]
fn one_tick_of_steal_excludes_nothing() {
    let mut subject = MockSubject::new(1, MockResult::stable(1e-7))
        .taking(|round, _| [taken(if round == 3 { 0.0034 } else { 0.0 }), taken(0.0)]);
    let ended = measured(Machine::default(), vec![0, 1], THREE, &mut subject);
    assert_eq!(ended.ending, EndReason::Complete);
    let samples = ended.run.results.iter().flat_map(|result| &result.samples);
    assert!(samples.clone().all(|sample| sample.invalid.is_none()), "10 ms of 0.6 s");
    assert!(samples.filter_map(|sample| sample.stolen?.share()).all(|share| share.get() <= 1.0));
}

#[test]
fn a_round_with_steal_is_excluded_and_measured_again() {
    let mut subject = MockSubject::new(1, MockResult::stable(1e-7))
        .taking(|round, _| [taken(if round == 3 { 0.05 } else { 0.0 }), taken(0.0)]);
    let ended = measured(Machine::default(), vec![0, 1], THREE, &mut subject);
    assert_eq!(ended.ending, EndReason::Complete);
    for result in &ended.run.results {
        let excluded: Vec<_> = result.samples.iter().filter(|sample| sample.invalid.is_some()).collect();
        assert_eq!(excluded.iter().map(|sample| sample.round).collect::<Vec<_>>(), [3], "{}", result.benchmark);
        let Some(Invalid::Stolen(evidence)) = &excluded[0].invalid else { panic!("{:?}", excluded[0].invalid) };
        assert_eq!(evidence.to_string(), "0.15 s of 0.60 s", "of the round");
        assert!(result.values().len() >= 10 && result.has(Flag::Repeated) && !result.has(Flag::Steal));
        assert!(!result.has(Flag::Unfinished));
    }
}

#[test]
fn short_rounds_are_judged_together_and_results_that_had_ended_go_on() {
    // Six rounds of one result make 60 ticks: the second six are evaluated after the first checkpoint, at ten samples.
    let mut subject = MockSubject::new(1, MockResult::stable(1e-7)).taking(|round, _| {
        let stolen = if (8..10).contains(&round) { 0.03 } else { 0.0 };
        [TakenTime { seconds: stolen, of: 0.1 }, TakenTime { seconds: 0.0, of: 0.1 }]
    });
    let ended = measured(Machine::default(), vec![0, 1], &THREE[..1], &mut subject);
    assert_eq!(ended.ending, EndReason::Complete);
    let result = &ended.run.results[0];
    let excluded: Vec<u32> =
        result.samples.iter().filter(|sample| sample.invalid.is_some()).map(|sample| sample.round).collect();
    assert!(excluded.len() <= result.samples.len() / 5, "{excluded:?} of {}", result.samples.len());
    assert!(result.values().len() >= 10 && !result.has(Flag::Unfinished));
    assert!(result.outcome.estimate().is_some_and(|estimate| estimate.samples as usize == result.values().len()));
}

#[test]
fn a_machine_with_permanent_steal_is_measured_as_observed() {
    let mut subject = MockSubject::new(1, MockResult::stable(1e-7)).taking(|_, _| [taken(0.06), taken(0.0)]);
    let ended = measured(Machine::default(), vec![0, 1], THREE, &mut subject);
    assert_eq!(ended.ending, EndReason::Complete);
    for result in &ended.run.results {
        assert!(matches!(result.outcome, Outcome::Measured(_)), "{:?}", result.outcome);
        let excluded = result.samples.len() - result.values().len();
        assert!(5 * excluded <= result.samples.len().max(10), "{excluded} of {}", result.samples.len());
        assert!(result.has(Flag::Steal) && (result.stolen().share().unwrap().get() - 0.3).abs() < 1e-9);
    }
}

#[test]
fn samples_wait_for_a_quota_after_it_has_throttled_one() {
    let quota = |bends: fn(bool) -> f64| {
        MockSubject::new(1, MockResult::stable(1e-7))
            .under_quota(Duration::from_millis(100))
            .taking(move |_, rested| [taken(0.0), taken(bends(rested))])
    };
    // A sample that fits into the quota is throttled only if nothing of the quota was left.
    let mut subject = quota(|rested| if rested { 0.0 } else { 0.1 });
    let ended = measured(Machine::default(), vec![0, 1], THREE, &mut subject);
    assert_eq!(ended.ending, EndReason::Complete);
    let stopped = ended.run.results.iter().flat_map(|result| &result.samples).filter(|sample| sample.invalid.is_some());
    assert_eq!(stopped.count(), 1, "only the sample before the session began to wait");
    assert!(subject.rests() >= 29, "{} rests", subject.rests());
    assert!(ended.run.results.iter().all(|result| !result.has(Flag::Throttled)));

    // A sample longer than the quota is throttled in any case: it is measured and reported.
    let mut subject = quota(|_| 0.096);
    let ended = measured(Machine::default(), vec![0, 1], THREE, &mut subject);
    assert_eq!(ended.ending, EndReason::Complete);
    for result in &ended.run.results {
        assert!(result.has(Flag::Throttled) && matches!(result.outcome, Outcome::Measured(_)), "{:?}", result.outcome);
        assert!((result.throttled().share().unwrap().get() - 0.48).abs() < 1e-9);
        assert!(5 * (result.samples.len() - result.values().len()) <= result.samples.len().max(10));
    }
    let share = ended.run.session.conditions.throttled.and_then(|taken| taken.share());
    assert_eq!(share, None, "a simulation uses no CPU time that it could be a share of");

    // Without a quota there are no waits.
    let mut subject = MockSubject::new(1, MockResult::stable(1e-7)).taking(|_, _| [taken(0.0), taken(0.0)]);
    measured(Machine::default(), vec![0, 1], THREE, &mut subject);
    assert_eq!(subject.rests(), 0);
}

/// Every sample has its own notes, which replace the earlier notes of the result.
#[test]
fn a_working_set_that_fits_a_cache_says_so_at_the_end_too() {
    let recorded = testing::machine::RecordedMachine::named("epyc-7451");
    let online: model::CpuSet = recorded.online.parse().unwrap();
    let topology = os::topology::of_files(&online, &|file| recorded.read(file));
    let machine = Machine { topology: Some(topology), ..Machine::default() };
    let named = &["memory.load_latency:working_set=32KiB,pages=base"];
    let mut subject = MockSubject::new(1, MockResult::stable(1e-7));
    let ended = measured(machine, vec![0, 1], named, &mut subject);
    let notes = &ended.run.results[0].notes;
    assert_eq!(notes.iter().filter(|note| note.contains("the working set fits")).count(), 1, "{notes:?}");
    assert!(!ended.run.results[0].samples.is_empty());
}

#[test]
fn a_result_of_all_threads_notes_the_number_of_cpus() {
    let online = model::Fact::new("cpu.online", 2.0, "/sys/devices/system/cpu/online", &[]);
    let machine = Machine { facts: vec![online], ..Machine::default() };
    let named = &["memory.read:working_set=32KiB,threads=all,pages=base", "os.clock_read"];
    let notes = |allowed: Vec<usize>| {
        let mut subject = MockSubject::new(1, MockResult::stable(1e-7));
        let ended = measured(machine.clone(), allowed, named, &mut subject);
        ended.run.results.iter().map(|result| result.notes.clone()).collect::<Vec<_>>()
    };
    assert_eq!(notes(vec![0]), [vec!["threads=all is 1 of 2 CPUs".to_owned()], Vec::new()]);
    assert_eq!(notes(vec![0, 1]), [Vec::<String>::new(), Vec::new()]);
    assert!(measure::notes(&machine, &[0]).iter().any(|note| note.contains("1 of 2 CPUs")));
    assert!(measure::notes(&machine, &[0, 1]).is_empty());
}
