//! Failures of files and permissions, kills and damage: each gives one clear line that says what, where and what to do,
//! and nothing is damaged.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "tests, which say when they cannot run"
)]
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::{SMALL, TYPICAL, run};
use rusqlite::Connection;
use store::{Access, Detail, Error, SqliteStore, Store, StoreErrorKind};

/// Names the directory to a process that saves rounds.
pub(crate) const PLACE: &str = "PRONY_TEST_SAVE_IN";

/// Saves a run after every round, as measuring does, until it is killed. Does nothing in a normal run of the tests: the
/// tests of kills, limits and permissions start this program again for it. It prints each saved round, and ends with
/// status 2 and one line when saving fails.
#[test]
fn saver_process() {
    let Some(place) = std::env::var_os(PLACE) else { return };
    let save = |round: u32, store: &mut dyn Store, mut run: model::Run| {
        run.session.rounds = round;
        run.session.complete = false;
        for result in &mut run.results {
            result.samples.truncate(round as usize % TYPICAL.samples + 1);
        }
        store.put(&run)?;
        println!("\nround {round}");
        Ok(())
    };
    let rounds = || {
        let mut store = store::open(place.as_ref(), Access::Write)?;
        let whole = run("m", 1, TYPICAL);
        (1..u32::MAX).try_for_each(|round| save(round, &mut *store, whole.clone()))
    };
    let Err(error): Result<(), Error> = rounds() else { return };
    eprintln!("{error}");
    std::process::exit(2);
}

pub(crate) const SAVER: [&str; 3] = ["trouble::saver_process", "--exact", "--nocapture"];

/// This program again, saving rounds in a directory.
fn saver(place: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(SAVER).env(PLACE, place);
    command
}

pub(crate) fn skip(reason: &str) {
    testing::skip!("{reason}");
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
}

/// One line that names the file and what to do.
pub(crate) fn assert_clear(error: &Error, place: &Path, advice: &str) {
    let text = error.to_string();
    assert!(text.starts_with("could not ") && !text.contains('\n'), "{text}");
    assert!(text.contains(&place.display().to_string()), "{text} does not name {}", place.display());
    assert!(text.contains(advice), "{text} lacks '{advice}'");
}

pub(crate) fn trouble(error: &Error) -> &StoreErrorKind {
    match error {
        Error::Place { trouble, .. } => trouble,
        other => panic!("not of a place: {other}"),
    }
}

/// The database passes SQLite's own check, and every run in it can be read.
fn assert_whole(path: &Path) -> u32 {
    let store = SqliteStore::open(path, Access::Read).unwrap();
    let runs = store.summaries().unwrap();
    for summary in &runs {
        let whole = store.get(&summary.id, Detail::Whole).unwrap();
        assert_eq!(whole.session.rounds, summary.rounds, "document and columns are of one round");
        assert_eq!(store.get(&summary.id, Detail::Values).unwrap().session.rounds, summary.rounds);
        assert_eq!(summary.results as usize, whole.results.len());
    }
    let connection = Connection::open(path).unwrap();
    let answer: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(answer, "ok");
    let orphans: i64 =
        connection.query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get(0)).unwrap();
    assert_eq!(orphans, 0);
    runs.last().map_or(0, |run| run.rounds)
}

#[test]
fn a_kill_loses_one_round_at_most() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("runs.sqlite");
    for wait in [0, 3, 7, 12, 20, 33] {
        let mut child = saver(&place).stdout(Stdio::piped()).spawn().unwrap();
        let round = |line: String| line.strip_prefix("round ").map(|round| round.parse::<u32>().unwrap());
        let mut told = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok).filter_map(round);
        let first = told.next().unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        child.kill().unwrap();
        child.wait().unwrap();
        let told = told.last().unwrap_or(first);
        let kept = assert_whole(&place);
        assert!(kept == told || kept == told + 1, "round {told} was reported as saved, round {kept} is stored");
    }
}

#[test]
fn a_locked_database_is_waited_for_and_then_reported() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("runs.sqlite");
    let one = run("m", 1, SMALL);
    SqliteStore::open(&path, Access::Write).unwrap().put(&one).unwrap();
    let holder = Connection::open(&path).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut store = SqliteStore::open_patiently(&path, Access::Write, Duration::from_millis(50)).unwrap();
    let error = store.put(&run("m", 2, SMALL)).unwrap_err();
    assert_eq!(*trouble(&error), StoreErrorKind::Locked);
    assert_clear(&error, &path, "wait until that program has ended");
    assert_eq!(store.get(&one.id, Detail::Whole).unwrap(), one, "readers must not be blocked");
    holder.execute_batch("ROLLBACK").unwrap();
    assert_eq!(store.put(&run("m", 2, SMALL)).unwrap(), 2);
}

#[test]
fn concurrent_creation_gives_one_store() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("new").join("runs.sqlite");
    let makers: Vec<_> = (0..8)
        .map(|maker| {
            let place = place.clone();
            std::thread::spawn(move || {
                store::open(&place, Access::Write).and_then(|mut store| store.put(&run("m", maker, SMALL))).unwrap()
            })
        })
        .collect();
    let mut numbers: Vec<_> = makers.into_iter().map(|maker| maker.join().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn a_damaged_database_is_reported_and_not_changed() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("runs.sqlite");
    let mut store = SqliteStore::open(&path, Access::Write).unwrap();
    store.put_all(&[run("m", 1, TYPICAL), run("m", 2, TYPICAL)]).unwrap();
    drop(store);
    let sound = fs::read(&path).unwrap();
    let look = |bytes: &[u8]| -> Result<(), Error> {
        fs::write(&path, bytes).unwrap();
        let mut store = SqliteStore::open(&path, Access::Write)?;
        for run in store.summaries()? {
            store.get(&run.id, Detail::Whole)?;
            store.histories(
                &[model::ResultKey::new("family0.benchmark_0", model::Parameters::none())],
                &run.fingerprint,
                9,
            )?;
        }
        store.put(&run("m", 3, SMALL)).map(drop)
    };
    for (what, bytes) in damages(&sound) {
        if let Err(error) = look(&bytes) {
            let text = error.to_string();
            assert!(text.contains(&path.display().to_string()) && !text.contains('\n'), "{what}: {text}");
        }
    }
    let mut scribbled = sound.clone();
    scribbled[4096..20_000].fill(0xa5);
    let error = look(&scribbled).unwrap_err();
    assert!(matches!(trouble(&error), StoreErrorKind::Corrupt(_)), "{error}");
    assert_clear(&error, &path, "move it away");
    let document = b"no database at all ".repeat(1000);
    let error = look(&document).unwrap_err();
    assert!(matches!(trouble(&error), StoreErrorKind::Foreign(_)), "{error}");
    assert_clear(&error, &path, "name another place");
    assert_eq!(fs::read(&path).unwrap(), document, "a foreign file was changed");
    look(&sound).unwrap();
}

/// A database truncated and overwritten at many places.
fn damages(sound: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut damaged = Vec::new();
    let steps = testing::trials(12, 40);
    for step in 1..steps {
        let at = sound.len() * step / steps;
        damaged.push((format!("cut at {at}"), sound[..at].to_vec()));
        let mut bytes = sound.to_vec();
        bytes[at..(at + 300).min(sound.len())].fill(0xff);
        damaged.push((format!("overwritten at {at}"), bytes));
    }
    damaged
}

#[test]
fn a_damaged_document_is_reported_and_the_others_are_read() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("runs.sqlite");
    let mut store = SqliteStore::open(&path, Access::Write).unwrap();
    store.put_all(&[run("m", 1, SMALL), run("m", 2, SMALL)]).unwrap();
    Connection::open(&path)
        .unwrap()
        .execute("UPDATE documents SET whole = substr(whole, 1, 90) WHERE number = 1", [])
        .unwrap();
    let error = store.get(&run("m", 1, SMALL).id, Detail::Whole).unwrap_err();
    assert!(matches!(trouble(&error), StoreErrorKind::Corrupt(_)), "{error}");
    assert_clear(&error, &path, "run m-000001");
    assert_eq!(store.get(&run("m", 2, SMALL).id, Detail::Whole).unwrap(), run("m", 2, SMALL));
    assert_eq!(store.summaries().unwrap().len(), 2);
}

#[test]
fn databases_of_others_and_of_another_version_are_not_written_to() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("places.sqlite");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE bookmarks (url TEXT)").unwrap();
    let before = fs::read(&path).unwrap();
    for access in [Access::Read, Access::Write] {
        let error = SqliteStore::open(&path, access).unwrap_err();
        assert!(matches!(trouble(&error), StoreErrorKind::Foreign(_)), "{error}");
        assert_clear(&error, &path, "another program");
    }
    assert_eq!(fs::read(&path).unwrap(), before);

    let path = home.path().join("other.sqlite");
    drop(SqliteStore::open(&path, Access::Write).unwrap());
    for other in [0, 2, 99] {
        Connection::open(&path).unwrap().pragma_update(None, "user_version", other).unwrap();
        for access in [Access::Read, Access::Write] {
            let error = SqliteStore::open(&path, access).unwrap_err();
            assert!(matches!(error, Error::StoreVersion { found, known: 1, .. } if found == other), "{error}");
            assert_clear(&error, &path, "use the prony that wrote it");
        }
    }
}

#[test]
fn paths_that_cannot_be_stores_are_reported() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    fs::write(&file, "x").unwrap();
    let full = home.path().join("full of other things");
    fs::create_dir(&full).unwrap();
    fs::write(full.join("x"), "x").unwrap();
    for (path, expected) in [
        (full, StoreErrorKind::Directory),
        (file.join("runs.sqlite"), StoreErrorKind::NotADirectory),
        (home.path().join("new/"), StoreErrorKind::Directory),
    ] {
        let error = store::open(&path, Access::Write).map(drop).unwrap_err();
        assert_eq!(*trouble(&error), expected, "{error}");
    }
    let path = home.path().join("none.sqlite");
    let error = store::open(&path, Access::Read).map(drop).unwrap_err();
    assert!(error.is_missing(), "{error}");
    assert!(!path.exists(), "reading must create nothing");
    let error = store::open("postgres://user:secret@host/base".as_ref(), Access::Read).map(drop).unwrap_err();
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[test]
fn an_empty_file_becomes_a_store_and_names_may_hold_blanks_and_signs() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("a ?b#c%41.sqlite");
    fs::write(&path, "").unwrap();
    let mut store = SqliteStore::open(&path, Access::Write).unwrap();
    store.put(&run("m", 1, SMALL)).unwrap();
    assert_eq!(
        fs::read_dir(home.path()).unwrap().flatten().filter(|entry| entry.metadata().unwrap().len() > 0).count() % 4,
        3
    );
}

#[test]
fn a_user_without_permission_gets_an_error() {
    if !is_root() {
        return skip("it takes root to become another user");
    }
    let home = tempfile::tempdir().unwrap();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let helper = home.path().join("save_rounds");
    fs::copy(std::env::current_exe().unwrap(), &helper).unwrap();
    fs::create_dir(home.path().join("closed")).unwrap();
    let path = home.path().join("closed/runs.sqlite");
    SqliteStore::open(&path, Access::Write).unwrap().put(&run("m", 7, SMALL)).unwrap();
    let places = [
        ("open directory, readable store", 0o755, 0o644, "read-only"),
        ("closed directory", 0o700, 0o600, "permission"),
        ("closed store", 0o755, 0o600, "permission"),
    ];
    for (what, directory, file, words) in places {
        fs::set_permissions(home.path().join("closed"), fs::Permissions::from_mode(directory)).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(file)).unwrap();
        for name in ["closed/runs.sqlite", "closed/new.sqlite"] {
            let place = home.path().join(name);
            let output = Command::new("setpriv")
                .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
                .arg(&helper)
                .args(SAVER)
                .env(PLACE, &place)
                .output();
            let Ok(output) = output else { return skip("setpriv is not installed") };
            let text = String::from_utf8(output.stderr).unwrap();
            assert_eq!((output.status.code(), text.lines().count()), (Some(2), 1), "{what}, {name}: {text}");
            assert!(text.contains(words) || text.contains("permission"), "{what}, {name}: {text}");
        }
    }
    assert_whole(&path);
}
