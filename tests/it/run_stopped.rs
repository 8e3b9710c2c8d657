//! Stopped runs: leftovers of a signal, a kill and a replaced program, and how the rest is measured.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails or says why")]

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::Duration;

use super::run::{SLOW, SMALL};
use crate::common::{Place, requested, rounds, send, wait_for};

#[test]
fn ctrl_c_keeps_what_was_measured_and_the_run_resumes() {
    let place = Place::new();
    let mut child = place.prony().args(SLOW).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("three rounds", || rounds(&place) >= 3);
    send("-INT", child.id());
    let code = child.wait().unwrap().code();
    let (mut out, mut err) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!(code, Some(130), "{out}{err}");
    assert!(
        out.contains("the run was stopped before all results were finished") && err.contains("--resume 1"),
        "{out}{err}"
    );
    let before = rounds(&place);
    let said = place.ask(&["run", "--resume", "1", "--time-limit", "2s"]).fine();
    assert!(said.out.contains("run 1"), "{}", said.out);
    assert!(rounds(&place) > before);
    assert_eq!(
        place.ask(&["runs", "--format=json"]).fine().json().as_array().map(Vec::len),
        Some(1),
        "one run, gone on with"
    );
}

#[test]
fn a_store_that_is_deleted_meanwhile_is_made_anew_and_holds_the_run() {
    let place = Place::new();
    let mut command = place.prony();
    command.args(SLOW).args(["--time-limit", "1000s"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    wait_for("a round", || rounds(&place) >= 1);
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(place.file(&format!("runs.sqlite{end}")));
    }
    wait_for("the store made anew", || rounds(&place) >= 2);
    send("-INT", child.id());
    let answer = crate::common::Answer::of(child.wait_with_output().unwrap());
    assert!(answer.err.contains("was removed meanwhile; a new one holds this run"), "{}", answer.err);
    assert_eq!(place.ask(&["runs", "--format=json"]).fine().json().as_array().map(Vec::len), Some(1));
}

/// timeout(1) sends its signal to the program, then to its group, which the program is in.
#[test]
fn a_signal_that_comes_twice_at_once_is_one_request() {
    let place = Place::new();
    let mut child = place.prony().args(SLOW).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("two rounds", || rounds(&place) >= 2);
    send("-TERM", child.id());
    send("-TERM", child.id());
    let code = child.wait().unwrap().code();
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!(code, Some(130), "{out}");
    assert!(
        out.contains("the run was stopped before all results were finished") && out.contains("Stored as run 1"),
        "the run is concluded: {out}"
    );
}

#[test]
fn ctrl_c_leaves_no_files_where_files_were_measured() {
    let place = Place::new();
    let measured = tempfile::tempdir().unwrap();
    let entries = || std::fs::read_dir(measured.path()).unwrap().count();
    for signal in ["-INT", "-TERM"] {
        let mut command = place.prony();
        command
            .args(["run", "--benchmark", "file.read_cached", "--target", "0.001", "--directory"])
            .arg(measured.path());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_for("a sample with files", || entries() > 0);
        send(signal, child.id());
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(entries(), 0, "{signal}");
    }
}

#[test]
fn ctrl_c_before_there_is_anything_to_keep_is_a_stop_as_well() {
    let place = Place::new();
    let mut child = place.prony().arg("selftest").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The first session of a pair takes many times as long.
    std::thread::sleep(Duration::from_millis(1500));
    send("-INT", child.id());
    let code = child.wait().unwrap().code();
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!(code, Some(130), "{err}");
    assert!(err.contains("stopped before a pair"), "{err}");
}

#[test]
fn a_kill_loses_one_round_at_most_and_leaves_no_worker() {
    let place = Place::new();
    let mut child = place.prony().args(SLOW).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("four rounds", || rounds(&place) >= 4);
    send("-KILL", child.id());
    child.wait().unwrap();
    let run = place.ask(&["show", "latest", "--format=json"]).fine().json();
    assert!(run["session"]["rounds"].as_u64().unwrap() >= 4);
    for result in requested(&run) {
        assert!(result["samples"].as_array().unwrap().len() >= 4, "every saved round is whole");
    }
    wait_for("the worker's end", || {
        let listed = std::process::Command::new("ps").args(["-eo", "ppid=,args="]).output().unwrap();
        let text = String::from_utf8_lossy(&listed.stdout).into_owned();
        !text.lines().any(|line| line.trim_start().starts_with("1 ") && line.contains("prony worker"))
    });
    let resumed = place.ask(&["run", "--resume", "latest", "--time-limit", "1s"]);
    assert!(matches!(resumed.code, Some(0 | 3)), "{resumed:?}");
}

#[test]
fn a_run_goes_on_as_it_began_when_its_program_is_replaced() {
    let place = Place::new();
    let program = place.file("installed");
    // A separate process copies it: a file that any process has open for writing cannot be started.
    let copy = std::process::Command::new("cp").arg(env!("CARGO_BIN_EXE_prony")).arg(&program).status().unwrap();
    assert!(copy.success());
    let mut started = std::process::Command::new(&program);
    started
        .args(SMALL)
        .args(["--target", "0.001", "--max-samples", "14"])
        .env("PRONY_STORE", place.file("runs.sqlite"));
    let mut child = started.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("a round", || rounds(&place) >= 1);
    // As an installer does it: a new file under the old name. Starting it gives no result.
    std::fs::write(place.file("newer"), "#!/bin/sh\nexit 9\n").unwrap();
    std::fs::set_permissions(place.file("newer"), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::rename(place.file("newer"), &program).unwrap();
    let code = child.wait().unwrap().code();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(code, Some(0), "{said}");
    let run = place.ask(&["show", "latest", "--format=json"]).fine().json();
    assert!(requested(&run).iter().all(|result| result["samples"].as_array().unwrap().len() >= 8), "{said}");
}
