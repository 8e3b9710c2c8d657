//! A ledger as a file: moved in time, deleted, copied, read by others.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test says so when it cannot go on")]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::coordinator::{TestClient, create, done, loopback, settings};
use super::ledger::{farm, job, offer};
use farm::{
    ChunkResult, ChunkVerdict, Coordinator, FarmClock, FromCoordinator, FromPilot, Incident, Ledger, OfferedResult,
    Product, SqliteLedger, Stamp,
};

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

#[test]
fn lease_numbers_never_repeat_and_time_goes_on_whatever_the_wall_clock_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger");
    drop(SqliteLedger::create(&path, &farm(job(10, 5))).unwrap());
    let begin = |monotonic: f64, wall: f64, boot: &'static str| {
        let mut ledger = SqliteLedger::open(&path).unwrap();
        let begin = ledger.begin("127.0.0.1:1", &SetClock { monotonic, wall, boot }).unwrap();
        // This coordinator leaves an incident at its start, and no result of any lease.
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
    std::fs::remove_file(&path).unwrap();
    let said = ledger.check_place().unwrap_err().to_string();
    assert!(said.contains("deleted or replaced") && said.contains("ledger.rescued"), "{said}");
    let rescued = SqliteLedger::read(&folder.path().join("ledger.rescued")).unwrap();
    assert_eq!(rescued.totals().unwrap().commits, 1);
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(folder.path().join("ledger.rescued")).unwrap().permissions(),
    );
    assert_eq!(mode & 0o077, 0, "others can read the token");
}

/// Whatever happens to the file of a ledger, no pilot may hear that a result counts if no remaining ledger has it.
#[test]
fn nothing_counts_that_is_in_no_ledger_that_is_left() {
    type Harm<'a> = &'a dyn Fn(&Path);
    let replaced = |path: &Path| std::fs::write(path, std::fs::read(path.with_extension("old")).unwrap()).unwrap();
    let cases: [(&str, Harm<'_>); 3] = [
        ("deleted", &|path| std::fs::remove_file(path).unwrap()),
        ("moved away", &|path| std::fs::rename(path, path.with_extension("away")).unwrap()),
        ("written over with an older copy", &replaced),
    ];
    for (what, harm) in cases {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger");
        let coordinator = Coordinator::start(Box::new(create(&path, 100)), settings(loopback())).unwrap();
        let (mut client, _) = TestClient::enter(coordinator.address(), "n/p");
        let mut acknowledged = 0;
        let mut offer = |client: &mut TestClient| {
            let FromCoordinator::Lease(lease) = client.ask(&FromPilot::Ask) else { panic!("no work") };
            let commit = FromPilot::Commit { lease, done: done(10), products: Vec::new() };
            match client.ask(&commit) {
                FromCoordinator::Recorded { verdict: ChunkVerdict::Counted } => acknowledged += 1,
                FromCoordinator::NotRecorded => return false,
                other => panic!("{other:?}"),
            }
            true
        };
        assert!(offer(&mut client));
        std::fs::copy(&path, path.with_extension("old")).unwrap();
        assert!(offer(&mut client));
        harm(&path);
        for _ in 0..3 {
            assert!(!offer(&mut client), "{what}: a result was acknowledged");
        }
        let said = coordinator.trouble().unwrap();
        drop((client, coordinator));
        if what == "written over with an older copy" {
            assert!(said.contains("its file was replaced"), "{said}");
            continue;
        }
        assert!(said.contains("deleted or replaced") && said.contains("ledger.rescued"), "{said}");
        let rescued = SqliteLedger::open(&folder.path().join("ledger.rescued")).unwrap();
        assert!(rescued.totals().unwrap().commits >= acknowledged && acknowledged == 2, "{what}");
    }
}

/// A second ledger that is lost leaves the file that was rescued from the first.
#[test]
fn what_was_rescued_is_never_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger");
    for _ in 0..2 {
        let ledger = SqliteLedger::create(&path, &farm(job(10, 5))).unwrap();
        std::fs::remove_file(&path).unwrap();
        ledger.check_place().unwrap_err();
    }
    for name in ["ledger.rescued", "ledger.rescued-2"] {
        assert!(SqliteLedger::read(&folder.path().join(name)).is_ok(), "{name}");
    }
}

/// Copies of a ledger during writes. Each has everything that was acknowledged before the copy, or reports that it is
/// torn, and how to copy.
#[test]
fn a_copy_of_a_live_ledger_is_whole_or_refused_with_the_right_way() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("ledger"), folder.path().join("copy"));
    let job = job(40_000, 1);
    let mut ledger = SqliteLedger::create(&path, &farm(job.clone())).unwrap();
    let acknowledged = AtomicU64::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for chunk in 0..200 {
                let offers: Vec<_> = (20 * chunk..20 * chunk + 20).map(|one| offer(&job, one, one, "a")).collect();
                ledger.record(&offers, Stamp::default()).unwrap();
                acknowledged.fetch_add(20, Ordering::SeqCst);
            }
        });
        let (mut whole, mut torn) = (0, 0);
        while acknowledged.load(Ordering::SeqCst) < 4000 {
            let before = acknowledged.load(Ordering::SeqCst);
            std::fs::copy(&path, &copy).unwrap();
            match SqliteLedger::read(&copy) {
                Ok(found) if found.damage().is_none() => {
                    whole += 1;
                    let found = found.totals().unwrap().commits;
                    assert!(found >= before, "{found} of {before} are there");
                }
                Ok(_) => torn += 1,
                Err(error) => {
                    torn += 1;
                    assert!(error.to_string().contains(".backup COPY"), "{error}");
                }
            }
        }
        assert!(whole > 0, "{torn} copies were torn");
    });
    assert_eq!(SqliteLedger::read(&path).unwrap().totals().unwrap().commits, 4000);
    // The coordinator keeps no results in other files.
    let beside = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let beside: BTreeSet<_> = beside.map(|name| name.into_string().unwrap()).collect();
    assert_eq!(beside, ["copy", "ledger", "ledger.lock"].map(str::to_owned).into());
}

/// A child that a process has just forked has copies of all its descriptors until it begins its own program.
#[test]
fn a_forked_child_does_not_keep_the_lock() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger");
    drop(SqliteLedger::create(&path, &farm(job(10, 5))).unwrap());
    let end = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !end.load(Ordering::SeqCst) {
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
        end.store(true, Ordering::SeqCst);
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
