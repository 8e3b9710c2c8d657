//! Runs that were killed and are resumed, of every command that measures in rounds: each resumes its own runs and no
//! others.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{Answer, Place};

/// Starts a run of many rounds, and kills it with the signal when a number of them are stored.
fn cut_off(place: &Place, arguments: &[&str], signal: &str, rounds: u64) -> Value {
    let mut child = place.prony().args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(180);
    let stored = || {
        let answer = place.ask(&["show", "latest", "--format=json"]);
        if answer.code == Some(0) { answer.json() } else { Value::Null }
    };
    while stored()["session"]["rounds"].as_u64().unwrap_or(0) < rounds {
        assert!(Instant::now() < deadline, "waited in vain for {rounds} rounds of {arguments:?}");
        assert!(child.try_wait().unwrap().is_none(), "{arguments:?} ended by itself");
        std::thread::sleep(Duration::from_millis(20));
    }
    let kill = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    child.wait().unwrap();
    stored()
}

/// Samples of the first result.
fn samples(run: &Value) -> usize {
    run["results"][0]["samples"].as_array().unwrap().len()
}

/// Resumes the only stored run and asserts that it is the same one with more samples.
fn resumed(place: &Place, before: &Value, arguments: &[&str]) -> Value {
    let answer = place.ask(&[arguments, &["--time-limit", "1s", "--format=json"]].concat());
    // So short a run may hold too few samples for an interval.
    assert!(matches!(answer.code, Some(0 | 3)), "{answer:?}");
    let after = answer.json();
    assert_eq!(after["id"], before["id"]);
    assert_eq!(after["plan"]["entries"], before["plan"]["entries"]);
    assert_eq!(after["plan"]["seed"], before["plan"]["seed"]);
    assert!(after["session"]["rounds"].as_u64() > before["session"]["rounds"].as_u64());
    assert!(samples(&after) > samples(before), "{} samples, {} before", samples(&after), samples(before));
    assert_eq!(place.ask(&["runs", "--format=json"]).fine().json().as_array().map(Vec::len), Some(1), "one run");
    // A busy machine may have no time for a second sample.
    let not_measured = |result: &&Value| {
        result["outcome"]["not_measured"].as_str().is_some_and(|reason| !reason.contains("before it had two samples"))
    };
    assert_eq!(after["results"].as_array().unwrap().iter().find(not_measured), None);
    after
}

const NAP: &str = "[application.nap]\nrun = [\"sh\", \"-c\", \"sleep 0.2; echo d=1\"]\nwork = { naps = 1, unit = \"nap\" }\n\
                   verify = { digest = \"d=([0-9]+)\" }\ncopies = [1]\n";

#[test]
fn an_application_that_was_killed_is_resumed_by_its_own_command_line() {
    let place = Place::new();
    std::fs::write(place.file("nap.toml"), NAP).unwrap();
    let app = ["app", "run", "nap.toml", "--target", "0.001"];
    let before = cut_off(&place, &[&app[..], &["--label", "x", "--note", "a note"]].concat(), "-KILL", 2);
    assert!(before["session"]["notes"].to_string().contains("a note"), "{}", before["session"]["notes"]);
    assert!(before["results"][0]["notes"].to_string().contains("digest: 1"), "{}", before["results"][0]["notes"]);
    let shown = place.ask(&["show", "1"]).fine().out;
    let right = "prony app run nap.toml --target 0.001 --resume 1";
    assert!(shown.contains(right), "{shown}");
    // The command of the catalogue refuses, names the right command, and does not change the run.
    let said = place.ask(&["run", "--resume", "1"]).refused();
    assert!(said.contains("`prony app run` measured it") && said.contains(right), "{said}");
    assert!(place.ask(&["net", "rr", "--resume", "1"]).refused().contains(right));
    let said = place.ask(&["app", "run", "nap.toml", "--copies", "2", "--resume", "1"]).refused();
    assert!(said.contains("other options") && said.contains(right), "{said}");
    let said = place.ask(&["app", "run", "nap.toml", "--seed", "5", "--resume", "1"]).refused();
    assert!(said.contains("another seed"), "{said}");
    assert_eq!(place.ask(&["show", "1", "--format=json"]).fine().json(), before);
    let after = resumed(&place, &before, &[&app[..], &["--resume", "1"]].concat());
    assert_eq!(after["label"], "x");
    // A program that prints another digest does other work, and is detected.
    std::fs::write(place.file("nap.toml"), NAP.replace("d=1", "d=2")).unwrap();
    let said = place.ask(&[&app[..], &["--resume", "x"]].concat()).refused();
    assert!(said.contains("another command line"), "{said}");
}

#[test]
fn a_network_measurement_that_was_killed_is_resumed_and_keeps_what_was_noted() {
    let place = Place::new();
    let udp = ["net", "udp", "--rate", "200,400", "--block", "20", "--target", "0.001", "--placement", "free"];
    let before = cut_off(&place, &udp, "-KILL", 2);
    let right = "prony net udp --rate 200,400 --block 20 --target 0.001 --placement free --resume 1";
    let said = place.ask(&["run", "--resume", "1"]).refused();
    assert!(said.contains(right), "{said}");
    assert!(place.ask(&["net", "udp", "--rate", "200", "--resume", "1"]).refused().contains(right));
    let after = resumed(&place, &before, &[&udp[..], &["--resume", "1"]].concat());
    let notes: Vec<&str> = after["results"][0]["notes"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let starting = |head: &str| notes.iter().filter(|note| note.starts_with(head)).count();
    assert_eq!((starting("before it was resumed: lost "), starting("lost ")), (1, 1), "{notes:?}");
}

#[test]
fn a_second_resume_and_one_of_a_complete_run() {
    let place = Place::new();
    std::fs::write(place.file("nap.toml"), NAP).unwrap();
    let app = ["app", "run", "nap.toml"];
    let before = cut_off(&place, &[&app[..], &["--target", "0.001"]].concat(), "-INT", 2);
    let again = [&app[..], &["--resume", "1"]].concat();
    let far = [&again[..], &["--target", "0.001"]].concat();
    let middle = resumed(&place, &before, &far);
    resumed(&place, &middle, &far);
    let done = place.ask(&[&again[..], &["--target", "90", "--format=json"]].concat()).json();
    assert_eq!(done["session"]["complete"], true, "a wider target is reached at the next look");
    assert!(place.ask(&again).refused().contains("it is complete"));
    assert!(place.ask(&["run", "--resume", "1"]).refused().contains("it is complete"));
}

#[test]
fn a_rating_that_was_killed_is_resumed_by_run() {
    let place = Place::new();
    let player = crate::rate::rated::player(&place, ("none", ":"));
    let rating = ["run", "--suite", "fp-1", "--copies", "1,3", "--build", &player, "--target", "0.001"];
    let before = cut_off(&place, &rating, "-KILL", 1);
    assert_eq!(before["plan"]["suite"], "fp-1");
    assert!(place.ask(&["run", "--resume", "1", "--suite", "quick"]).refused().contains("leave --suite"));
    assert!(place.ask(&["run", "--resume", "1", "--copies", "1"]).refused().contains("leave --copies out"));
    let after = resumed(&place, &before, &["run", "--resume", "1", "--build", &player]);
    assert_eq!(after["results"].as_array().unwrap().len(), 2 * (1 + 6));
}

#[test]
fn what_cannot_be_resumed_says_so() {
    let place = Place::new();
    std::fs::write(place.file("a"), "x").unwrap();
    place.ask(&["app", "sessions", "-n", "1", "a", "--runs", "2"]).fine();
    assert!(place.ask(&["run", "--resume", "1"]).refused().contains("it is complete"));
    let published = place.ask(&["run", "--resume", "published:babar-cpu-1998/amd-k6-200-mhz"]).refused();
    assert!(published.contains("not measured by prony"), "{published}");
}

/// A disk of 288 KiB takes the first of a run, and not all of it.
#[test]
fn a_run_that_fills_its_disk_is_kept_elsewhere() {
    let place = Place::new();
    let (disk, spare) = (place.file("disk"), place.file("spare"));
    std::fs::create_dir(&disk).unwrap();
    std::fs::create_dir(&spare).unwrap();
    let mounted = |words: &[&str]| {
        let script = "mount -t tmpfs -o size=288k none \"$0\" && exec \"$@\"";
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", script]).arg(&disk).args(words).env("TMPDIR", &spare);
        Answer::of(command.output().unwrap())
    };
    if mounted(&["true"]).code != Some(0) {
        testing::lacks("a mount of one's own (root, and unshare)");
        return;
    }
    let store = disk.join("runs.sqlite").display().to_string();
    let benchmarks = ["--benchmark", "os.clock_read", "--benchmark", "cpu.hanoi", "--benchmark", "os.syscall_getppid"];
    let limits = ["--target", "0.01", "--max-samples", "160"];
    let told = mounted(&[&[env!("CARGO_BIN_EXE_prony"), "run", "--store", &store], &benchmarks[..], &limits].concat());
    assert_eq!(told.code, Some(2), "{told:?}");
    assert!(told.err.contains("no space is left there") && told.out.contains("3 results"), "{told:?}");
    let kept: Vec<_> = std::fs::read_dir(&spare).unwrap().map(|entry| entry.unwrap().path()).collect();
    let [document] = kept.as_slice() else { panic!("one document: {kept:?}") };
    let document = document.display().to_string();
    assert!(told.err.contains(&format!("`prony import {document}` keeps")), "{told:?}");
    place.ask(&["import", &document]).fine();
    let run = place.ask(&["show", "latest", "--format=json"]).json();
    let samples = |result: &Value| result["samples"].as_array().unwrap().len();
    let results = run["results"].as_array().unwrap();
    assert!(results.len() >= 3 && results[..3].iter().all(|result| samples(result) >= 8), "{:?}", told.err);
}
