//! Runs that are recognised as one machine's: imports under one name, and a run with its shared file.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::common::{Answer, Place, TINY};

#[test]
fn imports_under_one_name_are_of_one_machine() {
    let place = Place::new();
    let output = |time: &str| format!("goos: linux\npkg: a\nBenchmarkSub-4 20000000 {time} ns/op\nPASS\nok a 8.1s\n");
    for (file, time) in [("old.txt", "115"), ("new.txt", "78.8"), ("other.txt", "90.5")] {
        std::fs::write(place.file(file), output(time)).unwrap();
    }
    for (file, name) in [("old.txt", "node-a"), ("new.txt", "node-a"), ("other.txt", "node-b")] {
        let label = format!("{name}-{file}");
        place.ask(&["import", file, "--machine", name, "--label", &label, "--date", "2024-05-31"]).fine();
    }
    let said = place.ask(&["compare", "node-a-old.txt", "node-a-new.txt"]).fine().out;
    assert!(said.contains(": same machine, margin"), "{said}");
    let said = place.ask(&["compare", "node-a-old.txt", "node-b-other.txt"]).fine().out;
    assert!(said.contains(": another machine, margin"), "{said}");
    // Files that name no machine are of machines of their own.
    let said = place.ask(&["compare", "./old.txt", "./new.txt"]).fine().out;
    assert!(said.contains(": another machine, margin"), "{said}");
}

#[test]
fn a_shared_file_is_of_the_machine_that_it_was_measured_on() {
    let place = Place::new();
    let ask = |words: &[&str]| {
        let output = place.prony().args(words).env("XDG_DATA_HOME", place.file("data")).output().unwrap();
        Answer::of(output).fine()
    };
    ask(&[TINY, &["--share", "--label", "one"]].concat());
    ask(&[TINY, &["--share", "--label", "two"]].concat());
    for (a, b, how) in [
        ("one.prony.json", "two.prony.json", "same machine"),
        ("1", "two.prony.json", "same machine"),
        ("one.prony.json", "2", "same machine"),
        ("1", "one.prony.json", "the same run"),
    ] {
        let said = ask(&["compare", a, b]).out;
        assert!(said.contains(&format!(": {how}, margin")), "{a}, {b}: {said}");
    }
    // The file itself has nothing of the machine's own.
    let kept = ask(&["show", "1", "--format=json"]).json();
    let fingerprint = kept["machine"]["fingerprint"].as_str().unwrap_or_default().to_owned();
    let shared = std::fs::read_to_string(place.file("one.prony.json")).unwrap();
    assert!(!fingerprint.is_empty() && !shared.contains(&fingerprint));
}
