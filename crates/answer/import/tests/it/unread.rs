//! What a file states beyond what was read is counted and shown.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{self, fixtures};
use import::{ImportOptions, formats};

fn unread(file: &str, bytes: &[u8]) -> Option<import::UnreadNumbers> {
    import::import(file, bytes, &ImportOptions::default(), benchmarks::catalogue()).unwrap().unread
}

/// Lines with numbers of the fixtures that no rule takes, on purpose: prose and titles of the tools.
const KNOWN: &[(&str, usize)] = &[
    ("7zip.txt", 4),
    ("byte4-kernels.txt", 1),
    ("coremark-pro-fpmark.txt", 1),
    ("lmbench-run-all.txt", 2),
    ("lmbench-summary-2.txt", 1),
];

#[test]
fn fixtures_are_understood_line_by_line() {
    let mut wrong = Vec::new();
    for fixture in fixtures() {
        let Some(unread) = unread(&fixture.file, &fixture.bytes) else { continue };
        if unread.place == import::NumberPlace::Members {
            continue;
        }
        let known = KNOWN.iter().find(|(file, _)| *file == fixture.file).map_or(0, |(_, count)| *count);
        if unread.count != known {
            wrong.push(format!("{}: {} lines, the first {:?}", fixture.file, unread.count, unread.first));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_was_not_understood_is_counted_and_noted() {
    let mut text = common::text("sysbench.txt");
    text.push_str("\nwonders per second: 17\nand 4 more\n");
    let source = import::import("s.txt", text.as_bytes(), &ImportOptions::default(), benchmarks::catalogue()).unwrap();
    let found = source.unread.unwrap();
    assert_eq!(found.count, 2);
    assert_eq!(found.first.unwrap(), format!("line {}: wonders per second: 17", text.lines().count() - 1));
    let note = source.runs[0].session.notes.iter().find(|note| note.contains("not parsed")).unwrap();
    assert!(note.starts_with("2 lines with numbers are not parsed; the first is line"), "{note}");
}

#[test]
fn formats_of_json_count_members() {
    let members =
        |found: Option<import::UnreadNumbers>| found.is_some_and(|found| found.place == import::NumberPlace::Members);
    let by_names = fixtures().into_iter().filter(|fixture| members(unread(&fixture.file, &fixture.bytes)));
    let mut names: Vec<String> = by_names.map(|fixture| fixture.format).collect();
    names.dedup();
    // The last one also has a form in lines.
    for name in ["fio", "iperf3", "google-benchmark", "pytest-benchmark", "hyperfine", "jmh"] {
        assert!(names.contains(&name.to_owned()), "{name}");
    }
    let memory = unread("jmh.json", &common::fixture("jmh-bytes.json")).unwrap();
    assert_eq!((memory.count, memory.first.as_deref()), (1, Some("*.secondaryMetrics.gc.alloc.rate.norm.score")));
    assert!(formats().len() > names.len());
}
