//! Nodes that only fail, chunks that always fail, and machines that compute wrongly, in simulated time.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test says so when it cannot go on")]

use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use farm::{ChunkSet, LeaseAnswer, LeaseRules, Leases};

/// The next action of a slot, at a time in milliseconds. The latest in order is the first in time.
type Event = (std::cmp::Reverse<u64>, usize, Option<(u64, u64)>);

/// A node: its slots, and how it does chunk `n` as the `m`-th of its chunks: seconds, and whether it succeeds.
struct SimulatedNode<'a> {
    name: &'static str,
    slots: usize,
    work: &'a dyn Fn(u64, u64) -> (f64, bool),
}

#[derive(Debug, Default)]
struct Ended {
    /// By node: chunks counted, and failures.
    done: BTreeMap<&'static str, (u64, u64)>,
    given_up: BTreeSet<u64>,
    hopeless: Option<Vec<String>>,
    seconds: f64,
    /// Pairs of node and chunk that were tried again after a failure.
    tried_again: u64,
}

fn good(_: u64, _: u64) -> (f64, bool) {
    (1.0, true)
}

fn broken(_: u64, _: u64) -> (f64, bool) {
    (0.01, false)
}

fn run(rules: LeaseRules, chunks: u64, nodes: &[SimulatedNode<'_>]) -> Ended {
    let mut leases = Leases::new(rules, chunks, ChunkSet::new(chunks), 0, 1);
    let pilots: Vec<(usize, String)> = nodes
        .iter()
        .enumerate()
        .flat_map(|(node, one)| (0..one.slots).map(move |slot| (node, format!("{}/{slot}", one.name))))
        .collect();
    let mut events: BinaryHeap<Event> =
        pilots.iter().enumerate().map(|(at, _)| (std::cmp::Reverse(at as u64), at, None)).collect();
    pilots.iter().for_each(|(node, _)| leases.joined(nodes[*node].name));
    let (mut ended, mut count, mut failed) = (Ended::default(), vec![0_u64; nodes.len()], BTreeSet::new());
    while let Some((std::cmp::Reverse(at), pilot, work)) = events.pop() {
        let now = at as f64 * 1e-3;
        let (node, name) = (&nodes[pilots[pilot].0], &pilots[pilot].1);
        if let Some((chunk, number)) = work {
            ended.seconds = now;
            count[pilots[pilot].0] += 1;
            let sums = ended.done.entry(node.name).or_default();
            if (node.work)(chunk, count[pilots[pilot].0]).1 {
                if leases.is_check(chunk, number, name) {
                    leases.checked(chunk, node.name, false);
                } else {
                    sums.0 += u64::from(!leases.counted().contains(chunk));
                    leases.count(chunk, node.name, Some(1.0));
                }
            } else {
                sums.1 += 1;
                failed.insert((node.name, chunk));
                leases.fail(chunk, number, name, node.name, now);
            }
        }
        if let Some(nodes) = leases.hopeless() {
            ended.hopeless = Some(nodes);
            break;
        }
        match leases.ask(name, node.name, now) {
            LeaseAnswer::Lease { chunk, number, .. } => {
                ended.tried_again += u64::from(failed.contains(&(node.name, chunk)));
                let seconds = (node.work)(chunk, count[pilots[pilot].0] + 1).0;
                events.push((std::cmp::Reverse(at + (seconds * 1e3) as u64), pilot, Some((chunk, number))));
            }
            LeaseAnswer::Wait { seconds } => {
                events.push((std::cmp::Reverse(at + (seconds * 1e3).ceil() as u64), pilot, None));
            }
            LeaseAnswer::Finished => {}
        }
        assert!(now < 100_000.0, "the run does not end");
    }
    ended.given_up = leases.given_up().clone();
    ended
}

fn rules() -> LeaseRules {
    LeaseRules { expiry: 1e9, speculate: 0.0, ..LeaseRules::default() }
}

fn node<'a>(name: &'static str, slots: usize, work: &'a dyn Fn(u64, u64) -> (f64, bool)) -> SimulatedNode<'a> {
    SimulatedNode { name, slots, work }
}

#[test]
fn a_black_hole_takes_no_chunk_from_three_healthy_nodes() {
    for (slots, hole) in [(1, 1), (8, 8), (2, 16)] {
        let nodes =
            [node("n1", slots, &good), node("n2", slots, &good), node("n3", slots, &good), node("n4", hole, &broken)];
        let ended = run(rules(), 300, &nodes);
        let counted: u64 = ended.done.values().map(|(done, _)| done).sum();
        assert_eq!((counted, ended.given_up.len(), ended.tried_again), (300, 0, 0), "{ended:?}");
        assert!(ended.hopeless.is_none() && ended.done["n4"].1 < 60 + hole as u64, "{ended:?}");
        // The hole costs no more than its slots are worth.
        let alone = run(rules(), 300, &nodes[..3]);
        assert!(ended.seconds < 1.2 * alone.seconds + 3.0, "{} s instead of {} s", ended.seconds, alone.seconds);
    }
}

#[test]
fn a_node_that_breaks_in_the_middle_takes_no_chunk_either() {
    // A full disk: it did forty chunks before.
    let later = |_: u64, count: u64| if count > 40 { (0.01, false) } else { (1.0, true) };
    let ended = run(rules(), 300, &[node("n1", 2, &good), node("n2", 2, &good), node("n3", 2, &later)]);
    assert_eq!((ended.given_up.len(), ended.tried_again), (0, 0), "{ended:?}");
    assert_eq!(ended.done.values().map(|(done, _)| done).sum::<u64>(), 300);
}

#[test]
fn a_chunk_that_fails_on_two_healthy_nodes_is_given_up_and_their_bench_lifted() {
    let bad = |chunk: u64, _: u64| if [50, 51, 52, 120].contains(&chunk) { (0.01, false) } else { (1.0, true) };
    let nodes = [node("n1", 2, &bad), node("n2", 2, &bad), node("n3", 2, &bad)];
    let ended = run(rules(), 200, &nodes);
    assert_eq!(ended.given_up, BTreeSet::from([50, 51, 52, 120]), "{ended:?}");
    assert_eq!(ended.done.values().map(|(done, _)| done).sum::<u64>(), 196);
    assert_eq!(ended.done.values().map(|(_, failed)| failed).sum::<u64>(), 8, "{ended:?}");
    assert!(ended.seconds < 40.0, "a healthy node was kept on the bench: {ended:?}");
}

#[test]
fn one_node_tries_a_bad_chunk_three_times_and_goes_on() {
    let bad = |chunk: u64, _: u64| if [3, 7, 19].contains(&chunk) { (0.01, false) } else { (1.0, true) };
    let ended = run(rules(), 20, &[node("n1", 2, &bad)]);
    assert_eq!((ended.given_up, ended.hopeless), (BTreeSet::from([3, 7, 19]), None));
    assert_eq!((ended.done["n1"], ended.tried_again), ((17, 9), 6));
}

#[test]
fn work_that_fails_everywhere_stops_the_run_and_gives_nothing_up() {
    let ended = run(rules(), 1_000, &[node("n1", 4, &broken), node("n2", 4, &broken)]);
    assert_eq!(ended.hopeless, Some(vec!["n1".to_owned(), "n2".to_owned()]));
    assert!(ended.given_up.is_empty() && ended.seconds < 60.0, "{ended:?}");
    // A common resource of all nodes fails after a while: a few chunks are charged with it, not all remaining ones.
    let later = |_: u64, count: u64| if count > 40 { (0.01, false) } else { (1.0, true) };
    let ended = run(rules(), 1_000, &[node("n1", 4, &later), node("n2", 4, &later)]);
    assert!(ended.hopeless.is_some() && ended.given_up.len() <= 8, "{ended:?}");
}

/// Its other nodes still wait in a queue: the run neither ends nor gives chunks up that they may do.
#[test]
fn a_broken_node_that_comes_first_does_not_end_the_run() {
    let mut leases = Leases::new(rules(), 3, ChunkSet::new(3), 0, 1);
    leases.expect(3);
    leases.joined("n1");
    let mut now = 0.0;
    let mut fails = |leases: &mut Leases, times: usize| {
        let mut failed = 0;
        while failed < times {
            match leases.ask("n1/0", "n1", now) {
                LeaseAnswer::Lease { chunk, number, .. } => {
                    assert_eq!(leases.fail(chunk, number, "n1/0", "n1", now), Some(false));
                    failed += 1;
                }
                LeaseAnswer::Wait { seconds } => now += seconds,
                LeaseAnswer::Finished => panic!("the run is over"),
            }
        }
    };
    fails(&mut leases, 12);
    assert_eq!((leases.hopeless(), leases.given_up().len()), (None, 0));
    leases.joined("n2");
    leases.expect(2);
    for _ in 0..3 {
        let LeaseAnswer::Lease { chunk, .. } = leases.ask("n2/0", "n2", 1e4) else { panic!("no work") };
        leases.count(chunk, "n2", Some(1.0));
    }
    assert!(leases.finished());
    // Nobody else comes: now it is hopeless.
    let mut leases = Leases::new(rules(), 3, ChunkSet::new(3), 0, 1);
    leases.expect(1);
    leases.joined("n1");
    fails(&mut leases, 6);
    leases.expect(0);
    assert_eq!(leases.hopeless(), Some(vec!["n1".to_owned()]));
}

#[test]
fn a_node_that_computes_wrongly_gets_no_more_work_and_its_chunks_are_open_again() {
    let mut leases = Leases::new(LeaseRules { verify: 1.0, ..rules() }, 2, ChunkSet::new(2), 0, 1);
    for name in ["a", "b"] {
        leases.joined(name);
    }
    for _ in 0..2 {
        let LeaseAnswer::Lease { chunk, .. } = leases.ask("a/0", "a", 0.0) else { panic!() };
        leases.count(chunk, "a", Some(1.0));
    }
    leases.distrust("a", &[0, 1]);
    assert!(leases.counted().count() == 0 && leases.unchecked() == 0 && !leases.finished());
    assert!(matches!(leases.ask("a/0", "a", 1.0), LeaseAnswer::Wait { .. }));
    for _ in 0..2 {
        let LeaseAnswer::Lease { chunk, again: false, .. } = leases.ask("b/0", "b", 1.0) else { panic!() };
        leases.count(chunk, "b", Some(1.0));
    }
    assert!(leases.finished(), "no trusted node is left to confirm them");
    // Alone, such a node ends the run.
    leases.distrust("b", &[0]);
    assert!(!leases.finished() && leases.hopeless().is_some());
}

#[test]
fn chosen_chunks_are_done_again_on_another_node() {
    let all = LeaseRules { verify: 1.0, ..rules() };
    let ended = run(all, 40, &[node("n1", 2, &good), node("n2", 1, &good)]);
    // Each of the 40 chunks is done twice, so that 80 s of work take three slots 27 s.
    assert!(ended.given_up.is_empty() && (26.0..45.0).contains(&ended.seconds), "{ended:?}");
    assert_eq!(ended.done.values().map(|(done, _)| done).sum::<u64>(), 40);
    // A single node cannot be confirmed by another, and ends all the same.
    assert!(run(all, 40, &[node("n1", 2, &good)]).seconds < 25.0);
    let some = run(LeaseRules { verify: 0.1, ..rules() }, 400, &[node("n1", 2, &good), node("n2", 2, &good)]);
    assert!((101.0..125.0).contains(&some.seconds), "{some:?}");
}

#[test]
fn three_results_tell_which_of_two_different_ones_is_wrong() {
    let mut leases = Leases::new(LeaseRules { verify: 1.0, ..rules() }, 1, ChunkSet::new(1), 0, 1);
    for name in ["a", "b", "c"] {
        leases.joined(name);
    }
    let LeaseAnswer::Lease { number, again: false, .. } = leases.ask("a/0", "a", 0.0) else { panic!() };
    assert!(!leases.is_check(0, number, "a/0"));
    leases.count(0, "a", Some(1.0));
    assert!(!leases.finished(), "its result is not confirmed");
    assert!(matches!(leases.ask("a/0", "a", 1.0), LeaseAnswer::Wait { .. }), "a node must not confirm itself");
    let LeaseAnswer::Lease { chunk: 0, number, again: true } = leases.ask("b/0", "b", 1.0) else { panic!() };
    assert!(leases.is_check(0, number, "b/0") && !leases.is_check(0, number, "b/1"));
    assert!(leases.renew(0, number, "b/0", 2.0), "the check is still wanted");
    leases.checked(0, "b", true);
    assert!(!leases.finished() && !matches!(leases.ask("a/0", "a", 3.0), LeaseAnswer::Lease { .. }));
    let LeaseAnswer::Lease { chunk: 0, again: true, .. } = leases.ask("c/0", "c", 3.0) else { panic!() };
    leases.checked(0, "c", true);
    assert!(leases.finished());
}

#[test]
fn only_the_pilot_of_a_lease_renews_and_fails_it() {
    let mut leases = Leases::new(LeaseRules { expiry: 2.0, ..rules() }, 1, ChunkSet::new(1), 0, 1);
    leases.joined("n");
    leases.joined("m");
    let LeaseAnswer::Lease { number, .. } = leases.ask("n/a", "n", 0.0) else { panic!() };
    assert!(leases.renew(0, number, "m/b", 1.9), "the chunk is wanted all the same");
    assert_eq!(leases.age(0, number, "m/b", 1.9), None);
    assert_eq!(leases.age(0, number, "n/a", 1.5), Some(1.5));
    // A number alone, as one of an earlier coordinator could have been, neither fails nor keeps the lease.
    leases.fail(0, number, "m/b", "m", 1.9);
    assert_eq!(leases.held(), 1);
    assert_eq!(leases.expire(2.1).len(), 1, "another pilot's heartbeat kept the lease");
}

/// A coordinator that was stopped received no heartbeats. That must not end a lease, of work or of a check, nor open a
/// chunk that pilots of an earlier coordinator may hold.
#[test]
fn leases_outlast_a_coordinator_that_stands_still() {
    let leased = |answer| match answer {
        LeaseAnswer::Lease { chunk, number, .. } => (chunk, number),
        other => panic!("{other:?}"),
    };
    let mut leases = Leases::new(LeaseRules { expiry: 2.0, ..rules() }, 3, ChunkSet::new(3), 1, 1);
    let (chunk, number) = leased(leases.ask("a/1", "a", 0.0));
    assert_eq!(chunk, 1, "chunk 0 may be leased by the coordinator before");
    // It stood still from 1 to 50.
    leases.renew_all(50.0);
    assert_eq!(leases.expire(50.0), []);
    assert_eq!(leased(leases.ask("b/1", "b", 50.1)).0, 2, "the work of the other pilot goes on");
    assert!(leases.renew(chunk, number, "a/1", 51.0));
    assert_eq!(leases.expire(51.9), []);
    assert!(matches!(leases.ask("c/1", "c", 51.9), LeaseAnswer::Wait { .. }), "chunk 0 is still in doubt");
    let ended: Vec<u64> = leases.expire(60.0).iter().map(|one| one.chunk).collect();
    assert_eq!(ended, [1, 2]);
    assert_eq!(leased(leases.ask("c/1", "c", 60.0)).0, 0);

    let mut leases = Leases::new(LeaseRules { expiry: 2.0, verify: 1.0, ..rules() }, 1, ChunkSet::new(1), 0, 1);
    leases.joined("a");
    leases.joined("b");
    leased(leases.ask("a/1", "a", 0.0));
    leases.count(0, "a", Some(1.0));
    let (chunk, number) = leased(leases.ask("b/1", "b", 1.0));
    leases.renew_all(50.0);
    leases.expire(51.0);
    assert!(leases.is_check(chunk, number, "b/1"));
    leases.expire(53.0);
    assert!(!leases.is_check(chunk, number, "b/1"));
}
