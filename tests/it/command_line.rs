//! Unexpected words of a command line.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::common::{Answer, Place};

/// Names that are not UTF-8, numbers below zero and variables without a value.
#[test]
fn strange_words_of_a_command_line_are_used_or_get_a_line() {
    let place = Place::with_a_run();
    let ask = |words: &[&str], name: &[u8]| {
        Answer::of(place.prony().args(words).arg(OsStr::from_bytes(name)).output().unwrap())
    };
    ask(&["report", "1", "--output"], b"page-\xff.html").fine();
    assert!(place.path().join(OsStr::from_bytes(b"page-\xff.html")).exists());
    std::fs::copy(place.file("a.json"), place.path().join(OsStr::from_bytes(b"a-\xff.json"))).unwrap();
    ask(&["import"], b"a-\xff.json").fine();
    assert!(ask(&["show"], b"a-\xff.json").refused().contains("UTF-8"));
    // A file in this directory needs no "./" before its name.
    std::fs::write(place.file("two.csv"), "machine,triad (GB/s)\nnode-a,61.5\nnode-b,91.5\n").unwrap();
    assert!(place.ask(&["compare", "two.csv", "--all"]).fine().out.contains("1.49x faster"));
    std::fs::write(place.file("one.csv"), "machine,triad (GB/s)\nnode-a,61.5\n").unwrap();
    assert!(place.ask(&["show", "one.csv"]).fine().out.contains("61.5 GB/s"));
    for name in ["show", "explain", "report", "predict"] {
        assert!(place.ask(&[name, "published:stream", "--format=json"]).code == Some(2), "it prints no machine");
    }
    for words in
        [&["compare", "1", "1", "--margin", "-1"][..], &["run", "--time-limit", "-1"], &["run", "--seed", "-3"]]
    {
        let said = place.ask(words);
        assert!(said.code == Some(2) && said.err.contains(words[words.len() - 2]), "{said:?}");
        assert!(!said.err.contains("unexpected argument"), "{said:?}");
    }
    for words in [&["time", "--spacing", "-1", "true"][..], &["run", "--spacing", "-1"]] {
        assert!(place.ask(words).err.contains("it must be 0, for none, or above"), "{words:?}");
    }
    // The error is in the first line, with the nearest word below it if there is one.
    for (words, first, tip) in [
        (&["shw", "1"][..], "unrecognized subcommand 'shw'", "'show'"),
        (&["show", "--fromat", "1"], "unexpected argument '--fromat' found", "'--format'"),
        (&["show", "1", "--format", "hml"], "invalid value 'hml' for '--format <FORMAT>'", "'html'"),
        (&["import"], "the following required arguments were not provided:", "<FILE>..."),
    ] {
        let said = place.ask(words).refused();
        assert!(said.lines().next().unwrap().contains(first) && said.contains(tip), "{said}");
    }
    let nothing = place.ask(&["app", "work", "analyse", "--events", "0"]);
    assert!(nothing.code == Some(2) && nothing.out.is_empty(), "no mass of no events: {nothing:?}");
    let nowhere = place.ask(&["run", "--benchmark", "os.syscall_write", "--output", "missing/a.json"]).refused();
    assert!(nowhere.contains("in missing: it does not exist"), "{nowhere}");
    assert_eq!(
        place.ask(&["runs", "--format=json"]).fine().json().as_array().map(Vec::len),
        Some(1),
        "nothing was begun"
    );
    let unset = place.prony().arg("runs").env("PRONY_STORE", "").output().unwrap();
    assert!(Answer::of(unset).refused().contains("PRONY_STORE"));
}

/// An error shows what the user wrote, and what would be right.
#[test]
fn errors_name_what_the_user_gave() {
    let place = Place::with_a_run();
    // The tests' store comes from the environment, not from the command line.
    for (words, usage) in [
        (&["choose"][..], "Usage: prony choose [OPTIONS] <FILE>"),
        (&["runs", "label"], "Usage: prony runs label [OPTIONS] <RUN> <LABEL>"),
        (&["farm", "run"], "Usage: prony farm run [OPTIONS] "),
    ] {
        let said = place.ask(words).refused();
        assert!(said.contains(usage) && !said.contains("--store"), "{said}");
    }
    let said = place.ask(&["report", "1", "--output", "missing/x.html"]).refused();
    assert!(said.contains("missing/x.html: No such file") && !said.contains(".part"), "{said}");
    let run = place.ask(&["show", "1", "--format=json"]).fine().json();
    let known = run["results"][0]["benchmark"].as_str().unwrap().to_owned();
    let said = place.ask(&["trend", "1", "--results", &known[..known.len() - 1]]).refused();
    assert!(said.contains(&format!("did you mean {known}?")), "{said}");
}

/// Text for people has the characters of the locale; output for programs is UTF-8.
#[test]
fn a_locale_without_utf_8_gets_ascii() {
    let place = Place::with_a_run();
    let ask = |words: &[&str], locale: &[(&str, &str)]| {
        let mut command = place.prony();
        command.env_remove("LC_ALL").env_remove("LC_CTYPE").env_remove("LANG").envs(locale.iter().copied());
        Answer::of(command.args(words).output().unwrap())
    };
    let words: [&[&str]; 8] = [
        &["show", "1", "--all"],
        &["compare", "1", "1", "--all"],
        &["explain", "published:cyberlife-2004/appserver.geo", "published:cyberlife-2004/beastie.lab"],
        &["show", "published:babar-cpu-1998"],
        &["runs"],
        &["benchmarks"],
        &["doctor"],
        &["show", "\u{b5}\u{2013}"],
    ];
    for words in words {
        let said = ask(words, &[("LANG", "C.UTF-8"), ("LC_ALL", "C")]);
        assert!(said.out.is_ascii() && said.err.is_ascii(), "{words:?}: {said:?}");
        // A command to copy is never broken.
        let fits = |line: &str| line.len() <= 100 || line.contains("prony ");
        assert!(said.out.lines().all(fits), "{words:?}: {}", said.out);
    }
    assert!(ask(&["show", "1"], &[("LC_ALL", ""), ("LC_CTYPE", "C"), ("LANG", "C.UTF-8")]).fine().out.is_ascii());
    assert!(!ask(&["show", "1"], &[("LC_ALL", "C.UTF-8"), ("LANG", "C")]).fine().out.is_ascii());
    for format in ["json", "markdown", "html", "csv"] {
        let written = |locale: &str| ask(&["show", "1", "--format", format], &[("LC_ALL", locale)]).fine().out;
        assert!(written("C") == written("C.UTF-8"), "{format} is the same everywhere");
    }
}

/// If the output is no terminal, `COLUMNS` sets its width.
#[test]
fn columns_are_asked_for_where_there_is_no_terminal() {
    let place = Place::with_a_run();
    let widest = |columns: &str| {
        let output = place.prony().args(["selftest", "--rules"]).env("COLUMNS", columns).output().unwrap();
        Answer::of(output).fine().out.lines().map(|line| line.chars().count()).max().unwrap_or(0)
    };
    assert!(widest("60") <= 60 && (61..=100).contains(&widest("100")));
    assert!(widest("140") > 100 && widest("140") <= 140, "{}", widest("140"));
}

/// A label may resemble the name of a benchmark, as versions of kernels do.
#[test]
fn a_run_is_shown_by_a_label_with_dots() {
    let place = Place::with_a_run();
    for label in ["6.1.0-13", "os.fork_exit"] {
        place.ask(&["runs", "label", "1", label]).fine();
        let shown = place.ask(&["show", label]).fine().out;
        assert!(shown.starts_with(&format!("Run 1 \"{label}\"")), "{shown}");
    }
    assert!(place.ask(&["show", "6.1.0-14"]).refused().contains("6.1.0-14"));
    assert!(place.ask(&["show", "os.fork_exec"]).refused().contains("os.fork_exec"), "no run is called so");
}

/// The doctor checks the places of stored runs, from any directory.
#[test]
fn leftovers_are_found_where_stored_runs_measured() {
    let place = Place::with_a_run();
    let mut run: serde_json::Value = place.ask(&["show", "1", "--format=json"]).fine().json();
    let data = place.file("data");
    // No process has this number: the largest that a kernel gives is 4,194,304.
    std::fs::create_dir_all(data.join("prony-4999999-1f-0")).unwrap();
    run["id"] = "20260101-000000-000001".into();
    run["plan"]["directory"] = data.display().to_string().into();
    std::fs::write(place.file("there.json"), run.to_string()).unwrap();
    let leftover = |said: &str| said.contains("prony-4999999-1f-0");
    assert!(!leftover(&place.ask(&["doctor", "--format", "markdown"]).fine().out));
    place.ask(&["import", "there.json"]).fine();
    let said = place.ask(&["doctor", "--format", "markdown"]).fine().out;
    assert!(leftover(&said) && said.contains("/data"), "{said}");
}

/// Runs in one file are compared by its name, and an error in a table names its line.
#[test]
fn a_table_is_compared_by_the_name_of_its_file() {
    let place = Place::with_two_runs();
    std::fs::write(place.file("two.csv"), "machine,triad (GB/s)\nnode-a,61.5\nnode-b,91.5\n").unwrap();
    let said = place.ask(&["compare", "two.csv"]).fine().out;
    assert!(said.ends_with("Next: prony compare two.csv --all\n"), "{said}");
    place.ask(&["compare", "two.csv", "--all"]).fine();
    let said = place.ask(&["compare", "a.json", "b.json"]).fine().out;
    assert!(said.contains("Next: prony explain a.json b.json"), "{said}");
    std::fs::write(place.file("wrong.csv"), "machine,triad (GB/s)\nnode-a,61.5\nnode-b,fast\n").unwrap();
    let said = place.ask(&["compare", "wrong.csv"]).refused();
    assert!(said.contains("'fast' in column 'triad (GB/s)' is not a number at line 3"), "{said}");
    std::fs::write(place.file("half.json"), "{\"schema\": 1,").unwrap();
    assert!(place.ask(&["show", "half.json"]).refused().contains("could not read the run document"));
    let said = place.ask(&["compare", "1", "a.json", "--price", "x=1/h", "--price", "a.json=1/h"]).refused();
    assert!(said.contains("the price of x fits no run"), "{said}");
}

/// A report that cannot be written leaves the one that was there.
#[test]
fn a_report_replaces_another_as_a_whole() {
    let place = Place::with_a_run();
    place.ask(&["report", "1", "--output", "a.html"]).fine();
    let before = std::fs::read(place.file("a.html")).unwrap();
    let script = "ulimit -f 8; exec $0 report 1 --output a.html";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_prony")]).current_dir(place.path());
    let said = Answer::of(command.env("PRONY_STORE", place.file("runs.sqlite")).output().unwrap());
    assert!(said.refused().contains("could not write the report to a.html"));
    assert!(std::fs::read(place.file("a.html")).unwrap() == before, "the old one is whole");
    assert!(
        !place
            .path()
            .read_dir()
            .unwrap()
            .flatten()
            .any(|entry| { entry.file_name().to_string_lossy().ends_with(".part") })
    );
}
