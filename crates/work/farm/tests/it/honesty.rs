//! Pilots that lie, clocks that are set, machines that compute wrongly, and files of attempts that do not count.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test says so when it cannot go on")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use farm::{
    Attempt, Chunk, ChunkResult, ChunkVerdict, ChunkWorker, ChunkWorkers, Coordinator, CoordinatorSettings, Farm,
    FarmClock, FarmJob, FromCoordinator, FromPilot, HostClock, PilotConfig, ProductFolder, SqliteLedger, Story,
    run_pilot,
};

use crate::coordinator::{TOKEN, TestClient, create, done, loopback, order, settings, wait_for};

/// This host's clocks, with a wall clock that a test sets.
#[derive(Debug, Default)]
struct SetClock(AtomicI64);

impl FarmClock for SetClock {
    fn monotonic(&self) -> f64 {
        HostClock.monotonic()
    }

    fn wall(&self) -> f64 {
        HostClock.wall() + self.0.load(Ordering::SeqCst) as f64
    }

    fn boot(&self) -> String {
        HostClock.boot()
    }
}

#[test]
fn a_wall_clock_that_is_set_changes_no_time_of_the_run_and_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(SetClock::default());
    let settings = CoordinatorSettings { clock: Arc::clone(&clock) as Arc<dyn FarmClock>, ..settings(loopback()) };
    let coordinator = Coordinator::start(Box::new(create(&folder.path().join("l"), 50)), settings).unwrap();
    let (mut client, _) = TestClient::enter(coordinator.address(), "n/p");
    for step in [0, 3600, 3600 - 7200, 400 * 86_400] {
        clock.0.store(step, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(150));
        let FromCoordinator::Lease(lease) = client.ask(&FromPilot::Ask) else { panic!("no work") };
        let commit = FromPilot::Commit { lease, done: done(10), products: Vec::new() };
        assert_eq!(client.ask(&commit), FromCoordinator::Recorded { verdict: ChunkVerdict::Counted });
    }
    assert_eq!(coordinator.snapshot().expired, 0, "a lease ended by the wall clock");
    assert!(coordinator.snapshot().elapsed < 60.0);
    let ledger = coordinator.end().unwrap();
    let mut times = Vec::new();
    ledger.commits(&mut |commit| times.push(commit.when)).unwrap();
    assert!(times.windows(2).all(|pair| pair[0].since < pair[1].since), "{times:?}");
    assert!(times[3].since < 60.0 && times[1].at > times[2].at + 7000.0, "{times:?}");
    let story = Story::read(&*ledger).unwrap();
    assert!(story.seconds < 60.0 && story.presence < 60.0 && story.rate().unwrap() > 0.5, "{} s", story.seconds);
    let told: Vec<String> =
        story.incidents.into_iter().filter(|one| one.what == "clock").map(|one| one.detail).collect();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[0].contains("+3600.0 s") && told[1].contains("-7200.0 s"), "{told:?}");
}

#[test]
fn numbers_that_a_lease_does_not_allow_are_refused_and_the_chunk_counts() {
    let folder = tempfile::tempdir().unwrap();
    let coordinator = Coordinator::start(Box::new(create(&folder.path().join("l"), 60)), settings(loopback())).unwrap();
    let (mut liar, _) = TestClient::enter(coordinator.address(), "n/p");
    liar.ask(&FromPilot::About { facts: serde_json::json!({ "cpus": 2 }) });
    let numbers = [(1e300, 0.1), (1e9, 1e9), (-1.0, 0.1), (0.1, 3600.0), (f64::MAX, f64::MAX), (0.0, 0.0)];
    for (cpu, wall) in numbers {
        let FromCoordinator::Lease(lease) = liar.ask(&FromPilot::Ask) else { panic!("no work") };
        let lie = ChunkResult { cpu: Some(cpu), wall: Some(wall), ..done(10) };
        let answer = liar.ask(&FromPilot::Commit { lease, done: lie, products: Vec::new() });
        assert_eq!(answer, FromCoordinator::Recorded { verdict: ChunkVerdict::Counted });
    }
    drop(liar);
    let ledger = coordinator.end().unwrap();
    let totals = ledger.totals().unwrap();
    assert_eq!((totals.commits, totals.events), (6, 60), "a chunk was refused with its number");
    assert!(totals.cpu < 10.0 && totals.wall < 10.0, "{totals:?}");
    let story = Story::read(&*ledger).unwrap();
    assert_eq!(story.incidents.iter().filter(|one| one.what == "implausible").count(), 5);
    // All results of the run can be written down.
    let text = serde_json::to_string(&story.results()).unwrap();
    assert!(serde_json::from_str::<Vec<model::BenchmarkResult>>(&text).is_ok());
}

/// Computes wrongly on request, and can wait until its result is unwanted.
struct TestWorkers {
    wrong: bool,
    waits: bool,
    stopped: Arc<AtomicU64>,
    text: &'static str,
}

struct TestWorker {
    wrong: bool,
    waits: bool,
    stopped: Arc<AtomicU64>,
    text: &'static str,
}

impl ChunkWorker for TestWorker {
    fn perform(&mut self, chunk: &Chunk, attempt: &Attempt) -> Result<ChunkResult, String> {
        if let Some(out) = &attempt.out {
            std::fs::write(out.join(format!("data-{}", chunk.index)), self.text).map_err(|error| error.to_string())?;
        }
        if self.waits {
            wait_for("its result to be unwanted", || attempt.stop.load(Ordering::SeqCst));
            self.stopped.fetch_add(1, Ordering::SeqCst);
            return Err("stopped".to_owned());
        }
        let digest = chunk.first + u64::from(self.wrong);
        std::thread::sleep(Duration::from_millis(5));
        Ok(ChunkResult { events: chunk.events, digest, cpu: Some(0.001), wall: Some(0.005), ..ChunkResult::default() })
    }
}

impl ChunkWorkers for TestWorkers {
    fn worker(&self, _: &FarmJob) -> Result<Box<dyn ChunkWorker>, String> {
        let stopped = Arc::clone(&self.stopped);
        Ok(Box::new(TestWorker { wrong: self.wrong, waits: self.waits, stopped, text: self.text }))
    }

    fn about(&self, _: &FarmJob) -> serde_json::Value {
        serde_json::Value::Null
    }
}

fn shop(wrong: bool, waits: bool, text: &'static str) -> Arc<TestWorkers> {
    Arc::new(TestWorkers { wrong, waits, stopped: Arc::default(), text })
}

fn on(coordinator: &Coordinator, node: &str) -> PilotConfig {
    PilotConfig { node: node.to_owned(), ..order(coordinator.address(), TOKEN, 1) }
}

#[test]
fn a_machine_that_computes_wrongly_is_found_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = settings(loopback());
    (settings.rules.verify, settings.rules.expiry) = (0.5, 60.0);
    let coordinator = Coordinator::start(Box::new(create(&folder.path().join("l"), 2000)), settings).unwrap();
    std::thread::scope(|scope| {
        for (node, wrong) in [("n1", false), ("n2", true), ("n3", false)] {
            let order = on(&coordinator, node);
            scope.spawn(move || run_pilot(&order, shop(wrong, false, "")).unwrap());
        }
    });
    let snapshot = coordinator.snapshot();
    assert_eq!((snapshot.counted, snapshot.events), (200, 2000));
    let ledger = coordinator.end().unwrap();
    let story = Story::read(&*ledger).unwrap();
    let totals = &story.invariants.totals;
    assert!(story.invariants.broken().is_empty() && totals.confirmed > 10 && totals.differing > 0, "{totals:?}");
    let wrong: Vec<&str> = story.suspects.iter().filter(|one| one.is_wrong()).map(|one| one.node.as_str()).collect();
    assert_eq!(wrong, ["n2"], "{:?}", story.suspects);
    // Nothing that it did counts: other nodes did it again, and what counts is right.
    let mut counted = Vec::new();
    ledger.commits(&mut |commit| counted.push(commit.offer)).unwrap();
    assert!(counted.iter().all(|one| one.node != "n2" && one.done.digest == 10 * one.chunk), "{counted:?}");
    let told = |what: &str| story.incidents.iter().filter(|one| one.what == what && one.node == "n2").count();
    assert_eq!(told("distrusted"), 1);
    assert!(told("withdrawn") > 0);
    // Without differences no node is suspected.
    let coordinator = Coordinator::start(
        Box::new(create(&folder.path().join("m"), 200)),
        CoordinatorSettings {
            rules: farm::LeaseRules { verify: 1.0, ..settings_rules() },
            ..crate::coordinator::settings(loopback())
        },
    )
    .unwrap();
    std::thread::scope(|scope| {
        for node in ["n1", "n2"] {
            let order = on(&coordinator, node);
            scope.spawn(move || run_pilot(&order, shop(false, false, "")).unwrap());
        }
    });
    let story = Story::read(&*coordinator.end().unwrap()).unwrap();
    assert!(story.suspects.is_empty() && story.invariants.totals.differing == 0);
}

fn settings_rules() -> farm::LeaseRules {
    farm::LeaseRules { expiry: 60.0, speculate: 0.0, ..farm::LeaseRules::default() }
}

fn with_products(folder: &Path, events: u64) -> (SqliteLedger, Farm) {
    let products = folder.join("products");
    let job = FarmJob {
        name: "test".to_owned(),
        seed: 1,
        events,
        chunk: 10,
        products: Some(products.clone()),
        ..FarmJob::default()
    };
    let farm = Farm {
        id: "test".to_owned(),
        job,
        token: TOKEN.to_owned(),
        key: "the key of these tests".to_owned(),
        address: String::new(),
        created: farm::now(),
        settings: serde_json::Value::Null,
    };
    ProductFolder::create(&products, &farm.id).unwrap();
    (SqliteLedger::create(&folder.join("l"), &farm).unwrap(), farm)
}

/// The files of a machine that computes wrongly make room for those of the nodes that do its chunks again.
#[test]
fn no_file_of_a_machine_that_computes_wrongly_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let (ledger, farm) = with_products(folder.path(), 1000);
    let mut settings = settings(loopback());
    (settings.rules.verify, settings.rules.expiry) = (0.5, 60.0);
    let coordinator = Coordinator::start(Box::new(ledger), settings).unwrap();
    std::thread::scope(|scope| {
        for (node, text) in [("n1", "right"), ("n2", "wrong"), ("n3", "right")] {
            let order = on(&coordinator, node);
            scope.spawn(move || run_pilot(&order, shop(text == "wrong", false, text)).unwrap());
        }
    });
    let mut ledger = coordinator.end().unwrap();
    let products = ProductFolder::join(farm.job.products.as_deref().unwrap(), "test").unwrap();
    products.settle_by(&*ledger).unwrap();
    let mut chunks = 0;
    ledger
        .commits(&mut |commit| {
            chunks += 1;
            let file = products.of_chunk(commit.offer.chunk).join(format!("data-{}", commit.offer.chunk));
            assert_eq!(std::fs::read_to_string(file).unwrap(), "right");
        })
        .unwrap();
    let repaired = products.repair(&mut *ledger, true, farm::Stamp::default()).unwrap();
    assert!(chunks == 100 && repaired.withdrawn.is_empty() && repaired.aside.is_empty(), "{repaired:?}");
}

/// Two pilots do the same chunk: the files of the one that counts are there, and the other one's work is ended.
#[test]
fn work_that_is_not_wanted_is_ended_and_its_files_removed() {
    let folder = tempfile::tempdir().unwrap();
    let (ledger, farm) = with_products(folder.path(), 10);
    let mut settings = settings(loopback());
    (settings.rules.speculate, settings.rules.expiry) = (0.01, 5.0);
    let coordinator = Coordinator::start(Box::new(ledger), settings).unwrap();
    let slow = shop(false, true, "slow");
    let stopped = Arc::clone(&slow.stopped);
    let (first, second) = (on(&coordinator, "n1"), on(&coordinator, "n2"));
    let tally = std::thread::scope(|scope| {
        let slow = scope.spawn(move || run_pilot(&first, slow).unwrap());
        wait_for("the slow one to begin", || coordinator.snapshot().held == 1);
        let fast = scope.spawn(move || run_pilot(&second, shop(false, false, "fast")).unwrap());
        assert_eq!(fast.join().unwrap().counted, 1);
        slow.join().unwrap()
    });
    assert_eq!((tally.stopped, tally.counted, tally.failed, stopped.load(Ordering::SeqCst)), (1, 0, 0, 1), "{tally:?}");
    let ledger = coordinator.end().unwrap();
    let products = ProductFolder::join(farm.job.products.as_deref().unwrap(), "test").unwrap();
    let commit = ledger.counted_result(0).unwrap().unwrap();
    assert_eq!(products.faults(0, &commit.offer.products, true).unwrap(), Vec::<String>::new());
    assert_eq!(std::fs::read_to_string(products.of_chunk(0).join("data-0")).unwrap(), "fast");
    let strangers = products.strangers(&|chunk| chunk == 0).unwrap();
    assert!(strangers.is_empty() && products.left().unwrap().is_empty(), "an attempt was left behind");
    assert!(ledger.incidents().unwrap().iter().any(|one| one.what == "stopped" && one.node == "n1"));
}

/// A pilot that dies after its result counts, and before its files have their names.
#[test]
fn what_a_dead_pilot_did_not_publish_is_published_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let (ledger, farm) = with_products(folder.path(), 20);
    let coordinator = Coordinator::start(Box::new(ledger), settings(loopback())).unwrap();
    let products = ProductFolder::join(farm.job.products.as_deref().unwrap(), "test").unwrap();
    let (mut client, _) = TestClient::enter(coordinator.address(), "n/p");
    let FromCoordinator::Lease(lease) = client.ask(&FromPilot::Ask) else { panic!("no work") };
    let out = products.begin(lease.chunk.index, lease.number).unwrap();
    std::fs::write(out.join("a"), "of a dead pilot").unwrap();
    let files = products.collect(lease.chunk.index, lease.number).unwrap();
    let bad = farm::Product { name: "../a".to_owned(), ..files[0].clone() };
    let chunk = lease.chunk.index;
    let answer = client.ask(&FromPilot::Commit { lease, done: done(10), products: files.clone() });
    assert_eq!(answer, FromCoordinator::Recorded { verdict: ChunkVerdict::Counted });
    // A name that leaves its directory is refused.
    let FromCoordinator::Lease(other) = client.ask(&FromPilot::Ask) else { panic!("no work") };
    let answer = client.ask(&FromPilot::Commit { lease: other, done: done(10), products: vec![bad] });
    assert!(matches!(answer, FromCoordinator::Refused { .. }), "{answer:?}");
    drop(client);
    assert!(!products.of_chunk(chunk).exists());
    let ledger = coordinator.end().unwrap();
    let mut counted =
        |chunk| Ok(ledger.counted_result(chunk)?.map(|commit| (commit.offer.number, commit.offer.products)));
    assert_eq!(products.settle(&mut counted).unwrap().published, 1);
    assert_eq!(products.faults(chunk, &files, true).unwrap(), Vec::<String>::new());
}

/// Fails at once, as a node without its file system does.
struct BrokenWorkers;

impl ChunkWorker for BrokenWorkers {
    fn perform(&mut self, _: &Chunk, _: &Attempt) -> Result<ChunkResult, String> {
        Err("no such directory".to_owned())
    }
}

impl ChunkWorkers for BrokenWorkers {
    fn worker(&self, _: &FarmJob) -> Result<Box<dyn ChunkWorker>, String> {
        Ok(Box::new(Self))
    }

    fn about(&self, _: &FarmJob) -> serde_json::Value {
        serde_json::Value::Null
    }
}

#[test]
fn three_healthy_nodes_do_all_chunks_beside_one_that_fails_them() {
    let folder = tempfile::tempdir().unwrap();
    let settings = CoordinatorSettings { rules: settings_rules(), ..settings(loopback()) };
    let coordinator = Coordinator::start(Box::new(create(&folder.path().join("l"), 3000)), settings).unwrap();
    std::thread::scope(|scope| {
        let hole = PilotConfig { slots: 4, ..on(&coordinator, "n4") };
        scope.spawn(move || run_pilot(&hole, Arc::new(BrokenWorkers)).unwrap());
        for node in ["n1", "n2", "n3"] {
            let order = on(&coordinator, node);
            scope.spawn(move || run_pilot(&order, shop(false, false, "")).unwrap());
        }
    });
    let snapshot = coordinator.snapshot();
    let node = snapshot.nodes.iter().find(|node| node.node == "n4").unwrap();
    assert!(node.failed > 0 && node.chunks == 0, "{node:?}");
    let story = Story::read(&*coordinator.end().unwrap()).unwrap();
    assert_eq!((story.invariants.totals.commits, story.invariants.broken()), (300, Vec::new()));
    let totals = story.nodes.iter().find(|node| node.node == "n4").unwrap();
    assert!(
        totals.totals.failed > 0 && totals.complaint.as_deref().unwrap().contains("no such directory"),
        "{totals:?}"
    );
}
