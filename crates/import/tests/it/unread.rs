//! What a file states beyond what was read is counted and shown.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{self, fixtures};
use import::{ImportOptions, formats};
use model::Catalogue;

fn unread(file: &str, bytes: &[u8]) -> Option<import::UnreadLines> {
    import::import(file, bytes, &ImportOptions::default(), &Catalogue::default()).unwrap().unread
}

/// Lines with numbers of the fixtures that no rule takes, on purpose: prose and titles of the tools.
const KNOWN: &[(&str, usize)] =
    &[("7zip.txt", 4), ("byte4.txt", 2), ("coremark.txt", 1), ("geekbench-page.txt", 2), ("spec-cpu-raw.rsf", 3)];

#[test]
fn fixtures_are_understood_line_by_line() {
    let mut wrong = Vec::new();
    for fixture in fixtures() {
        let Some(unread) = unread(&fixture.file, &fixture.bytes) else { continue };
        let known = KNOWN.iter().find(|(file, _)| *file == fixture.file).map_or(0, |(_, count)| *count);
        if unread.count != known {
            wrong.push(format!("{}: {} lines, the first {:?}", fixture.file, unread.count, unread.first));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_was_not_understood_is_counted_and_noted() {
    let mut text = String::from_utf8(common::fixture("sysbench.txt")).unwrap();
    text.push_str("\nwonders per second: 17\nand 4 more\n");
    let source = import::import("s.txt", text.as_bytes(), &ImportOptions::default(), &Catalogue::default()).unwrap();
    let found = source.unread.unwrap();
    assert_eq!(found.count, 2);
    let (line, words) = found.first.unwrap();
    assert_eq!((line, words.as_str()), (text.lines().count() - 1, "wonders per second: 17"));
    let note = source.runs[0].session.notes.iter().find(|note| note.contains("not understood")).unwrap();
    assert!(note.starts_with("2 lines with numbers were not understood; the first is line"), "{note}");
}

#[test]
fn formats_that_are_read_by_names_have_no_lines() {
    let by_names = fixtures().into_iter().filter(|fixture| unread(&fixture.file, &fixture.bytes).is_none());
    let mut names: Vec<String> = by_names.map(|fixture| fixture.format).collect();
    names.dedup();
    for name in ["fio", "iperf3", "google-benchmark", "pytest-benchmark", "prony"] {
        assert!(names.contains(&name.to_owned()), "{name}");
    }
    assert!(formats().len() > names.len());
}
