//! Meaning of each tool's numbers: columns by their headings, units, samples, and the identity of a result.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{self, read_repeats};
use model::Run;

/// Fixtures that do not show where a process begins, or do not state the number of its ranks.
const NOT_TWICE: &[&str] = &[
    "criterion-early.txt",
    "criterion.txt",
    "go-bench.txt",
    "hyperfine.txt",
    "lmbench-run-all.txt",
    "lmbench-summary-2.txt",
    "lmbench-summary.txt",
    "osu-others.txt",
    "osu.txt",
    "tinymembench-latencies.txt",
];

#[test]
fn a_file_twice_over_is_two_processes() {
    let mut wrong = Vec::new();
    for fixture in common::fixtures() {
        let (text, by_lines) = (String::from_utf8(fixture.bytes).unwrap(), fixture.file.ends_with(".txt"));
        let sheets = ["unixbench", "geekbench", "byte4", "spec-cpu"].contains(&fixture.format.as_str());
        if !by_lines || sheets || NOT_TWICE.contains(&fixture.file.as_str()) {
            continue;
        }
        let twice = format!("{text}\n{text}");
        let once = read_repeats(&fixture.format, &text);
        let runs = read_repeats(&fixture.format, &twice);
        let values = |runs: &[Run]| runs[0].results.iter().map(|result| result.values().len().max(1)).sum::<usize>();
        if runs[0].results.len() != once[0].results.len() || values(&runs) != 2 * values(&once) {
            wrong.push(format!("{}: {} results, {} once", fixture.file, runs[0].results.len(), once[0].results.len()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
