//! Failing surroundings and hostile documents: messages and exit codes.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Answer, Place};

#[test]
fn a_store_that_does_not_exist_is_named() {
    let place = Place::new();
    for arguments in
        [&["show", "1"][..], &["compare", "1", "2"], &["report", "1"], &["export", "1", "--to", "openmetrics"]]
    {
        let said = Answer::of(place.prony().args(arguments).args(["--store", "/nowhere/x.sqlite"]).output().unwrap());
        let said = said.refused();
        assert!(said.contains("there is no store /nowhere/x.sqlite"), "{arguments:?}: {said}");
    }
    let listed = Answer::of(place.prony().args(["runs", "--store", "/nowhere/x.sqlite"]).output().unwrap()).fine();
    assert!(listed.err.contains("/nowhere/x.sqlite"), "{listed:?}");
    let place = Place::with_a_run();
    let said = place.ask(&["show", "99"]).refused();
    assert!(!said.contains("there is no store"), "{said}");
    // If the search is impossible, it is not reported as missing.
    let behind = place.file("a.json").join("x.sqlite");
    let said = Answer::of(place.prony().arg("runs").arg("--store").arg(behind).output().unwrap()).refused();
    assert!(said.contains("a part of its path is a file"), "{said}");
}

#[test]
fn an_end_before_anything_was_measured_keeps_nothing_and_says_so() {
    testing::attempts(10, || {
        let place = Place::new();
        let long = ["run", "--suite", "default", "--time-limit", "1m"];
        let mut child = place.prony().args(long).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Until it handles the signal; that is before the first sample, or the attempt is repeated.
        let handles = || {
            let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
            let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
            caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 2 != 0)
        };
        let began = Instant::now();
        while !handles() {
            assert!(began.elapsed() < Duration::from_secs(60), "it never watches for signals");
            std::thread::yield_now();
        }
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let _ = child.stdin.take();
        let answer = Answer::of(child.wait_with_output().unwrap());
        assert_eq!(answer.code, Some(130), "{answer:?}");
        if !answer.err.contains("nothing is kept") {
            return Err(format!("something was measured: {answer:?}"));
        }
        assert!(answer.out.is_empty(), "{answer:?}");
        assert!(place.ask(&["runs"]).fine().out.contains("No run is stored yet"));
        Ok(())
    });
}

/// Standard output and standard error as pipes whose readers have gone.
fn into_closed_pipes(place: &Place, arguments: &[&str]) -> Answer {
    let gone = || {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        writer
    };
    let status = place.prony().args(arguments).stdout(gone()).stderr(gone()).status().unwrap();
    Answer { code: status.code(), out: String::new(), err: String::new() }
}

#[test]
fn readers_that_left_are_no_failure_and_no_panic() {
    let place = Place::with_a_run();
    for arguments in [
        &["runs"][..],
        &["show", "1"],
        &["show", "1", "--format=json"],
        &["show", "1", "--format", "csv"],
        &["compare", "1", "a.json"],
        &["explain", "1", "a.json"],
        &["report", "1", "--output", "-"],
        &["export", "1", "--to", "openmetrics"],
        &["benchmarks"],
        &["runs", "--published"],
        &["completions", "bash"],
        &["--help"],
    ] {
        assert_eq!(into_closed_pipes(&place, arguments).code, Some(0), "{arguments:?}");
    }
    // Errors are not heard, and their exit code stays.
    for arguments in [&["show", "99"][..], &["fly"], &["run", "--benchmark", "none.such"]] {
        assert_eq!(into_closed_pipes(&place, arguments).code, Some(2), "{arguments:?}");
    }
}

#[test]
fn a_full_device_is_an_error_with_one_line() {
    if !Path::new("/dev/full").exists() {
        return testing::skip!("there is no /dev/full");
    }
    let place = Place::with_a_run();
    let full = || File::options().write(true).open("/dev/full").unwrap();
    for arguments in [
        &["runs"][..],
        &["show", "1"],
        &["show", "1", "--format=json"],
        &["show", "1", "--format", "csv"],
        &["report", "1", "--output", "-"],
        &["export", "1", "--to", "openmetrics"],
        &["completions", "bash"],
        &["--help"],
    ] {
        let output = place.prony().args(arguments).stdout(full()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!said.contains("panicked") && said.lines().count() <= 1, "{arguments:?}: {said}");
        let of_program = matches!(arguments[0], "runs" | "show");
        assert!(!of_program || said.contains("could not write"), "{arguments:?}: {said}");
    }
    // Nothing can be said on a full standard error; the exit code is still the right one.
    assert_eq!(place.prony().args(["show", "99"]).stderr(full()).status().unwrap().code(), Some(2));
}

#[test]
fn a_limit_of_file_sizes_is_an_error_and_not_the_end() {
    let place = Place::with_a_run();
    for command in [
        "exec \"$0\" show 1 --format json >big.json",
        "exec \"$0\" report 1 --output big.html",
        "exec \"$0\" import a.json --store new.sqlite",
    ] {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit -f 8; {command}"), env!("CARGO_BIN_EXE_prony")]);
        shell.current_dir(place.path()).env("PRONY_STORE", place.file("runs.sqlite"));
        let answer = Answer::of(shell.output().unwrap());
        assert_eq!(answer.code, Some(2), "{command}: {answer:?}");
        assert!(answer.err.contains("could not") || answer.err.contains("large"), "{command}: {answer:?}");
        assert!(!answer.err.contains("panicked"), "{command}: {answer:?}");
    }
    assert!(place.ask(&["show", "1"]).fine().out.contains("Run 1"), "the store is as it was");
}

/// A run document whose texts try everything.
fn hostile(place: &Place) {
    let mut run: serde_json::Value = serde_json::from_slice(&fs::read(place.file("a.json")).unwrap()).unwrap();
    run["id"] = "hostile".into();
    run["label"] = "\u{1b}[2Jlabel".into();
    run["machine"]["name"] = "=HYPERLINK(\"http://example.com\")".into();
    run["machine"]["summary"] = "box\u{202e}rebmun\u{1b}]0;title\u{7}".into();
    run["session"]["started"] = "yesterday\u{9b}31m".into();
    run["session"]["notes"] = serde_json::json!(["note\u{202e}\u{2066}\u{1b}[31m|`<b>"]);
    write_document(run, &place.file("hostile.json"));
}

/// Formats are recognised by their beginning.
fn write_document(mut run: serde_json::Value, path: &Path) {
    run.as_object_mut().unwrap().remove("schema");
    fs::write(path, format!("{{\"schema\":1,{}", &run.to_string()[1..])).unwrap();
}

#[test]
fn texts_of_documents_do_not_steer_what_shows_them() {
    let place = Place::with_a_run();
    hostile(&place);
    for arguments in [
        &["show", "./hostile.json", "--color", "never"][..],
        &["compare", "1", "./hostile.json", "--color", "never"],
        &["compare", "1", "./hostile.json", "--all", "--color", "never"],
        &["show", "./hostile.json", "--format", "markdown"],
        &["show", "./no\u{1b}[2J\u{202e}such.json"],
    ] {
        let answer = place.ask(arguments);
        let steers = |c: char| c != '\n' && (c.is_control() || "\u{202e}\u{2066}".contains(c));
        assert!(!answer.out.chars().chain(answer.err.chars()).any(steers), "{arguments:?}: {answer:?}");
    }
    // A label and a date that --label would refuse do not come in by an import.
    let said = place.ask(&["import", "hostile.json"]).fine();
    assert!(said.err.contains("without a label") && said.err.contains("without a date"), "{said:?}");
    let stored = place.ask(&["show", "2", "--format=json"]).fine().json();
    assert!(stored["label"].is_null() && stored["session"]["started"] == "", "{stored}");
    assert_eq!(place.ask(&["show", "2"]).code, Some(0));
}

/// The document of the place's run with one number replaced.
fn with_number(place: &Place, pointer: &str, number: &str) {
    let mut run: serde_json::Value = serde_json::from_slice(&fs::read(place.file("a.json")).unwrap()).unwrap();
    *run.pointer_mut(pointer).unwrap() = serde_json::from_str(number).unwrap();
    write_document(run, &place.file("edited.json"));
}

#[test]
fn numbers_that_nothing_can_have_are_refused_by_every_reader() {
    let place = Place::with_a_run();
    for (pointer, number, says) in [
        ("/results/0/amount", "-5.0", "the amount of an operation of "),
        ("/results/0/outcome", r#"{"below":{"bound":-1e-9}}"#, "the bound of "),
        ("/session/seconds", "-30", "the duration of the run is below 0"),
    ] {
        with_number(&place, pointer, number);
        for arguments in [
            &["show", "./edited.json"][..],
            &["compare", "1", "./edited.json"],
            &["report", "./edited.json", "--output", "x.html"],
            &["export", "./edited.json", "--to", "openmetrics"],
            &["import", "edited.json"],
            &["explain", "1", "./edited.json"],
        ] {
            let said = place.ask(arguments).refused();
            assert!(said.contains(says) && said.contains("edited.json"), "{arguments:?}: {said}");
        }
    }
    // Numbers out of range, and fractions in place of whole numbers.
    for (old, new) in [("\"ops\":", "\"ops\":-"), ("\"value\":", "\"value\":1e999,\"x\":")] {
        let text = fs::read_to_string(place.file("a.json")).unwrap().replacen(old, new, 1);
        fs::write(place.file("edited.json"), text).unwrap();
        let said = place.ask(&["show", "./edited.json"]).refused();
        assert!(said.contains("line 1, column") && said.contains("edited.json"), "{said}");
    }
}

/// A run that its time limit ended differs from an interrupted one.
#[test]
fn only_interrupted_runs_are_listed_as_incomplete() {
    let place = Place::with_a_run();
    let seconds = place.ask(&["show", "1", "--format=json"]).fine().json()["session"]["seconds"].to_string();
    with_number(&place, "/session/complete", "false");
    let mut run: serde_json::Value = serde_json::from_slice(&fs::read(place.file("edited.json")).unwrap()).unwrap();
    for (id, limit) in [("stopped", "null"), ("limited", seconds.as_str())] {
        run["id"] = id.into();
        run["plan"]["time_limit"] = serde_json::from_str(limit).unwrap();
        write_document(run.clone(), &place.file("edited.json"));
        place.ask(&["import", "edited.json"]).fine();
    }
    let listed = place.ask(&["runs"]).fine().out;
    let marked = |line: &str| line.trim_end().ends_with("incomplete");
    let rows: Vec<bool> =
        listed.lines().filter(|line| line.contains("2 CPUs") || line.contains("benchmarks")).map(marked).collect();
    assert_eq!(rows, [false, true, false], "{listed}");
    for (run, says) in [("2", "the run was stopped before all results"), ("3", "stopped at the time limit")] {
        assert!(place.ask(&["show", run]).fine().out.contains(says), "{run}");
    }
}

/// The program on a terminal, by `script` of util-linux; `None` if that is missing.
fn on_a_terminal(place: &Place, command: &str, term: &str) -> Option<String> {
    let mut script = Command::new("script");
    script.args(["-qec", &format!("stty cols 80 rows 24; {} {command}", env!("CARGO_BIN_EXE_prony")), "/dev/null"]);
    script.current_dir(place.path()).env("PRONY_STORE", place.file("runs.sqlite")).env("TERM", term);
    script.env_remove("NO_COLOR").stdin(Stdio::null());
    match script.output() {
        Ok(output) => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        Err(why) => {
            testing::skip!("script cannot be started: {why}");
            None
        }
    }
}

#[test]
fn a_terminal_gets_no_control_characters_of_documents() {
    let place = Place::with_a_run();
    hostile(&place);
    for format in ["csv", "markdown", "json"] {
        let Some(text) = on_a_terminal(&place, &format!("show ./hostile.json --format {format}"), "xterm") else {
            return;
        };
        assert!(text.contains("system call"), "{text}");
        assert!(
            !text.contains('\u{1b}') && !text.contains('\u{202e}') && !text.contains('\u{9b}'),
            "{format}: {text:?}"
        );
    }
}

#[test]
fn a_dumb_terminal_gets_no_colours_and_no_bar() {
    let place = Place::new();
    let measure = "run --benchmark os.clock_read --target 50 --no-rulers --max-samples 8";
    let Some(dumb) = on_a_terminal(&place, measure, "dumb") else { return };
    assert!(dumb.contains("clock read") && !dumb.contains('\u{1b}'), "{dumb:?}");
    let Some(clever) = on_a_terminal(&place, measure, "xterm") else { return };
    assert!(clever.contains('\u{1b}') && clever.contains(" elapsed"), "{clever:?}");
    // No word is broken where a line of the terminal ends, whether it is full or its rest is blank.
    let mut plain = String::new();
    let mut rest = clever.as_str();
    while let Some(start) = rest.find("\u{1b}[") {
        plain.push_str(&rest[..start]);
        let code = &rest[start + 2..];
        let end = code.find(|c: char| c.is_ascii_alphabetic()).unwrap();
        // Colours stand inside of a line; whatever else there is begins one.
        plain.push_str(if code[..=end].ends_with('m') { "" } else { "\n" });
        rest = &code[end + 1..];
    }
    plain.push_str(rest);
    for line in plain.split(['\r', '\n']).filter(|line| !line.starts_with("prony: ")) {
        let letters: Vec<char> = line.chars().collect();
        let lines: Vec<&[char]> = letters.chunks(80).collect();
        let broken = |pair: &[&[char]]| pair[0].last() != Some(&' ') && pair[1].first() != Some(&' ');
        assert!(!lines.windows(2).any(broken), "{line:?} in {clever:?}");
    }
    assert!(plain.contains("1 of 1 results measured"), "{plain:?}");
}
