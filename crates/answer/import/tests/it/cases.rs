//! What each source states, in full: every fixture and fault against its file in `tests/expected`, and the sources of
//! `tests/cases`, one file for each rule that they show. `PRONY_BLESS=1` writes the present values; check the
//! difference.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "what is missing in a test is a failure, and differences are shown"
)]

use std::fmt::{Display, Write};
use std::path::{Path, PathBuf};

use ::import::{Error, ImportOptions, ImportedSource};
use model::{BenchmarkResult, Estimate, FactValue, Outcome, Run};
use serde::{Deserialize, Serialize};

use crate::common::{Fixture, faults, fixtures, folder};

/// Sources that show one rule.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    /// What they show.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    about: String,
    case: Vec<Case>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    repeats: bool,
    /// A fixture instead of an input.
    #[serde(skip_serializing_if = "Option::is_none")]
    fixture: Option<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    input: String,
    expected: String,
}

#[test]
fn fixtures_state_what_is_expected() {
    let wrong: Vec<String> = fixtures().iter().chain(&faults()).filter_map(of_fixture).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn of_fixture(fixture: &Fixture) -> Option<String> {
    let read = import::import(&fixture.file, &fixture.bytes, &ImportOptions::default(), benchmarks::catalogue());
    difference(&folder("expected").join(format!("{}.txt", fixture.file)), &stated(&read))
}

#[test]
fn cases_state_what_is_expected() {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder("cases")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    let wrong: Vec<String> = files.iter().filter_map(|path| of_cases(path)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn of_cases(path: &Path) -> Option<String> {
    let mut cases: Cases = toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for case in &mut cases.case {
        let fixture = case.fixture.as_ref().map(|file| crate::common::fixture(file));
        let input = fixture.as_deref().unwrap_or(case.input.as_bytes());
        let options =
            ImportOptions { format: case.format.as_deref(), repeats: case.repeats, ..ImportOptions::default() };
        case.expected = stated(&import::import("x", input, &options, benchmarks::catalogue()));
    }
    difference(path, &toml::to_string_pretty(&cases).unwrap())
}

/// Where a file differs from a text, which is written to it if so asked.
fn difference(path: &Path, text: &str) -> Option<String> {
    if std::env::var_os("PRONY_BLESS").is_some() {
        std::fs::write(path, text).unwrap();
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    let (wanted, read) = expected.lines().zip(text.lines()).find(|(wanted, read)| wanted != read).unwrap_or_default();
    (expected != text).then(|| format!("{}\n  expected {wanted}\n  read     {read}", path.display()))
}

/// Everything that a source states, a line each.
fn stated(read: &Result<ImportedSource, Error>) -> String {
    let mut text = String::new();
    match read {
        Err(error) => writeln!(text, "{error}").unwrap(),
        Ok(source) => {
            source.runs.iter().for_each(|run| of_run(&mut text, run));
            let unread = source.unread.as_ref().filter(|unread| unread.count > 0);
            unread.map(|unread| writeln!(text, "unread: {}, {:?}", unread.count, unread.first)).transpose().unwrap();
            source.remarks.iter().for_each(|remark| writeln!(text, "remark: {remark}").unwrap());
        }
    }
    text
}

fn of_run(text: &mut String, run: &Run) {
    let version = run.origin.as_ref().and_then(|origin| origin.version.as_deref()).unwrap_or_default();
    let head = [
        ("version", version),
        ("label", run.label.as_deref().unwrap_or_default()),
        ("machine", &run.machine.name),
        ("summary", &run.machine.summary),
        ("started", &run.session.started),
        ("command", &run.session.command.join(" ")),
    ];
    writeln!(text, "run").unwrap();
    for (name, value) in head.into_iter().filter(|(_, value)| !value.is_empty()) {
        writeln!(text, "  {name}: {value}").unwrap();
    }
    for fact in &run.machine.facts {
        let value = match &fact.value {
            FactValue::Number(number) => digits(*number),
            FactValue::Text(words) => words.clone(),
            other => format!("{other:?}"),
        };
        writeln!(text, "  fact: {} = {value} {}", fact.name, fact.unit.as_deref().unwrap_or_default()).unwrap();
    }
    run.session.notes.iter().for_each(|note| writeln!(text, "  note: {note}").unwrap());
    run.results.iter().for_each(|result| of_result(text, result));
}

fn of_result(text: &mut String, result: &BenchmarkResult) {
    let metric = &result.metric;
    write!(text, "  {} = ", result.key()).unwrap();
    match &result.outcome {
        Outcome::Measured(estimate) => text.push_str(&of_estimate(estimate)),
        Outcome::Below { bound } => write!(text, "below {}", digits(*bound)).unwrap(),
        other => write!(text, "{other:?}").unwrap(),
    }
    writeln!(text, "; {:?} of {:?}, {:?}; {}", metric.unit, metric.per, metric.better, result.title).unwrap();
    list(text, "samples", result.samples.iter().map(|sample| digits(sample.value)));
    list(
        text,
        "quantiles",
        result.quantiles.iter().map(|found| format!("{} {}", digits(found.quantile), of_estimate(&found.estimate))),
    );
    list(text, "rounding", result.rounding.map(digits).into_iter());
    result.notes.iter().for_each(|note| writeln!(text, "    note: {note}").unwrap());
}

fn list(text: &mut String, name: &str, values: impl Iterator<Item = impl Display>) {
    let values: Vec<String> = values.map(|value| value.to_string()).collect();
    if !values.is_empty() {
        writeln!(text, "    {name}: {}", values.join(", ")).unwrap();
    }
}

fn of_estimate(estimate: &Estimate) -> String {
    let mut text = digits(estimate.value);
    if (estimate.low, estimate.high) != (estimate.value, estimate.value) {
        let (low, high) = (digits(estimate.low), digits(estimate.high));
        write!(text, " [{low}, {high}] {:?} at {}", estimate.method, digits(estimate.level)).unwrap();
    }
    if (estimate.samples, estimate.batches) != (1, 1) {
        write!(text, " of {} x {}", estimate.samples, estimate.batches).unwrap();
    }
    text
}

/// A number without the digits that the order of a computation decides.
fn digits(value: f64) -> String {
    format!("{value:.9e}").parse::<f64>().map_or_else(|_| value.to_string(), |short| format!("{short:?}"))
}
