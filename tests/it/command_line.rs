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
    assert!(ask(&["show"], b"a-\xff.json").refused().contains("is not UTF-8; if it is a file, rename it"));
    // A file in this directory needs no "./" before its name.
    std::fs::write(place.file("two.csv"), "machine,triad (GB/s)\nnode-a,61.5\nnode-b,91.5\n").unwrap();
    assert!(place.ask(&["compare", "two.csv", "--all"]).fine().out.contains("1.49x faster"));
    std::fs::write(place.file("one.csv"), "machine,triad (GB/s)\nnode-a,61.5\n").unwrap();
    assert!(place.ask(&["show", "one.csv"]).fine().out.contains("61.5 GB/s"));
    for verb in ["show", "explain", "report", "predict"] {
        assert!(place.ask(&[verb, "published:stream", "--json"]).code == Some(2), "it prints no machine");
    }
    for words in [&["compare", "1", "1", "--band", "-1"][..], &["run", "--time-limit", "-1"], &["run", "--seed", "-3"]]
    {
        let said = place.ask(words);
        assert!(said.code == Some(2) && said.err.contains(words[words.len() - 2]), "{said:?}");
        assert!(!said.err.contains("unexpected argument"), "{said:?}");
    }
    for words in [&["time", "--spacing", "-1", "true"][..], &["run", "--spacing", "-1"]] {
        assert!(place.ask(words).err.contains("it must be 0, for none, or above"), "{words:?}");
    }
    // What the environment gives is not asked for.
    let said = place.ask(&["import"]);
    assert!(
        said.code == Some(2) && said.err.contains("usage: prony import <FILE>...; see prony import --help\n"),
        "{said:?}"
    );
    assert!(said.err.starts_with("prony: ") && said.err.lines().count() == 1, "one line: {said:?}");
    let nothing = place.ask(&["app", "work", "analyse", "--events", "0"]);
    assert!(nothing.code == Some(2) && nothing.out.is_empty(), "no mass of no events: {nothing:?}");
    let nowhere = place.ask(&["run", "--probe", "os.syscall_write", "--output", "missing/a.json"]).refused();
    assert!(nowhere.contains("in missing: it does not exist"), "{nowhere}");
    assert_eq!(place.ask(&["runs", "--json"]).fine().json().as_array().map(Vec::len), Some(1), "nothing was begun");
    let unset = place.prony().arg("runs").env("PRONY_STORE", "").output().unwrap();
    assert!(Answer::of(unset).refused().contains("PRONY_STORE"));
}
