//! Effects of signals on measurements and their leftovers, and two processes that would measure one run.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::common::{Place, rounds, send, wait_for};

fn started(command: &mut Command) -> Child {
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn a_run_that_is_stopped_before_it_holds_anything_leaves_the_file_of_an_earlier_one() {
    let place = Place::with_a_run();
    let before = std::fs::read(place.file("a.json")).unwrap();
    let mut child = started(place.prony().args(["time", "sleep 60", "--output", "a.json"]));
    wait_for("the run", || place.ask(&["runs", "--format=json"]).json().as_array().is_some_and(|runs| runs.len() == 2));
    send("-INT", child.id());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(std::fs::read(place.file("a.json")).unwrap() == before, "another file than before");
    assert_eq!(place.ask(&["runs", "--format=json"]).json().as_array().map(Vec::len), Some(1));
}

#[test]
fn a_run_that_a_process_measures_is_resumed_by_no_other() {
    let place = Place::new();
    let command = ["time", "sleep 0.2", "--max-samples", "320", "--target", "0.01"];
    let mut child = started(place.prony().args(command));
    wait_for("a round", || rounds(&place) > 0);
    let said = place.ask(&[&command[..], &["--resume", "1"]].concat()).refused();
    assert!(said.contains("could not resume 1: another process measures it"), "{said}");
    send("-KILL", child.id());
    child.wait().unwrap();
    let answer =
        place.ask(&[&command[..], &["--resume", "1", "--time-limit", "1s", "--format=json"]].concat()).fine().json();
    assert!(answer["results"][0]["samples"].as_array().is_some_and(|samples| samples.len() > 1));
}

#[test]
fn a_closed_terminal_ends_a_run_unless_it_was_to_be_ignored() {
    let ended = |script: &str, runs: &str| -> (Option<i32>, Value) {
        let place = Place::new();
        let mut shell = Command::new("sh");
        shell.args(["-c", script, env!("CARGO_BIN_EXE_prony"), "time", "sleep 0.1", "--runs", runs]);
        shell.current_dir(place.path()).env("PRONY_STORE", place.file("runs.sqlite")).env("PRONY_SPACING", "0");
        let mut child = started(&mut shell);
        wait_for("a round", || rounds(&place) > 0);
        send("-HUP", child.id());
        let code = child.wait().unwrap().code();
        (code, place.ask(&["show", "latest", "--format=json"]).fine().json()["session"]["complete"].clone())
    };
    // If these tests themselves ignore it, a shell cannot undo that.
    let heeding = if os::signal::is_ignored(kernels::signal::Signal::HangUp) {
        "exec env --default-signal=HUP \"$0\" \"$@\""
    } else {
        "exec \"$0\" \"$@\""
    };
    assert_eq!(ended(heeding, "300"), (Some(130), Value::Bool(false)));
    assert_eq!(ended("trap '' HUP; exec \"$0\" \"$@\"", "12"), (Some(0), Value::Bool(true)), "as nohup(1) asks");
}

/// An execution that continued would disturb the next measurement.
#[test]
fn what_was_timed_ends_with_a_killed_run() {
    ends_with_a_killed_run(&["time", "echo $$ > pid; exec sleep 600"]);
}

#[test]
fn sessions_end_with_a_killed_run() {
    let reader = ["--", "sh", "-c", "(exec sh -c 'echo $$ > pid; exec sleep 600')"];
    ends_with_a_killed_run(&[&["app", "sessions", "-n", "1", "a"], &reader[..]].concat());
}

/// A run of a program that writes its number into a file is killed, and the program with it.
fn ends_with_a_killed_run(arguments: &[&str]) {
    if !Path::new("/proc/self/stat").exists() {
        testing::lacks("/proc");
        return;
    }
    let place = Place::new();
    std::fs::write(place.file("a"), "x").unwrap();
    let mut child = started(place.prony().args(arguments));
    let pid = || std::fs::read_to_string(place.file("pid")).ok()?.trim().parse::<u32>().ok();
    wait_for("the command", || pid().is_some());
    let command = pid().unwrap();
    send("-KILL", child.id());
    child.wait().unwrap();
    // A zombie has ended too; it waits for its new parent.
    wait_for("its end", || {
        let stat = std::fs::read_to_string(format!("/proc/{command}/stat")).unwrap_or_default();
        stat.rsplit(") ").next().is_none_or(|rest| rest.is_empty() || rest.starts_with('Z'))
    });
}

#[test]
fn what_was_prepared_is_undone_after_a_stop() {
    let place = Place::new();
    let beside =
        ["--setup", "touch made", "--cleanup", "rm made", "--prepare", "touch ready", "--conclude", "rm ready"];
    let mut child = started(place.prony().args([&["time", "echo > begun; sleep 600"], &beside[..]].concat()));
    wait_for("the command", || place.file("begun").exists());
    assert!(place.file("made").exists() && place.file("ready").exists());
    send("-INT", child.id());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!place.file("made").exists() && !place.file("ready").exists());
}

#[test]
fn a_farm_that_waits_for_its_manifest_ends_at_the_first_signal() {
    let place = Place::new();
    let pipe = place.file("manifest");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let child = started(place.prony().args(["farm", "run", "manifest", "--events", "10", "--chunk", "5"]));
    // Opened as soon as it is read from; nothing is written.
    let _held = std::fs::File::options().write(true).open(&pipe).unwrap();
    send("-TERM", child.id());
    let child = std::cell::RefCell::new(child);
    wait_for("its end", || child.borrow_mut().try_wait().unwrap().is_some());
    let signal = std::os::unix::process::ExitStatusExt::signal(&child.into_inner().wait().unwrap());
    assert_eq!(signal, Some(15));
}
