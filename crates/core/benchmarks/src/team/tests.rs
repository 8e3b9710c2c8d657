use std::time::{Duration, Instant};

use super::*;

fn allowed() -> Vec<usize> {
    kernels::affinity::allowed().unwrap()
}

#[test]
fn every_member_works_each_time() {
    let cpus = allowed();
    let mut team = ThreadTeam::spawn(&cpus, |_| Ok(0_u64)).unwrap();
    for round in 1..=50_u64 {
        let sum = team.run(|state| {
            *state += 1;
            *state
        });
        assert_eq!(sum, Ok(round * cpus.len() as u64));
    }
    std::thread::sleep(Duration::from_millis(30));
    assert_eq!(team.run(|state| *state), Ok(50 * cpus.len() as u64), "sleepers wake up for a job");
}

#[test]
fn what_cannot_be_made_is_said() {
    let cpus = allowed();
    let result = ThreadTeam::<u64>::spawn(&cpus, |_| Err(Unsupported::new("no memory")));
    assert_eq!(result.err(), Some(Unsupported::new("no memory")));
}

#[test]
fn a_member_that_panics_while_it_prepares_is_an_error() {
    let cpu = allowed()[0];
    let make = |index| if index == 2 { panic!("no state for the third") } else { Ok(index) };
    let result = ThreadTeam::spawn(&[cpu, cpu, cpu], make);
    assert_eq!(result.err(), Some(Unsupported::new("a thread ended during its preparation")));
}

/// Members wait at the start until the clock starts, and do nothing before.
#[test]
fn a_job_begins_when_it_is_started() {
    let cpus = allowed();
    let mut team = ThreadTeam::spawn(&cpus, |_| Ok(())).unwrap();
    let begun = Arc::new(AtomicU64::new(0));
    for _ in 0..20 {
        begun.store(0, Ordering::SeqCst);
        let inside = Arc::clone(&begun);
        team.prepare(1, move |()| inside.fetch_add(1, Ordering::SeqCst)).unwrap();
        assert_eq!(team.shared.arrived.wait(|_| true, 0), team.shared.members());
        std::thread::sleep(Duration::from_micros(200));
        assert_eq!(begun.load(Ordering::SeqCst), 0);
        team.start(1).unwrap();
        assert_eq!(begun.load(Ordering::SeqCst), cpus.len() as u64);
    }
    assert!(team.start(1).is_err(), "what was not prepared cannot be started");
    team.prepare(3, |()| 1).unwrap();
    assert!(team.start(4).is_err(), "nor what was prepared for another number of operations");
}

#[test]
fn another_job_may_take_the_place_of_a_prepared_one() {
    let cpu = allowed()[0];
    let mut team = ThreadTeam::spawn(&[cpu; 4], |_| Ok(0_u64)).unwrap();
    team.prepare(1, |state| {
        *state += 100;
        *state
    })
    .unwrap();
    assert_eq!(team.run(|state| *state + 1), Ok(4), "the first job never ran");
    team.prepare(1, |state| *state).unwrap();
    // Dropped with a prepared job: its threads end.
}

#[test]
fn a_panic_in_any_thread_is_an_error_and_the_team_ends() {
    for guilty in 0..3 {
        let cpu = allowed()[0];
        let mut team = ThreadTeam::spawn(&[cpu; 3], Ok).unwrap();
        assert_eq!(team.run(|index| *index as u64), Ok(3));
        let found = team.run(move |index| if *index == guilty { panic!("member {guilty} gives up") } else { 1 });
        let reason = found.unwrap_err().to_string();
        assert_eq!(reason, format!("one of its threads panicked: member {guilty} gives up"));
        assert!(team.run(|_| 1).is_err(), "its state may be anything");
    }
}

/// Many more threads than CPUs start, work and end: none blocks another by spinning. The limit of two minutes allows
/// for other builds on the machine; a livelock would not end at all.
#[test]
fn many_threads_on_few_cpus_finish() {
    let began = Instant::now();
    let cpus = allowed();
    for threads in [64, 64, 512] {
        let places: Vec<usize> = cpus.iter().copied().cycle().take(threads).collect();
        let mut team = ThreadTeam::spawn(&places, |index| Ok(index as u64)).unwrap();
        assert_eq!(team.tids().len(), threads - 1);
        let sum = (threads * (threads - 1) / 2) as u64;
        for _ in 0..20 {
            assert_eq!(team.run(|index| *index), Ok(sum));
        }
        eprintln!("a team of {threads} threads on {} CPUs, 20 jobs, after {:?}", cpus.len(), began.elapsed());
    }
    assert!(began.elapsed() < Duration::from_secs(120));
}

/// Prints a measurement and asserts nothing: the time inside the clock outside the job itself.
#[test]
fn cost_of_a_start() {
    let cpus = allowed();
    let mut team = ThreadTeam::spawn(&cpus, |_| Ok(())).unwrap();
    let mut nanos: Vec<u64> = (0..3000)
        .map(|_| {
            team.prepare(1, |()| 1).unwrap();
            let began = kernels::clock::now();
            let sum = team.start(1);
            let nanos = kernels::clock::now() - began;
            assert_eq!(sum, Ok(cpus.len() as u64));
            nanos
        })
        .collect();
    nanos.sort_unstable();
    let [p10, median, p90, p99] = [300, 1500, 2700, 2970].map(|at| nanos[at]);
    eprintln!("a job of nothing on {} CPUs: 10% {p10} ns, median {median}, 90% {p90}, 99% {p99}", cpus.len());
}
