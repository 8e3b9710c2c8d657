//! Two measurements at the same time are noticed, and a dead holder blocks no other.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests, helpers included")]
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};

use store::{Claim, Holder, MachineLock, machine_lock_path};

#[test]
fn a_second_claim_names_the_holder() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("machine.lock");
    let Claim::Alone(first) = MachineLock::claim(&path, "prony run\nquick").unwrap() else { panic!("it is free") };
    let Claim::Taken(Some(holder)) = MachineLock::claim(&path, "prony run").unwrap() else { panic!("it is held") };
    assert_eq!(holder.pid, std::process::id());
    let words = holder.to_string();
    assert!(
        words.contains(&format!("process {}", holder.pid)) && words.contains("since 2") && !words.contains('\n'),
        "{words}"
    );
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o666,
        "other users must be able to write their note"
    );
    drop(first);
    assert!(matches!(MachineLock::claim(&path, "prony run").unwrap(), Claim::Alone(_)));
}

/// Names the lock file to a process that shall hold it.
const HOLD: &str = "PRONY_TEST_HOLD";

/// Holds the lock until it is killed or its standard input ends. Does nothing in a normal run of the tests.
#[test]
fn holder_process() {
    let Some(path) = std::env::var_os(HOLD) else { return };
    let _claim = MachineLock::claim(path.as_ref(), "to be killed").unwrap();
    println!("\nheld");
    std::io::stdin().lines().for_each(drop);
}

#[test]
fn a_killed_holder_releases_the_lock() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("machine.lock");
    let mut holder = Command::new(std::env::current_exe().unwrap())
        .args(["lock::holder_process", "--exact", "--nocapture"])
        .env(HOLD, &path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(holder.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "held"));
    let Claim::Taken(Some(found)) = MachineLock::claim(&path, "x").unwrap() else { panic!("it is held") };
    assert_eq!((found.pid, found.purpose.as_str()), (holder.id(), "to be killed"));
    fs::write(&path, "not a note").unwrap();
    assert!(matches!(MachineLock::claim(&path, "x").unwrap(), Claim::Taken(None)), "an invalid note is ignored");
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert!(matches!(MachineLock::claim(&path, "x").unwrap(), Claim::Alone(_)));
}

#[test]
fn a_symbolic_link_is_not_followed() {
    let home = tempfile::tempdir().unwrap();
    let (path, victim) = (home.path().join("machine.lock"), home.path().join("victim"));
    fs::write(&victim, "precious").unwrap();
    symlink(&victim, &path).unwrap();
    let error = MachineLock::claim(&path, "x").unwrap_err().to_string();
    assert!(error.starts_with("could not lock") && !error.contains('\n'), "{error}");
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
}

#[test]
fn the_note_is_json() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("machine.lock");
    let claim = MachineLock::claim(&path, "prony run").unwrap();
    let holder: Holder = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!((holder.pid, holder.purpose.as_str()), (std::process::id(), "prony run"));
    drop(claim);
    assert!(machine_lock_path().is_absolute());
}
