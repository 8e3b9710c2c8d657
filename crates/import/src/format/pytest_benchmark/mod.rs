//! pytest-benchmark's JSON (`--benchmark-json`) and its table on the terminal: statistics of rounds in one process.

mod table;

use model::Primitive;
use serde::Deserialize;

use super::{CodeFormat, Parsed, SourceText, sure};
use crate::date::iso;
use crate::json::{self, BoundedMap, List, Scalar};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, number, seconds, text};
use crate::text::{SourceFault, axis_value, name_value};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "pytest-benchmark",
    tool: "pytest-benchmark",
    about: "the median time of an iteration; rounds run in one process, so their least and greatest are a range and not \
            an interval of confidence; of a table on the terminal without the median, the mean, which is another figure",
    by_lines: false,
    detect: |head| {
        let json = sure(head, &["\"machine_info\"", "\"benchmarks\""]);
        json.max(sure(head, &["\"iqr_outliers\"", "\"benchmarks\""])).max(table::detect(head))
    },
    parse,
};

#[derive(Deserialize)]
struct PytestDocument {
    #[serde(default)]
    machine_info: PytestMachine,
    #[serde(default)]
    commit_info: Option<PytestCommit>,
    #[serde(default)]
    datetime: String,
    #[serde(default)]
    version: String,
    benchmarks: List<PytestEntry>,
}

/// What was measured.
#[derive(Deserialize)]
struct PytestCommit {
    #[serde(default)]
    id: Scalar,
    #[serde(default)]
    dirty: Scalar,
    #[serde(default)]
    project: Scalar,
}

impl PytestCommit {
    /// Without version control, its id is a word.
    fn is_known(&self) -> bool {
        let id = self.id.words();
        id.len() > 6 && id.bytes().all(|byte| byte.is_ascii_hexdigit())
    }
}

#[derive(Deserialize, Default)]
struct PytestMachine {
    #[serde(default)]
    node: String,
    #[serde(default)]
    machine: String,
    #[serde(default)]
    system: String,
    #[serde(default)]
    release: String,
    #[serde(default)]
    python_implementation: String,
    #[serde(default)]
    python_version: String,
    /// Absent in files of versions before 3.2, and a text in some.
    #[serde(default)]
    cpu: BoundedMap<Scalar>,
}

#[derive(Deserialize)]
struct PytestEntry {
    #[serde(default)]
    group: Option<String>,
    name: String,
    #[serde(default)]
    fullname: String,
    stats: PytestStatistics,
}

#[derive(Deserialize)]
struct PytestStatistics {
    min: f64,
    max: f64,
    median: f64,
    mean: f64,
    stddev: Option<f64>,
    rounds: f64,
    #[serde(default)]
    iterations: f64,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    if table::is_table(source.text) && !source.text.trim_start().starts_with('{') {
        let mut sheet = SourceSheet::default();
        table::parse(&mut sheet, source)?;
        return Ok(Parsed::Sheets(vec![sheet]));
    }
    let document: PytestDocument = json::read_noting(source.text, &source.ledger)?;
    let machine = document.machine_info;
    let mut sheet = SourceSheet {
        version: Some(document.version).filter(|version| !version.is_empty()),
        machine: name_value(&machine.node).trim_matches('-').to_owned(),
        started: iso(&document.datetime),
        ..SourceSheet::default()
    };
    if let Some(commit) = document.commit_info.filter(PytestCommit::is_known) {
        let changed = if commit.dirty == Scalar::Truth(true) { ", with changes" } else { "" };
        let (id, project) = (axis_value(&commit.id.words()), axis_value(&commit.project.words()));
        sheet.notes.push(format!("of commit {id} of {project}{changed}"));
    }
    let python = format!("{} {}", machine.python_implementation, machine.python_version);
    for (name, value) in [
        ("cpu.architecture", machine.machine.as_str()),
        ("os.name", &machine.system),
        ("kernel.release", &machine.release),
        ("runtime", python.trim()),
    ] {
        sheet.fact(text(name, value, "machine_info", &[]));
    }
    let cpu = |names: &[&str]| names.iter().find_map(|name| machine.cpu.0.get(*name));
    if let Some(brand) = cpu(&["brand_raw", "brand"]) {
        sheet.fact(text("cpu.model", &brand.words(), "machine_info", &[Primitive::CoreClock]));
    }
    let count = cpu(&["count"]).and_then(Scalar::number);
    sheet.fact(count.map(|count| number("cpu.count", count, "1", "machine_info", &[])));
    for entry in &document.benchmarks.0 {
        let stats = &entry.stats;
        let name = if entry.fullname.is_empty() { &entry.name } else { &entry.fullname };
        let mut reading = SourceReading::new("pytest_benchmark.time", &entry.name, stats.median, seconds("iteration"));
        reading = reading.at("benchmark", axis_value(name));
        if let Some(group) = &entry.group {
            reading = reading.at("group", axis_value(group));
        }
        if stats.rounds > 1.0 {
            reading = reading.spread(SourceSpread::Range(stats.min, stats.max)).counts(1, stats.rounds as u32);
            reading = reading.note("the range is of rounds in one process");
        }
        let deviation = stats.stddev.map_or(String::new(), |deviation| format!(", standard deviation {deviation:e} s"));
        let note = format!(
            "mean {:e} s{deviation} over {} rounds of {} iterations",
            stats.mean, stats.rounds, stats.iterations
        );
        sheet.readings.push(reading.note(note));
    }
    Ok(Parsed::Sheets(vec![sheet]))
}
