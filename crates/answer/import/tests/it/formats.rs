//! Every format on a fixture: detection, ids, values, spread, provenance.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common;

use crate::common::{fixtures, import_fixture};
use common::import;
use import::{Error, detect, formats};
use model::{EstimateMethod, Outcome, parse_run, render_run};

#[test]
fn every_format_has_a_fixture_and_is_detected() {
    let fixtures = fixtures();
    for format in formats() {
        let own: Vec<_> = fixtures.iter().filter(|fixture| fixture.format == format.name).collect();
        assert!(!own.is_empty(), "{} has no fixture", format.name);
        for fixture in own {
            assert_eq!(detect(&fixture.file, &fixture.bytes).unwrap().name, format.name, "{}", fixture.file);
        }
        assert!(!format.about.is_empty() && !format.tool.is_empty());
    }
    assert_eq!(fixtures.iter().filter(|fixture| fixture.format.is_empty()).count(), 0);
}

/// People tell the rows of a table by titles and sets of parameters: ids alone do not tell two results apart.
#[test]
fn no_two_results_of_a_run_look_the_same() {
    let mut alike = Vec::new();
    for fixture in fixtures() {
        for run in import(&fixture.file, &fixture.bytes, None, benchmarks::catalogue()).unwrap() {
            let mut seen = std::collections::HashMap::new();
            for result in run.results {
                let shown = (result.title, result.parameters.to_string(), result.metric.unit, result.metric.per);
                if let Some(other) = seen.insert(shown, result.benchmark.clone()) {
                    alike.push(format!("{}: {other} and {}", fixture.file, result.benchmark));
                }
            }
        }
    }
    assert!(alike.is_empty(), "{alike:#?}");
}

#[test]
fn runs_are_valid_documents_with_their_provenance() {
    for fixture in fixtures() {
        let runs = import(&fixture.file, &fixture.bytes, None, benchmarks::catalogue()).unwrap();
        let mut ids = std::collections::HashSet::new();
        for run in &runs {
            assert!(ids.insert(&run.id), "{}", run.id);
            assert_eq!(&parse_run(&render_run(run).unwrap()).unwrap(), run, "{}", fixture.file);
            if ["prony", "tidy-csv"].contains(&fixture.format.as_str()) {
                continue;
            }
            let origin = run.origin.as_ref().unwrap();
            assert_eq!(origin.document.as_deref(), Some(fixture.file.as_str()));
            assert_eq!(origin.sha256.as_ref().unwrap().len(), 64);
            assert!(run.id.starts_with(&format!("{}-{}", fixture.format, &origin.sha256.as_ref().unwrap()[..12])));
            for result in &run.results {
                if matches!(result.outcome, Outcome::Below { bound } if bound > 0.0) {
                    continue;
                }
                let Outcome::Measured(estimate) = &result.outcome else {
                    panic!("{} {:?}", result.key(), result.outcome)
                };
                assert!(
                    result.key().parameters.get("occurrence").is_none(),
                    "{} twice in {}",
                    result.key(),
                    fixture.file
                );
                // A spread that was not stated is absent, and never zero at a level.
                if estimate.low == estimate.high {
                    assert_eq!(estimate.level, 0.0, "{} of {}", result.key(), fixture.file);
                }
                if estimate.method == EstimateMethod::OrderStatistic {
                    assert_eq!(result.samples.len(), estimate.samples as usize);
                }
            }
        }
        assert_eq!(
            import(&fixture.file, &fixture.bytes, Some(&fixture.format), benchmarks::catalogue()).unwrap(),
            runs
        );
    }
}

#[test]
fn the_catalogue_defines_known_ids() {
    let mut catalogue = benchmarks::catalogue().clone();
    let switch = catalogue.position("os.context_switch").unwrap();
    catalogue.benchmarks.swap(0, switch);
    catalogue.benchmarks[0].title = "Switch between processes".to_owned();
    catalogue.benchmarks[0].parameters.retain(|parameter| parameter.name == "working_set");
    catalogue.benchmarks[0].parameters[0].values = vec!["0".to_owned(), "16KiB".to_owned()];
    let bytes = common::fixture("lmbench.txt");
    let run = import("lmbench.txt", &bytes, None, &catalogue).unwrap().remove(0);
    assert_eq!(run.results[0].title, "Switch between processes", "results stand in the catalogue's order");
    assert_eq!(
        run.results[0].parameters.get("working_set"),
        Some("0"),
        "sets of parameters take the catalogue's spelling"
    );
}

#[test]
fn undetected_formats_are_refused_in_one_line() {
    let nothing = import("x.txt", b"hello\n", None, benchmarks::catalogue()).unwrap_err().to_string();
    assert!(nothing.contains("could not tell what wrote x.txt") && !nothing.contains('\n'));
    let mut mixed = common::fixture("stream.txt");
    mixed.extend(common::fixture("sysbench.txt"));
    let error = import("x.txt", &mixed, None, benchmarks::catalogue()).unwrap_err();
    assert!(matches!(&error, Error::Ambiguous { formats, .. } if formats == "stream and sysbench"), "{error}");
    assert_eq!(import("x.txt", &mixed, Some("stream"), benchmarks::catalogue()).unwrap()[0].results.len(), 4);
    let unknown = import("x.txt", b"", Some("excel"), benchmarks::catalogue()).unwrap_err().to_string();
    assert!(unknown.contains("'excel'") && unknown.contains("sysbench"));
    let minutes = b"# Running sched/pipe benchmark...\n     Total time: 2.250 [min]\n";
    let minutes = import("x.txt", minutes, Some("perf-bench"), benchmarks::catalogue()).unwrap_err().to_string();
    assert!(minutes.contains("the unit of this time is not known at line 2"), "{minutes}");
    let empty = import("x.txt", b"", Some("stream"), benchmarks::catalogue()).unwrap_err().to_string();
    assert!(empty.contains("ends before any result"), "{empty}");
}

#[test]
fn truncated_files_name_the_position() {
    for (file, cut, expected) in [
        ("stream.txt", "Triad:", "its table lacks some of the four kernels at line"),
        ("fio.json", "\"clat_ns\"", "EOF while parsing"),
        ("hpl.txt", "||Ax-b||", "has no residual check at line 6"),
        ("7zip.txt", "Tot:", "has no line of totals"),
        ("sysbench.txt", "Latency (ms)", "the run that begins here has no latency at line 1"),
        ("unixbench.txt", "System Benchmarks Index Score", "has no index score at line 8"),
        ("osu.txt", "   20.65", "the row has 2 values and its heading 5 at line 3"),
        ("phoronix.xml", "</Entry>", "it ends inside <Entry> at line"),
        ("netperf-omni.csv", "10000.00", "the test that begins here has no result"),
        ("mbw.txt", "2\tMethod: MEMCPY", "its last method has no average at line"),
        ("tidy-csv.csv", "9.9e-8", "the row and the heading differ in length at line 2"),
        ("prony.json", "\"outcome\"", "cut off"),
        ("ping.txt", "rtt min", "the run that begins here has no summary at line 1"),
        ("nuttcp.txt", " 2500.0000", "the transfer of this interval has no last line at line 2"),
        ("core-to-core-latency.csv", "49.5", "its table ends after 3 of 4 rows at line 3"),
        ("mkl-linpack.txt", "1000   1000", "it ends before any result at line"),
    ] {
        let text = common::text(file);
        let text = &text[..text.find(cut).unwrap()];
        let error = import(file, text.as_bytes(), None, benchmarks::catalogue()).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("line ") && !error.contains('\n'), "{file}: {error}");
    }
}

/// Programs that sort members, and those that keep none in order, put the schema anywhere.
#[test]
fn documents_of_this_program_are_known_by_their_members_in_any_order() {
    let (bytes, plain) = (common::fixture("prony.json"), import_fixture("prony.json"));
    let document: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let sorted = serde_json::to_string(&document).unwrap();
    assert!(!sorted.starts_with("{\"schema\""), "{sorted}");
    let spread = serde_json::to_string_pretty(&document).unwrap();
    let list = format!("[\n{sorted},\n{}]", sorted.replace("\"r1\"", "\"r2\""));
    let lines = format!("{sorted}\n{}\n", sorted.replace("\"r1\"", "\"r2\""));
    for (text, count) in [(&sorted, 1), (&spread, 1), (&list, 2), (&lines, 2)] {
        let runs = import("x", text.as_bytes(), None, benchmarks::catalogue()).unwrap();
        assert_eq!((runs.len(), &runs[0]), (count, &plain[0]));
    }
    // Behind megabytes of results too.
    let long = sorted.replacen("\"results\":[", &format!("\"results\":[{}", " ".repeat(1 << 20)), 1);
    assert_eq!(detect("x", long.as_bytes()).unwrap().name, "prony");
    let other = sorted.replace("\"schema\":1", "\"schema\":\"https://example.org\"");
    assert!(matches!(detect("x", other.as_bytes()), Err(Error::Unrecognised { .. })));
    for nothing in ["", "\u{feff}", " \r\n\n"] {
        assert!(matches!(detect("x", nothing.as_bytes()), Err(Error::Empty { .. })), "{nothing:?}");
    }
}
