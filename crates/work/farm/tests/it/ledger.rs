//! Leases and ledger together, against a model that remembers everything: in any order of events a chunk counts once,
//! and the totals are those of the plan.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test says so when it cannot go on")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use farm::{
    ChunkResult, ChunkSet, ChunkVerdict, Farm, FarmJob, LeaseAnswer, LeaseRules, Leases, Ledger, Linked, OfferedResult,
    Published, RecordedOffer, SharedFarm, SqliteLedger, Stamp,
};
use proptest::prelude::*;

pub(crate) fn job(events: u64, chunk: u64) -> FarmJob {
    FarmJob {
        name: "test".to_owned(),
        work: serde_json::Value::Null,
        seed: 3,
        first: 100,
        events,
        chunk,
        products: None,
    }
}

pub(crate) fn farm(job: FarmJob) -> Farm {
    Farm {
        id: "test".to_owned(),
        job,
        token: "0123456789abcdef".to_owned(),
        key: "fedcba9876543210".to_owned(),
        address: String::new(),
        created: 0.0,
        settings: serde_json::Value::Null,
    }
}

pub(crate) fn offer(job: &FarmJob, chunk: u64, number: u64, pilot: &str) -> OfferedResult {
    let events = job.cut(chunk).unwrap().events;
    let done =
        ChunkResult { events, digest: digest(chunk), cpu: Some(1.0), wall: Some(1.0), read: Some(7), written: None };
    let (node, pilot, products) = (format!("node-{pilot}"), pilot.to_owned(), Vec::new());
    OfferedResult { chunk, number, node, pilot, done, products, check: false }
}

fn digest(chunk: u64) -> u64 {
    (chunk + 1).wrapping_mul(0xdead_beef_dead_beef)
}

/// An event of the model.
#[derive(Debug, Clone)]
enum Step {
    Ask(u8),
    /// A pilot offers its oldest or newest result.
    Commit(u8, bool),
    /// The reply to the last commit is lost: it is offered again.
    Again(u8),
    Beat(u8),
    Fail(u8),
    /// Work is ended without a result.
    Stop(u8),
    Sleep(u8),
    /// The coordinator dies; another continues from the disk.
    Die,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..4_u8).prop_map(Step::Ask),
        5 => (0..4_u8, any::<bool>()).prop_map(|(who, newest)| Step::Commit(who, newest)),
        1 => (0..4_u8).prop_map(Step::Again),
        2 => (0..4_u8).prop_map(Step::Beat),
        1 => (0..4_u8).prop_map(Step::Fail),
        1 => (0..4_u8).prop_map(Step::Stop),
        2 => (0..20_u8).prop_map(Step::Sleep),
        1 => Just(Step::Die),
    ]
}

struct World<'a> {
    path: &'a Path,
    job: FarmJob,
    ledger: Option<SqliteLedger>,
    leases: Leases,
    now: f64,
    /// Leases of each pilot, oldest first.
    hands: BTreeMap<u8, Vec<(u64, u64)>>,
    last: BTreeMap<u8, (u64, u64)>,
    counted: BTreeMap<u64, u64>,
    /// All that was offered: pilot, chunk, lease.
    offered: BTreeSet<(u8, u64, u64)>,
    refused: u64,
    lives: u64,
}

impl<'a> World<'a> {
    const RULES: LeaseRules = LeaseRules { expiry: 10.0, speculate: 1.0, failures: u32::MAX, verify: 0.0 };

    fn new(path: &'a Path, job: FarmJob) -> Self {
        let ledger = SqliteLedger::create(path, &farm(job.clone())).unwrap();
        let leases = Leases::new(Self::RULES, job.chunks(), ChunkSet::new(job.chunks()), 0, 1);
        let (hands, last, counted, offered) = Default::default();
        let ledger = Some(ledger);
        Self { path, job, ledger, leases, now: 0.0, hands, last, counted, offered, refused: 0, lives: 0 }
    }

    /// Chunks that count, or that failed on several nodes and are given up.
    fn settled(&self) -> u64 {
        (self.counted.len() + self.leases.given_up().len()) as u64
    }

    fn ledger(&mut self) -> &mut SqliteLedger {
        self.ledger.as_mut().unwrap()
    }

    fn record(&mut self, who: u8, chunk: u64, number: u64) {
        let offer = offer(&self.job, chunk, number, &who.to_string());
        let now = self.now;
        let RecordedOffer { verdict, again } =
            self.ledger().record(&[offer], Stamp { at: now, since: now }).unwrap()[0];
        let known = !self.offered.insert((who, chunk, number));
        assert_eq!(again, known, "chunk {chunk}, lease {number}");
        match self.counted.get(&chunk) {
            None => {
                assert_eq!(verdict, ChunkVerdict::Counted);
                self.counted.insert(chunk, number);
            }
            // The same result offered again counts once.
            Some(first) if *first == number => assert_eq!(verdict, ChunkVerdict::Counted),
            Some(_) => {
                assert_eq!(verdict, ChunkVerdict::Duplicate);
                // So is one that is refused.
                self.refused += u64::from(!known);
            }
        }
        self.leases.count(chunk, &format!("node-{who}"), Some(1.0));
        self.last.insert(who, (chunk, number));
    }

    fn go(&mut self, step: &Step) {
        self.now += 0.5;
        match *step {
            Step::Ask(who) => match self.leases.ask(&who.to_string(), &format!("node-{who}"), self.now) {
                LeaseAnswer::Lease { chunk, number, .. } => {
                    assert!(!self.counted.contains_key(&chunk), "a counted chunk was leased");
                    self.hands.entry(who).or_default().push((chunk, number));
                }
                LeaseAnswer::Wait { .. } => assert!(self.settled() < self.job.chunks()),
                LeaseAnswer::Finished => assert_eq!(self.settled(), self.job.chunks()),
            },
            Step::Commit(who, newest) => {
                let hand = self.hands.entry(who).or_default();
                if !hand.is_empty() {
                    let (chunk, number) = hand.remove(if newest { hand.len() - 1 } else { 0 });
                    self.record(who, chunk, number);
                }
            }
            Step::Again(who) => {
                if let Some((chunk, number)) = self.last.get(&who).copied() {
                    self.record(who, chunk, number);
                }
            }
            Step::Beat(who) => {
                for (chunk, number) in self.hands.get(&who).cloned().unwrap_or_default() {
                    let wanted = self.leases.renew(chunk, number, &who.to_string(), self.now);
                    let given_up = self.leases.given_up().contains(&chunk);
                    assert_eq!(wanted, !given_up && !self.counted.contains_key(&chunk));
                }
            }
            Step::Fail(who) => {
                if let Some((chunk, number)) = self.hands.entry(who).or_default().pop() {
                    self.leases.fail(chunk, number, &who.to_string(), &format!("node-{who}"), self.now);
                }
            }
            Step::Stop(who) => {
                if let Some((chunk, number)) = self.hands.entry(who).or_default().pop() {
                    self.leases.drop_lease(chunk, number, &who.to_string());
                }
            }
            Step::Sleep(seconds) => {
                self.now += f64::from(seconds);
                self.leases.expire(self.now);
            }
            Step::Die => {
                self.ledger = None;
                self.ledger = Some(SqliteLedger::open(self.path).unwrap());
                let counted = self.ledger().counted().unwrap();
                assert_eq!(counted.count(), self.counted.len() as u64);
                let doubtful = counted.greatest().map_or(0, |greatest| greatest + 3);
                self.lives += 1;
                let number = 1_000_000 * self.lives;
                // The clock of the next coordinator begins at its own start.
                self.now = 0.0;
                self.leases = Leases::new(Self::RULES, self.job.chunks(), counted, doubtful, number);
            }
        }
        assert_eq!(self.leases.counted().count(), self.counted.len() as u64);
    }

    /// One pilot that never fails finishes the run, whatever happened before.
    fn finish(&mut self) {
        for _ in 0..10 * self.job.chunks() + 100 {
            self.now += 1.0;
            self.leases.expire(self.now);
            match self.leases.ask("last", "node-last", self.now) {
                LeaseAnswer::Lease { chunk, number, .. } => self.record(9, chunk, number),
                LeaseAnswer::Wait { .. } => {}
                LeaseAnswer::Finished => return,
            }
        }
        panic!("a run with a good pilot does not end");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: testing::trials(12, 40) as u32, ..ProptestConfig::default() })]
    #[test]
    fn a_chunk_counts_once_whatever_happens(steps in prop::collection::vec(step(), 0..150), events in 1..60_u64, chunk in 1..9_u64) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger");
        let mut world = World::new(&path, job(events, chunk));
        steps.iter().for_each(|step| world.go(step));
        world.finish();
        let totals = world.ledger().totals().unwrap();
        prop_assert_eq!(world.settled(), world.job.chunks());
        prop_assert_eq!(totals.commits, world.counted.len() as u64);
        prop_assert_eq!(totals.distinct, totals.commits);
        prop_assert!(totals.events == events || totals.events < events && !world.leases.given_up().is_empty());
        prop_assert_eq!(totals.refused, world.refused);
        prop_assert_eq!(totals.differing, 0);
        prop_assert_eq!(totals.digest, world.counted.keys().copied().map(digest).fold(0_u64, u64::wrapping_add));
    }
}

#[test]
fn the_second_of_two_different_results_is_refused_and_marked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger");
    let job = job(10, 5);
    let mut ledger = SqliteLedger::create(&path, &farm(job.clone())).unwrap();
    let (first, mut second) = (offer(&job, 1, 1, "a"), offer(&job, 1, 2, "b"));
    second.done.digest ^= 1;
    let all = [first.clone(), first.clone(), offer(&job, 1, 3, "c"), second];
    let verdicts: Vec<ChunkVerdict> =
        ledger.record(&all, Stamp::default()).unwrap().into_iter().map(|one| one.verdict).collect();
    assert_eq!(
        verdicts,
        [ChunkVerdict::Counted, ChunkVerdict::Counted, ChunkVerdict::Duplicate, ChunkVerdict::Differs]
    );
    // Replies are lost and the coordinator dies: repeated offers are on record once.
    drop(ledger);
    let mut ledger = SqliteLedger::open(&path).unwrap();
    for _ in 0..3 {
        let again = ledger.record(&all, Stamp::default()).unwrap();
        assert!(again.iter().all(|one| one.again), "{again:?}");
        assert_eq!(again.into_iter().map(|one| one.verdict).collect::<Vec<_>>(), verdicts);
    }
    let totals = ledger.totals().unwrap();
    assert_eq!((totals.commits, totals.refused, totals.differing), (1, 2, 1));
    assert!((totals.wasted - 2.0).abs() < 1e-12);
    // Digests wrap, and are read back unchanged.
    let mut found = Vec::new();
    ledger.commits(&mut |commit| found.push(commit)).unwrap();
    assert_eq!(found[0].offer, first);
}

#[test]
fn heartbeats_keep_a_lease_and_a_paused_pilot_loses_its_chunk() {
    let rules = LeaseRules { expiry: 2.0, speculate: 0.0, ..LeaseRules::default() };
    let mut leases = Leases::new(rules, 1, ChunkSet::new(1), 0, 1);
    let LeaseAnswer::Lease { number, .. } = leases.ask("a", "n", 0.0) else { panic!("no work") };
    assert!(matches!(leases.ask("b", "n", 0.5), LeaseAnswer::Wait { .. }));
    assert!(leases.renew(0, number, "a", 1.5));
    assert!(leases.expire(3.0).is_empty(), "a heartbeat was not received");
    assert_eq!(leases.expire(3.6).len(), 1);
    let LeaseAnswer::Lease { number: other, .. } = leases.ask("b", "n", 3.7) else { panic!("not leased again") };
    assert_ne!(number, other);
    leases.count(0, "n", Some(1.0));
    assert!(!leases.renew(0, number, "a", 4.0), "its result is no longer wanted");
    assert_eq!(leases.ask("a", "n", 4.0), LeaseAnswer::Finished);
}

#[test]
fn work_that_ended_without_a_result_leaves_its_chunk_open() {
    // A coordinator that had given the chunk up ordered its pilot to end. The next one, which has not, gets a heartbeat
    // first and then the end of the work.
    let rules = LeaseRules { expiry: 2.0, ..LeaseRules::default() };
    let mut leases = Leases::new(rules, 1, ChunkSet::new(1), 0, 100);
    assert!(leases.renew(0, 7, "a", 0.1));
    leases.drop_lease(0, 7, "a");
    assert!(matches!(leases.ask("b", "n", 0.2), LeaseAnswer::Lease { chunk: 0, .. }), "the chunk is lost");
    leases.count(0, "n", Some(1.0));
    leases.drop_lease(0, 7, "a");
    assert_eq!(leases.ask("b", "n", 0.3), LeaseAnswer::Finished);
}

#[test]
fn a_failure_that_is_reported_again_counts_once() {
    let mut leases = Leases::new(LeaseRules::default(), 2, ChunkSet::new(2), 0, 1);
    leases.joined("n");
    let LeaseAnswer::Lease { chunk, .. } = leases.ask("a", "n", 0.0) else { panic!("no work") };
    leases.count(chunk, "n", Some(1.0));
    let LeaseAnswer::Lease { chunk, number, .. } = leases.ask("a", "n", 0.1) else { panic!("no work") };
    assert_eq!(leases.fail(chunk, number, "a", "n", 0.2), Some(false));
    // Replies are lost; three failures of the only node would give the chunk up.
    for _ in 0..5 {
        assert_eq!(leases.fail(chunk, number, "a", "n", 0.3), None);
    }
    assert!(leases.given_up().is_empty());
    assert!(matches!(leases.ask("a", "n", 1.0), LeaseAnswer::Lease { chunk: again, .. } if again == chunk));
}

#[test]
fn a_slow_chunk_is_leased_twice() {
    let rules = LeaseRules { expiry: 100.0, speculate: 2.0, ..LeaseRules::default() };
    let mut leases = Leases::new(rules, 2, ChunkSet::new(2), 0, 1);
    let LeaseAnswer::Lease { chunk: first, .. } = leases.ask("a", "n1", 0.0) else { panic!() };
    leases.count(first, "n1", Some(1.0));
    let LeaseAnswer::Lease { chunk: slow, again: false, .. } = leases.ask("a", "n1", 1.0) else { panic!() };
    let waits = |answer| matches!(answer, LeaseAnswer::Wait { .. });
    assert!(waits(leases.ask("b", "n2", 2.0)), "the chunk is not slow yet");
    assert!(waits(leases.ask("a", "n1", 9.0)), "a pilot must not get its own chunk twice");
    let LeaseAnswer::Lease { chunk: twice, again: true, .. } = leases.ask("b", "n2", 9.0) else { panic!() };
    assert_eq!(slow, twice);
    assert!(waits(leases.ask("c", "n3", 9.0)), "at most two pilots hold a chunk");
    leases.count(slow, "n2", Some(1.0));
    assert!(leases.finished());
}

#[test]
fn a_link_counts_once_and_never_replaces() {
    let folder = tempfile::tempdir().unwrap();
    let job = job(10, 5);
    let mut a = SharedFarm::join(folder.path(), &job, "a").unwrap();
    let mut b = SharedFarm::join(folder.path(), &job, "b").unwrap();
    let result = |chunk, node: &str, digest| Published {
        chunk,
        node: node.to_owned(),
        done: ChunkResult { events: 5, digest, cpu: Some(1.0), wall: Some(1.0), ..ChunkResult::default() },
    };
    let stale = std::time::Duration::from_secs(60);
    assert_eq!(a.take(0, stale).unwrap(), Some(0));
    assert_eq!(b.take(0, stale).unwrap(), Some(1), "a claimed chunk must not be taken");
    assert_eq!(b.take(0, stale).unwrap(), None);
    assert_eq!(b.take(0, std::time::Duration::ZERO).unwrap(), Some(0), "a stale claim must be taken over");
    assert_eq!(a.publish(&result(0, "a", 7)).unwrap(), Linked::Counted);
    assert_eq!(b.publish(&result(0, "b", 8)).unwrap(), Linked::Duplicate);
    assert_eq!(b.publish(&result(1, "b", 9)).unwrap(), Linked::Counted);
    let totals = a.totals().unwrap();
    assert_eq!((totals.commits, totals.distinct, totals.events, totals.digest), (2, 2, 10, 16));
    assert_eq!((totals.refused, totals.differing), (1, 1));
    let other = FarmJob { seed: 4, ..job };
    assert!(SharedFarm::join(folder.path(), &other, "c").is_err(), "joined the directory of another run");
}
