//! `prony app sessions` through the program: its own ntuples, other files, a user program, and the bottleneck of each.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::common;

use crate::common::Place;
use serde_json::Value;

fn value(run: &Value, benchmark: &str) -> f64 {
    let results = run["results"].as_array().unwrap();
    let result = results
        .iter()
        .find(|result| result["benchmark"] == benchmark)
        .unwrap_or_else(|| panic!("{benchmark}: {results:#?}"));
    common::estimate(result).and_then(|found| found["value"].as_f64()).unwrap_or_else(|| panic!("{result:#}"))
}

fn sessions(place: &Place, more: &[&str]) -> Value {
    place.ask(&[&["app", "sessions", "--runs", "3", "--format=json"], more].concat()).fine().json()
}

#[test]
fn own_and_shared_cached_and_cold() {
    let place = Place::new();
    let small = ["-n", "2", "--write", "2", "--file-size", "4"];
    for (more, sharing, cache) in [
        (&[][..], "own", "cached"),
        (&["--shared"][..], "shared", "cached"),
        (&["--cold"][..], "own", "cold"),
        (&[][..], "own", "cached"),
    ] {
        let run = sessions(&place, &[small.as_slice(), more].concat());
        let parameters = &run["results"][0]["parameters"];
        assert_eq!(
            (parameters["sharing"].as_str(), parameters["cache"].as_str()),
            (Some(sharing), Some(cache)),
            "{parameters}"
        );
        assert_eq!((parameters["sessions"].as_str(), parameters["files"].as_str()), (Some("2"), Some("2")));
        assert!(value(&run, "application.session_asked") > 0.0);
        let cpu = value(&run, "application.session_cpu");
        // The CPU clock may be coarser than such a short session.
        assert!((0.0..1.2).contains(&cpu), "{cpu}");
    }
    let left = std::fs::read_dir(place.path()).unwrap().filter_map(Result::ok);
    assert!(!left.into_iter().any(|entry| entry.file_name().to_string_lossy().contains("-sessions-")));
    let compared = place.ask(&["compare", "1", "2", "--across", "sharing", "--format=json"]).fine().json();
    assert!(compared["rows"].is_array());
    place.ask(&["explain", "1", "4"]).fine();
    place.ask(&["report", "1", "4", "--output", "both.html"]).fine();
    assert!(std::fs::read_to_string(place.file("both.html")).unwrap().contains("session"));
}

#[test]
fn sessions_that_wait_for_a_clock_are_neither_cpu_nor_disk_bound() {
    let place = Place::new();
    for name in ["a", "b"] {
        std::fs::write(place.file(name), vec![0; 100_000]).unwrap();
    }
    let said =
        place.ask(&["app", "sessions", "-n", "2", "a", "b", "--runs", "2", "--", "sh", "-c", "sleep 0.5"]).fine().out;
    // Independent of other load: these sessions use neither CPU nor disk.
    assert!(said.contains("neither CPU nor disk bound"), "{said}");
    assert!(said.contains("2 sessions at "), "{said}");
}

/// A shell that waits for its children sleeps, whatever these wait for.
#[test]
fn what_children_of_sessions_wait_for_is_not_guessed() {
    let place = Place::new();
    std::fs::write(place.file("a"), "x").unwrap();
    let script = "(i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done); (sleep 1.5); true";
    let sessions = ["app", "sessions", "-n", "1", "a", "--runs", "2", "--format=json", "--", "sh", "-c", script];
    let run = place.ask(&sessions).fine().json();
    let results = run["results"].as_array().unwrap();
    let waiting = results.iter().find(|result| result["benchmark"] == "application.session_waiting").unwrap();
    let reason = waiting["outcome"]["not_measured"].as_str().unwrap_or_else(|| panic!("{waiting:#}"));
    assert!(reason.contains("child processes do the work"), "{reason}");
    let said = place.ask(&["show", "1"]).fine().out;
    assert!(!said.contains("hardly wait"), "{said}");
}

/// Only the run waits for a loop whose parent has ended: the session continues until then.
#[test]
fn children_that_a_session_does_not_wait_for_are_counted() {
    let place = Place::new();
    std::fs::write(place.file("a"), "x").unwrap();
    let script = "(sh -c 'i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done' & echo $! > pid); \
                  while kill -0 $(cat pid) 2> /dev/null; do sleep 0.05; done; true";
    let sessions = ["app", "sessions", "-n", "1", "a", "--runs", "1", "--format=json", "--", "sh", "-c", script];
    let run = place.ask(&sessions).fine().json();
    let of = |benchmark: &str| {
        let results = run["results"].as_array().unwrap();
        results.iter().find(|result| result["benchmark"] == benchmark).unwrap().clone()
    };
    let cpu = of("application.session_cpu");
    let (share, wall) = (cpu["outcome"]["measured"]["value"].as_f64().unwrap(), &cpu["samples"][0]["wall"]);
    let seconds = share * wall.as_f64().unwrap();
    // The session and its awaited commands use hundredths of a second.
    assert!(seconds > 0.1, "{seconds} s of CPU time in {wall} s");
    assert!(of("application.session_waiting")["outcome"]["not_measured"].is_string(), "the loop did the work");
}

#[test]
fn sessions_that_only_compute_are_cpu_bound() {
    let place = Place::new();
    // Three loops per CPU use all of it to the end; with one per CPU, one may end much earlier.
    let busy = "i=0; while [ $i -lt 600000 ]; do i=$((i+1)); done";
    let count = 3 * std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    let names: Vec<String> = (0..count).map(|number| format!("file{number}")).collect();
    for name in &names {
        std::fs::write(place.file(name), "x").unwrap();
    }
    let sessions = count.to_string();
    let mut arguments = vec!["app", "sessions", "-n", &sessions];
    arguments.extend(names.iter().map(String::as_str));
    arguments.extend(["--runs", "2", "--", "sh", "-c", busy]);
    let said = place.ask(&arguments).fine().out;
    assert!(said.contains("CPU bound in"), "{said}");
}

#[test]
fn invalid_sessions_are_refused_and_a_failing_one_is_named() {
    let place = Place::new();
    let said = place.ask(&["app", "sessions", "-n", "3", "--write", "2"]).refused();
    assert!(said.contains("at least as many files"), "{said}");
    let absent = place.ask(&["app", "sessions", "-n", "1", "not-there"]);
    assert!(absent.code == Some(2) && absent.err.contains("not-there"), "{absent:?}");
    std::fs::write(place.file("a"), "x").unwrap();
    let failing = place.ask(&["app", "sessions", "-n", "1", "a", "--", "sh", "-c", "echo broken >&2; exit 4"]);
    assert!(failing.code == Some(2) && failing.out.contains("status: 4"), "{failing:?}");
}
