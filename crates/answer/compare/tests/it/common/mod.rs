//! Constructors of runs for tests: from simulated samples, and from the published tables.
#![allow(dead_code, reason = "each test file uses a part")]
#![allow(clippy::unwrap_used, reason = "helpers of tests, which Clippy does not recognise as such")]

pub(crate) mod core;

use std::collections::BTreeMap;
use std::path::PathBuf;

use model::{
    BenchmarkResult, Class, Estimate, EstimateMethod, Fact, Flag, Machine, Metric, Mode, Outcome, Parameters,
    Primitive, ResultKey, Run, Sample, Session, Unit,
};

/// A file of the published tables.
pub(crate) fn published(name: &str) -> Option<Vec<Vec<String>>> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../published")).join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Some(text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect())
}

/// A value of the model by its name in documents.
pub(crate) fn named<T: serde::de::DeserializeOwned>(word: &str) -> T {
    serde_json::from_value(serde_json::Value::String(word.to_owned())).unwrap()
}

/// The results of each recorded session, of lines that begin with the session's number.
pub(crate) fn recorded_sessions(
    lines: &str,
    result: impl Fn(&[&str]) -> BenchmarkResult,
) -> BTreeMap<&str, Vec<BenchmarkResult>> {
    let mut results: BTreeMap<&str, Vec<BenchmarkResult>> = BTreeMap::new();
    for line in lines.lines().filter(|line| !line.starts_with('#')) {
        let cells: Vec<&str> = line.split(';').collect();
        results.entry(cells[0]).or_default().push(result(&cells[1..]));
    }
    results
}

/// A fact of a machine in words.
pub(crate) fn words(name: &str, value: &str) -> Fact {
    Fact::new(name, value, "", &[])
}

pub(crate) fn time(per: &'static str) -> Metric {
    Metric::lower(Unit::Seconds, per)
}

pub(crate) fn rate(per: &'static str) -> Metric {
    Metric::higher(Unit::PerSecond, per)
}

/// A result with an outcome and nothing else.
pub(crate) fn result(
    benchmark: &str,
    parameters: &str,
    metric: Metric,
    class: Class,
    stresses: &[Primitive],
    outcome: Outcome,
) -> BenchmarkResult {
    let key = ResultKey::new(benchmark, parameters.parse().unwrap());
    BenchmarkResult {
        outcome,
        flags: Vec::new(),
        ..BenchmarkResult::unmeasured(key, benchmark, metric, class).stressing(stresses)
    }
}

/// A result without spread, as in published tables.
pub(crate) fn plain(benchmark: &str, parameters: &str, metric: Metric, value: f64) -> BenchmarkResult {
    result(benchmark, parameters, metric, Class::Compute, &[], Outcome::Measured(Estimate::without_spread(value)))
}

/// The result that a run would store for these sample values: median and order-statistic interval, or modes.
pub(crate) fn from_values(
    benchmark: &str,
    parameters: &str,
    metric: Metric,
    class: Class,
    values: &[f64],
) -> BenchmarkResult {
    let groups = stats::modes(values);
    let outcome = if groups.len() > 1 {
        let mode = |group: &stats::ModeGroup| {
            let members: Vec<f64> = group.samples.iter().map(|&i| values[i]).collect();
            Mode { share: group.share, estimate: estimate(&members) }
        };
        Outcome::Modes(groups.iter().map(mode).collect())
    } else {
        Outcome::Measured(estimate(values))
    };
    let mut made = result(benchmark, parameters, metric, class, &[], outcome);
    if groups.len() > 1 {
        made.flags.push(Flag::Modes);
    }
    made.samples = values.iter().map(|&value| Sample { value, ..Sample::default() }).collect();
    made
}

fn estimate(values: &[f64]) -> Estimate {
    let value = stats::median(values).unwrap();
    match stats::serial_median_interval(values, 0.95) {
        Some(found) => found.estimate(values.len(), 20, EstimateMethod::OrderStatistic),
        None => Estimate { samples: u32::try_from(values.len()).unwrap(), ..Estimate::without_spread(value) },
    }
}

/// A run on a machine in a session.
pub(crate) fn run(id: &str, machine: &str, session: &str, results: Vec<BenchmarkResult>) -> Run {
    Run {
        id: id.to_owned(),
        machine: Machine { name: machine.to_owned(), fingerprint: machine.to_owned(), ..Machine::default() },
        session: Session { started: session.to_owned(), ..Session::default() },
        results,
        ..Run::default()
    }
}

/// A published machine: no fingerprint, no session.
pub(crate) fn published_run(name: &str, results: Vec<BenchmarkResult>) -> Run {
    let mut made = run(name, name, "", results);
    made.machine.fingerprint = String::new();
    made
}

/// One run per machine from the columns of a published table; `column` maps a heading to a name.
pub(crate) fn table(
    rows: &[Vec<String>],
    label: &[usize],
    column: impl Fn(&str, f64) -> Option<BenchmarkResult>,
) -> Vec<Run> {
    let heading = &rows[0];
    rows[1..]
        .iter()
        .map(|row| {
            let name: Vec<&str> = label.iter().map(|&i| row[i].as_str()).collect();
            let results = heading.iter().zip(row).filter_map(|(head, cell)| column(head, cell.parse().ok()?)).collect();
            published_run(&name.join(", "), results)
        })
        .collect()
}

pub(crate) fn refs(runs: &[Run]) -> Vec<&Run> {
    runs.iter().collect()
}

pub(crate) fn parameters(text: &str) -> Parameters {
    text.parse().unwrap()
}
