//! Intervals of real sessions with simulated samples: how often they contain the true value, and how often two sessions
//! of one machine are called different.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails, and says what it found")]

use measure::{MeasureSession, MockResult, MockSubject, NullObserver, RunRequest, Stopper, select};
use model::{Estimate, Identity, Machine, Plan};
use stats::simulate::{Noise, generator};

use crate::session::Forgets;

/// The results of a session of six system calls, whose samples vary like this.
fn estimates(seed: u64, noise: &Noise, limit: Option<f64>) -> Vec<Estimate> {
    let names = ["syscall_write", "syscall_getppid", "clock_read", "yield", "syscall_mix", "fork_exit"];
    let named = names.map(|name| format!("os.{name}"));
    let checkpoints = model::checkpoints(if limit.is_some() { 320 } else { 40 });
    let plan =
        Plan { seed, entries: select(None, &named, 0.02).unwrap(), checkpoints, time_limit: limit, ..Plan::default() };
    let request = RunRequest::new(plan, Machine::default(), Identity::default(), vec![0, 1]).unwrap();
    let result = MockResult { noise: noise.clone(), ..MockResult::stable(noise.centre) };
    let mut subject = MockSubject::new(seed, result);
    let ended = MeasureSession::measure(request, &mut subject, &mut NullObserver, &mut Forgets, Stopper::default());
    let results = ended.unwrap().run.results;
    assert!(results.len() >= 6);
    results.iter().filter_map(|result| result.outcome.estimate().copied()).filter(|one| !one.is_range()).collect()
}

/// The kinds of noise, each with its name: a quiet core, a busy machine, samples that depend on their neighbours, and
/// samples that scatter too much to converge.
fn kinds() -> [(&'static str, Noise); 4] {
    let stable = Noise::stable(1e-6);
    [
        ("quiet", Noise { disturbed: 0.0, ..stable.clone() }),
        ("busy", Noise { between: 0.02, disturbed: 0.3, ..stable.clone() }),
        ("dependent", Noise { between: 0.015, correlation: 0.3, ..stable.clone() }),
        ("wild", Noise { between: 0.1, ..stable }),
    ]
}

fn true_median(noise: &Noise) -> f64 {
    let samples = Noise { correlation: 0.0, ..noise.clone() }.batches(40_001, 3, &mut generator(99));
    let medians: Vec<f64> = samples.iter().map(|batches| stats::median(batches).unwrap()).collect();
    stats::median(&medians).unwrap()
}

#[test]
fn stated_intervals_of_real_sessions_contain_the_true_value() {
    let sessions = testing::trials(12, 400) as u64;
    for limit in [None, Some(6.0)] {
        for (name, noise) in kinds() {
            let truth = true_median(&noise);
            let all: Vec<Estimate> = (0..sessions).flat_map(|seed| estimates(1000 + seed, &noise, limit)).collect();
            let covered = all.iter().filter(|one| (one.low..=one.high).contains(&truth)).count();
            let share = covered as f64 / all.len() as f64;
            println!("TABLE {name}, limit {limit:?}: {covered} of {} ({:.1}%)", all.len(), 100.0 * share);
            assert!(all.len() as u64 >= 5 * sessions, "{name}: {} intervals", all.len());
            assert!(share >= 0.93, "{name}, limit {limit:?}: {share}");
        }
    }
}

/// Two intervals of 95% that do not touch must occur in far less than 5% of equal pairs.
#[test]
fn two_sessions_of_one_machine_are_seldom_apart() {
    let sessions = testing::trials(20, 300) as u64;
    for (name, noise) in kinds() {
        let apart = |seed: u64| -> Vec<bool> {
            let [a, b] = [2 * seed, 2 * seed + 1].map(|seed| estimates(5000 + seed, &noise, None));
            a.iter().zip(&b).map(|(a, b)| a.low > b.high || b.low > a.high).collect()
        };
        let found: Vec<bool> = (0..sessions).flat_map(apart).collect();
        let alarms = found.iter().filter(|apart| **apart).count();
        println!("TABLE {name}: {alarms} of {} pairs of intervals apart", found.len());
        assert!(alarms as f64 <= 0.05 * found.len() as f64, "{name}: {alarms} of {}", found.len());
    }
}
