//! No input makes an importer panic, hang or exhaust memory; every refusal is one line.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common;

use std::sync::LazyLock;

use crate::common::{Fixture, fixtures};
use common::import;
use import::{LONGEST, formats};
use model::render_run;
use proptest::prelude::*;

static FIXTURES: LazyLock<Vec<Fixture>> = LazyLock::new(fixtures);

/// Imports with a named format; a result must be valid, and a refusal one line.
fn check(bytes: &[u8], format: &str) {
    judge(bytes, Some(format));
}

fn judge(bytes: &[u8], format: Option<&str>) {
    match import("input", bytes, format, benchmarks::catalogue()) {
        Ok(runs) => {
            for run in runs {
                render_run(&run).unwrap_or_else(|error| panic!("{format:?}: {error}"));
            }
        }
        Err(error) => {
            let error = error.to_string();
            assert!(error.starts_with("could not ") && !error.contains('\n') && error.len() < 1000, "{error:?}");
        }
    }
}

/// A quantile below 0 is none: the run is kept without it.
#[test]
fn a_percentile_below_zero_is_left_out() {
    let text = common::text("perftest.txt");
    let (before, table) = text.split_once("99.9% percentile[usec]").unwrap();
    let row = table.lines().nth(1).unwrap();
    let last = row.split_whitespace().next_back().unwrap();
    let edited = row.replace(last, "-1");
    let changed = format!("{before}99.9% percentile[usec]{}", table.replacen(row, &edited, 1));
    check(changed.as_bytes(), "perftest");
    let quantiles = |text: &str| {
        let runs = common::read_as("perftest", text);
        runs.iter().flat_map(|run| &run.results).map(|result| result.quantiles.len()).sum::<usize>()
    };
    assert_eq!(quantiles(&changed) + 1, quantiles(&text));
}

/// The digits of a value below 0 are no precision of anything.
#[test]
fn a_time_below_zero_has_no_rounding() {
    let text = "BabelStream\nVersion: 5.0\nImplementation: OpenMP\nArray size: 268.4 MB (=0.3 GB)\n\
                Function    MBytes/sec  Min (sec)   Max         Average\n\
                Copy        19999.000   0.02684     0.03000     -.02800\n\
                Copy        20000.000   -0.02684    0.03000     0.02800\n";
    check(text.as_bytes(), "babelstream");
}

#[derive(Debug, Clone)]
enum Change {
    Truncate(prop::sample::Index),
    Flip(prop::sample::Index, u8),
    Insert(prop::sample::Index, Vec<u8>),
    Replace(prop::sample::Index, &'static str),
    Remove(prop::sample::Index, usize),
    Repeat(prop::sample::Index, usize),
    Splice(prop::sample::Index, prop::sample::Index),
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<prop::sample::Index>;
    let words = prop::sample::select(vec![
        "1e999",
        "-1",
        "NaN",
        "nan",
        "inf",
        "0",
        "18446744073709551616",
        "-0.0",
        "1e308",
        "\u{fc}",
        "\0",
        "\n",
        ",",
        "\"",
        "null",
        "{}",
        "[]",
        "9999999999999999999999999",
        "\u{1b}[31m",
        "\r\n",
        "  ",
        "&x;",
        "<",
        "=",
        ":",
        "k",
        "K",
    ]);
    prop_oneof![
        at().prop_map(Change::Truncate),
        (at(), any::<u8>()).prop_map(|(at, bits)| Change::Flip(at, bits)),
        (at(), prop::collection::vec(any::<u8>(), 1..16)).prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        (at(), words).prop_map(|(at, word)| Change::Replace(at, word)),
        (at(), 1..200_usize).prop_map(|(at, count)| Change::Remove(at, count)),
        (at(), 1..200_usize).prop_map(|(at, count)| Change::Repeat(at, count)),
        (at(), at()).prop_map(|(of, at)| Change::Splice(of, at)),
    ]
}

fn changed(mut bytes: Vec<u8>, changes: &[Change]) -> Vec<u8> {
    for change in changes {
        if bytes.is_empty() {
            break;
        }
        match change {
            Change::Truncate(at) => bytes.truncate(at.index(bytes.len())),
            Change::Flip(at, bits) => {
                let at = at.index(bytes.len());
                bytes[at] ^= bits;
            }
            Change::Insert(at, more) => {
                let at = at.index(bytes.len());
                bytes.splice(at..at, more.iter().copied());
            }
            Change::Replace(at, word) => {
                // A whole word, so that numbers become other numbers.
                let at = at.index(bytes.len());
                let ends = |byte: &u8| b" \t\n,:\"=<>|".contains(byte);
                let from = bytes[..at].iter().rposition(ends).map_or(0, |from| from + 1);
                let to = bytes[at..].iter().position(ends).map_or(bytes.len(), |to| at + to);
                bytes.splice(from.min(to)..to, word.bytes());
            }
            Change::Remove(at, count) => {
                let at = at.index(bytes.len());
                let end = (at + count).min(bytes.len());
                bytes.drain(at..end);
            }
            Change::Repeat(at, count) => {
                let at = at.index(bytes.len());
                let part = bytes[at..(at + count).min(bytes.len())].to_vec();
                bytes.splice(at..at, part);
            }
            Change::Splice(of, at) => {
                let other = &FIXTURES[of.index(FIXTURES.len())].bytes;
                bytes.extend_from_slice(&other[at.index(other.len())..]);
            }
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: testing::trials(8, 20) as u32, ..ProptestConfig::default() })]

    #[test]
    fn changed_fixtures_are_read_or_refused(changes in prop::collection::vec(change(), 1..4)) {
        for fixture in FIXTURES.iter() {
            let bytes = changed(fixture.bytes.clone(), &changes);
            check(&bytes, &fixture.format);
            judge(&bytes, None);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300), text in "\\PC{0,200}") {
        judge(&bytes, None);
        judge(text.as_bytes(), None);
        for format in formats() {
            check(&bytes, format.name);
            check(text.as_bytes(), format.name);
        }
    }
}

#[test]
fn beginnings_of_every_fixture_are_read_or_refused() {
    let step = if testing::slow("every third beginning; every 37th stands for them") { 3 } else { 37 };
    for fixture in FIXTURES.iter() {
        for end in (0..fixture.bytes.len().min(4000)).step_by(step) {
            check(&fixture.bytes[..end], &fixture.format);
        }
    }
}

#[test]
fn every_fixture_under_every_other_format_is_read_or_refused() {
    for fixture in FIXTURES.iter() {
        for format in formats() {
            check(&fixture.bytes, format.name);
        }
    }
}

#[test]
fn oversized_input_is_refused_with_the_position() {
    let catalogue = benchmarks::catalogue();
    let huge = vec![b' '; LONGEST + 1];
    let error = import("huge", &huge, Some("stream"), catalogue).unwrap_err().to_string();
    assert!(error.contains("that is the limit"), "{error}");
    let lines = "1 2\n".repeat(200_002);
    let error = import("long", lines.as_bytes(), Some("lmbench"), catalogue).unwrap_err().to_string();
    assert!(error.contains("more than 200000 lines at line 200001"), "{error}");
    // Distinct names must not be compared with each other in quadratic time.
    let number = testing::trials(30_000, 150_000);
    let names = |line: fn(usize) -> String| (0..number).map(line).collect::<String>();
    let hosts = names(|at| format!("h{at:09} Linux 6.1.0-1   11.5\n"));
    let summary = common::text("lmbench-summary.txt").replace("box  ", &format!("{hosts}box  "));
    check(summary.as_bytes(), "lmbench");
    let spec = common::text("spec-cpu.csv");
    let rows = names(|at| format!("500.x{at},4,1,1,0,S,4,1,1,1,S,x\n"));
    check(spec.replace("500.perlbench_r,4,500.0", &format!("{rows}500.perlbench_r,4,500.0")).as_bytes(), "spec-cpu");
    let entries = names(|at| format!("<Entry><Identifier>b{at}</Identifier><Value>1</Value></Entry>"));
    let xml = format!("<PhoronixTestSuite><Result><Data>{entries}</Data></Result></PhoronixTestSuite>");
    check(xml.as_bytes(), "phoronix");
    let sysbench = common::text("sysbench.txt");
    let options = names(|_| "Number of threads: 1\n    events per second: 1\n".to_owned());
    check(sysbench.replacen("Threads started!", &options, 1).as_bytes(), "sysbench");
    let deep = "[".repeat(200_000);
    for format in formats() {
        check(deep.as_bytes(), format.name);
        check("<PhoronixTestSuite><Result>".repeat(10_000).as_bytes(), format.name);
        check("a,".repeat(50_000).as_bytes(), format.name);
    }
}

#[test]
fn wide_tables_and_long_lines_are_refused_before_they_cost_memory() {
    let cells = "0,".repeat(3 << 20);
    for (begin, format) in [
        ("run,benchmark,point,outcome,method,", "tidy-csv"),
        ("machine,", "wide-csv"),
        ("command,mean,stddev,median,", "hyperfine"),
        ("Throughput,Throughput Units,", "netperf"),
        ("valid,1\nSPEC CPU2017 Results Table,", "spec-cpu"),
        ("\"test\",\"rps\",", "redis-benchmark"),
        ("", "stream"),
    ] {
        let text = format!("{begin}{cells}");
        let error = import("wide", text.as_bytes(), Some(format), benchmarks::catalogue()).unwrap_err().to_string();
        assert!(error.contains("columns") || error.contains("bytes"), "{format}: {error}");
    }
}

#[test]
fn quoted_input_stays_on_one_line() {
    let xml = b"<PhoronixTestSuite><Result>\n</Re\nsult>";
    check(xml, "phoronix");
    let csv = common::text("tidy-csv.csv").replace("threads=1", "thr\neads");
    let error = import("x", csv.as_bytes(), None, benchmarks::catalogue()).unwrap_err().to_string();
    assert!(error.contains("thr eads") && !error.contains('\n'), "{error}");
}

#[test]
fn wrong_encodings_are_named() {
    let error = import("x", b"\xff\xfeS\0T\0", None, benchmarks::catalogue()).unwrap_err().to_string();
    assert!(error.contains("UTF-16"), "{error}");
    let error = import("x", b"STREAM version\nCopy: \xe9", None, benchmarks::catalogue()).unwrap_err().to_string();
    assert!(error.contains("line 2, column 7"), "{error}");
    let mut bytes = b"\xef\xbb\xbf".to_vec();
    bytes.extend(common::fixture("stream.txt"));
    assert_eq!(import("x", &bytes, None, benchmarks::catalogue()).unwrap()[0].results.len(), 4);
}

#[test]
fn every_format_has_a_fuzz_target() {
    let manifest = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/Cargo.toml");
    let manifest = std::fs::read_to_string(manifest).unwrap();
    for format in formats() {
        assert!(manifest.contains(&format!("name = \"{}\"", format.name)), "{} has no fuzz target", format.name);
    }
}
