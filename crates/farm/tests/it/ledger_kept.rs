//! A ledger as a file: older, moved in time, deleted, read by others.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test says so when it cannot go on")]

use super::ledger::{farm, job, offer};
use farm::{ChunkResult, FarmClock, Incident, Ledger, OfferedResult, Product, SqliteLedger, Stamp};

#[test]
fn a_ledger_has_one_writer_and_many_readers_and_other_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger");
    let ledger = SqliteLedger::create(&path, &farm(job(10, 5))).unwrap();
    assert!(SqliteLedger::create(&path, &farm(job(10, 5))).is_err(), "an existing ledger was overwritten");
    let said = SqliteLedger::open(&path).unwrap_err().to_string();
    assert!(said.contains("another coordinator"), "{said}");
    assert_eq!(SqliteLedger::read(&path).unwrap().farm().unwrap(), farm(job(10, 5)));
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&path).unwrap().permissions());
    assert_eq!(mode & 0o077, 0, "others can read the token");
    drop(ledger);
    assert!(SqliteLedger::open(&path).is_ok());
    let other = folder.path().join("other");
    std::fs::write(&other, "no database at all, but long enough to look at".repeat(50)).unwrap();
    assert!(SqliteLedger::read(&other).is_err());
    assert!(SqliteLedger::read(&folder.path().join("none")).is_err());
    std::fs::write(&other, "").unwrap();
    let said = SqliteLedger::read(&other).unwrap_err().to_string();
    assert!(said.contains("not a farm's ledger"), "{said}");
}

/// A clock that a test sets.
#[derive(Debug, Default)]
struct SetClock {
    monotonic: f64,
    wall: f64,
    boot: &'static str,
}

impl FarmClock for SetClock {
    fn monotonic(&self) -> f64 {
        self.monotonic
    }

    fn wall(&self) -> f64 {
        self.wall
    }

    fn boot(&self) -> String {
        self.boot.to_owned()
    }
}

/// A ledger that the version before this one wrote: 12 of 20 chunks of an unfinished run.
#[test]
fn an_older_ledger_is_read_as_it_is_and_continued_as_one_of_this_version() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger");
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/upgrade/ledger-1.sqlite"), &path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let told = |ledger: &SqliteLedger| {
        let story = farm::Story::read(ledger).unwrap();
        let (totals, nodes) = (ledger.totals().unwrap(), ledger.nodes().unwrap());
        assert_eq!((totals.commits, totals.distinct, totals.events, totals.refused), (12, 12, 36, 0));
        assert!(totals.cpu > 0.0 && (12.0..13.0).contains(&totals.wall), "{totals:?}");
        assert_eq!(nodes.iter().map(|node| node.node.as_str()).collect::<Vec<_>>(), ["n1", "n2"]);
        assert_eq!(story.invariants.broken().len(), 2, "{:?}", story.invariants.broken());
        assert!((5.0..8.0).contains(&story.seconds) && story.presence > 8.0, "{} s", story.seconds);
        let mut last = 0.0;
        ledger
            .commits(&mut |commit| {
                assert!(commit.when.since >= last && commit.when.at > 1.7e9);
                last = commit.when.since;
            })
            .unwrap();
        let settings = ledger.farm().unwrap().settings;
        assert_eq!(settings["program"], "/usr/bin/prony");
        totals
    };
    let before = told(&SqliteLedger::read(&path).unwrap());
    assert_eq!(std::fs::read(&path).unwrap(), bytes, "reading changed it");
    let mut ledger = SqliteLedger::open(&path).unwrap();
    assert_eq!(told(&ledger), before);
    let clock = SetClock { monotonic: 5.0, wall: 1.9e9, boot: "b" };
    let begin = ledger.begin("127.0.0.1:1", &clock).unwrap();
    assert!(begin.resumed && begin.lease > 2 << 40 && begin.since > 5.0, "{begin:?}");
    drop(ledger);
    // Again, now as one of this version.
    assert_eq!(told(&SqliteLedger::read(&path).unwrap()), before);
    assert_eq!(SqliteLedger::open(&path).unwrap().begin("127.0.0.1:1", &clock).unwrap().lease, begin.lease + (1 << 40));
}

#[test]
fn lease_numbers_never_repeat_and_time_goes_on_whatever_the_wall_clock_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger");
    drop(SqliteLedger::create(&path, &farm(job(10, 5))).unwrap());
    let begin = |monotonic: f64, wall: f64, boot: &'static str| {
        let mut ledger = SqliteLedger::open(&path).unwrap();
        let begin = ledger.begin("127.0.0.1:1", &SetClock { monotonic, wall, boot }).unwrap();
        // What this coordinator leaves behind is an incident at its begin, and no result of any lease.
        let note = Incident {
            at: wall,
            since: begin.since,
            what: "x".into(),
            node: String::new(),
            chunk: None,
            detail: String::new(),
        };
        ledger.note(&[note]).unwrap();
        (begin.lease >> 40, begin.resumed, begin.since)
    };
    assert_eq!(begin(100.0, 1e9, "a"), (1, false, 0.0));
    // The same boot: the wall clock, set by an hour, two hours back, and 400 days, is not asked.
    assert_eq!(begin(110.0, 1e9 + 3600.0, "a"), (2, true, 10.0));
    assert_eq!(begin(115.0, 1e9 - 7200.0, "a"), (3, true, 15.0));
    assert_eq!(begin(120.0, 1e9 + 400.0 * 86_400.0, "a"), (4, true, 20.0));
    // Another boot: only the wall clock connects them, and time never goes back.
    assert_eq!(begin(3.0, 1e9 + 400.0 * 86_400.0 + 50.0, "b"), (5, true, 70.0));
    assert_eq!(begin(5.0, 1e9, "c"), (6, true, 70.0));
    assert_eq!(begin(6.0, 1e9, ""), (7, true, 70.0));
}

#[test]
fn a_ledger_that_was_deleted_is_noticed_and_rescued() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger");
    let job = job(10, 5);
    let mut ledger = SqliteLedger::create(&path, &farm(job.clone())).unwrap();
    ledger.check_place().unwrap();
    ledger.record(&[offer(&job, 1, 1, "a")], Stamp::default()).unwrap();
    for end in ["", "-wal", "-shm"] {
        std::fs::remove_file(folder.path().join(format!("ledger{end}"))).unwrap();
    }
    let said = ledger.check_place().unwrap_err().to_string();
    assert!(said.contains("deleted or replaced") && said.contains("ledger.rescued"), "{said}");
    let rescued = SqliteLedger::read(&folder.path().join("ledger.rescued")).unwrap();
    assert_eq!(rescued.totals().unwrap().commits, 1);
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(folder.path().join("ledger.rescued")).unwrap().permissions(),
    );
    assert_eq!(mode & 0o077, 0, "others can read the token");
}

/// A child that a process has just forked has copies of all its descriptors until it begins its own program.
#[test]
fn a_forked_child_does_not_keep_the_lock() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger");
    drop(SqliteLedger::create(&path, &farm(job(10, 5))).unwrap());
    let end = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !end.load(std::sync::atomic::Ordering::SeqCst) {
                    std::process::Command::new("true").status().unwrap();
                }
            });
        }
        for _ in 0..50 {
            drop(SqliteLedger::open(&path).unwrap());
            assert!(!SqliteLedger::is_live(&path).unwrap(), "a lock outlived its ledger");
        }
        let ledger = SqliteLedger::open(&path).unwrap();
        assert!(SqliteLedger::is_live(&path).unwrap());
        drop(ledger);
        end.store(true, std::sync::atomic::Ordering::SeqCst);
    });
}

#[test]
fn products_are_read_back_with_their_result() {
    let folder = tempfile::tempdir().unwrap();
    let job = job(10, 5);
    let mut ledger = SqliteLedger::create(&folder.path().join("ledger"), &farm(job.clone())).unwrap();
    let product = Product { name: "a/b".to_owned(), bytes: 7, sha256: "0".repeat(64) };
    let with = OfferedResult { products: vec![product], ..offer(&job, 1, 1, "a") };
    let unknown = ChunkResult { cpu: None, wall: None, ..offer(&job, 0, 2, "a").done };
    let without = OfferedResult { done: unknown, ..offer(&job, 0, 2, "a") };
    let when = Stamp { at: 5.0, since: 2.0 };
    ledger.record(&[with.clone(), without.clone()], when).unwrap();
    assert_eq!(ledger.counted_result(1).unwrap().unwrap().offer, with);
    assert_eq!(ledger.counted_result(0).unwrap().unwrap().offer, without);
    assert_eq!(ledger.counted_result(1).unwrap().unwrap().when, when);
    assert_eq!(ledger.counted_result(2).unwrap(), None);
    assert_eq!(ledger.totals().unwrap().cpu, 1.0, "an unknown number is in no sum");
}
