//! JMH: its JSON (`-rf json`), its tables of separated values (`-rf csv`, `-rf scsv`), and the table at the end of its
//! terminal output.

mod table;

use model::{Better, Metric, Unit};
use serde::Deserialize;

use super::{CodeFormat, Confidence, Parsed, SourceText, sure};
use crate::json::{self, BoundedMap, Scalar};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, text};
use crate::text::{SourceFault, lines, name_value, need, number, parameter_value, shown};
use crate::units::TIMES;

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "jmh",
    tool: "JMH",
    about: "scores by mode; in JSON the means of forks (separate processes) are samples; the terminal's error over \
            all iterations is a note",
    by_lines: true,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    if table::separator(head).is_some() {
        return Confidence::Sure;
    }
    let json = sure(head, &["\"jmhVersion\""]).max(sure(head, &["\"primaryMetric\"", "\"scoreUnit\""]));
    json.max(sure(head, &["# JMH version:"])).max(sure(head, &["Benchmark", " Mode ", " Cnt ", " Score ", " Units"]))
}

#[derive(Deserialize)]
struct JmhEntry {
    #[serde(default, rename = "jmhVersion")]
    version: String,
    benchmark: String,
    mode: String,
    #[serde(default)]
    threads: f64,
    #[serde(default, rename = "jdkVersion")]
    jdk: String,
    #[serde(default, rename = "vmName")]
    vm: String,
    #[serde(default)]
    params: BoundedMap<Scalar>,
    #[serde(rename = "primaryMetric")]
    primary: JmhMetric,
    /// Settings: named here so that they do not count as unread.
    #[serde(default, rename = "forks")]
    _forks: Scalar,
    #[serde(default, rename = "warmupIterations")]
    _warmups: Scalar,
    #[serde(default, rename = "warmupBatchSize")]
    _warmup_batch: Scalar,
    #[serde(default, rename = "measurementIterations")]
    _iterations: Scalar,
    #[serde(default, rename = "measurementBatchSize")]
    _batch: Scalar,
}

#[derive(Deserialize)]
struct JmhMetric {
    score: f64,
    #[serde(rename = "scoreUnit")]
    unit: String,
    #[serde(default, rename = "rawData")]
    raw: Vec<Vec<f64>>,
    /// These follow from the raw data.
    #[serde(default, rename = "scoreError")]
    _error: Scalar,
    #[serde(default, rename = "scoreConfidence")]
    _confidence: Vec<Scalar>,
    #[serde(default, rename = "scorePercentiles")]
    _percentiles: BoundedMap<Scalar>,
}

/// What sbt writes before each line.
const SBT: &str = "[info]";

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    if let Some(separator) = table::separator(source.text.as_bytes()) {
        return Ok(Parsed::Sheets(vec![table::parse(source, separator)?]));
    }
    let begins = source.text.trim_start();
    if !begins.starts_with('[') || begins.starts_with(SBT) {
        return Ok(Parsed::Sheets(vec![terminal(source)?]));
    }
    let entries: Vec<JmhEntry> = json::read_noting(source.text, &source.ledger)?;
    let mut sheet = SourceSheet::default();
    for entry in &entries {
        if !entry.version.is_empty() {
            sheet.version = Some(entry.version.clone());
        }
        sheet.fact(text("runtime", format!("{} {}", entry.vm, entry.jdk).trim(), "JMH", &[]));
        let (scale, metric) = unit(&entry.primary.unit, 0)?;
        let id = id(&entry.mode, &metric, 0)?;
        let mut reading = SourceReading::new(id, &entry.benchmark, entry.primary.score * scale, metric);
        reading = reading.at("benchmark", parameter_value(&entry.benchmark));
        if entry.threads > 1.0 {
            reading = reading.at("threads", entry.threads.to_string());
        }
        for (name, value) in &entry.params.0 {
            reading = reading.at(&parameter_value(name).replace('=', ":"), parameter_value(&value.words()));
        }
        // Each fork is a process of its own, with its iterations.
        let mean = |fork: &Vec<f64>| fork.iter().sum::<f64>() / fork.len() as f64 * scale;
        let forks: Vec<f64> = entry.primary.raw.iter().filter(|fork| !fork.is_empty()).map(mean).collect();
        let iterations = entry.primary.raw.first().map_or(1, |fork| u32::try_from(fork.len()).unwrap_or(u32::MAX));
        reading = reading.counts(u32::try_from(forks.len()).unwrap_or(u32::MAX), iterations);
        let iterations: Vec<f64> = entry.primary.raw.iter().flatten().map(|value| value * scale).collect();
        let (least, greatest) =
            (iterations.iter().copied().reduce(f64::min), iterations.iter().copied().reduce(f64::max));
        sheet.readings.push(match (&forks[..], least.zip(greatest)) {
            ([_, _, ..], _) => reading.spread(SourceSpread::Samples(forks)),
            ([_], Some((least, greatest))) if iterations.len() > 1 => {
                reading.spread(SourceSpread::Range(least, greatest)).note("the range is of iterations in one process")
            }
            _ => reading,
        });
    }
    Ok(Parsed::Sheets(vec![sheet]))
}

/// The id of a mode, by its short and its long name. What counts bytes is no time, whatever its mode.
fn id(mode: &str, metric: &Metric, at: usize) -> Result<&'static str, SourceFault> {
    Ok(match mode {
        _ if metric.unit == Unit::Bytes => "jmh.bytes",
        "thrpt" | "Throughput" => "jmh.throughput",
        "avgt" | "AverageTime" => "jmh.average_time",
        "sample" | "SampleTime" => "jmh.sample_time",
        "ss" | "SingleShotTime" => "jmh.single_shot_time",
        other => return Err(SourceFault::new(format!("the mode '{}' is not known", shown(other)), at)),
    })
}

/// `ops/s`, `ns/op`, `ops/us`.
fn unit(unit: &str, at: usize) -> Result<(f64, Metric), SourceFault> {
    let time = |word: &str| match word {
        "hr" => Some(3600.0),
        "day" => Some(86400.0),
        other => TIMES.iter().find(|(name, _)| *name == other).map(|(_, scale)| *scale),
    };
    let found = match unit.split_once('/') {
        Some(("ops", per)) => time(per).map(|scale| (1.0 / scale, Metric::higher(Unit::PerSecond, "operations"))),
        // Of an allocation or a size of objects.
        Some(("B", "op")) => Some((1.0, Metric::lower(Unit::Bytes, "operation"))),
        Some((of, "op")) => time(of).map(|scale| (scale, Metric::lower(Unit::Seconds, "operation"))),
        _ => None,
    };
    found.ok_or_else(|| SourceFault::new(format!("the unit '{}' is not known", shown(unit)), at))
}

/// `Benchmark  (size)  Mode  Cnt  Score   Error  Units` and its rows.
fn terminal(source: &SourceText<'_>) -> Result<SourceSheet, SourceFault> {
    let mut sheet = SourceSheet::default();
    let mut heading: Vec<&str> = Vec::new();
    // Threads of the benchmarks whose table follows, unless they differ.
    let mut threads: Vec<String> = Vec::new();
    for (at, line) in lines(source.text) {
        let line = line.trim_start().strip_prefix(SBT).map_or(line, str::trim_start);
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.first() == Some(&"Benchmark") && words.contains(&"Mode") {
            let known = ["Benchmark", "Mode", "Cnt", "Samples", "Score", "Error", "Units"];
            if let Some(other) = words.iter().find(|word| !known.contains(word) && !word.starts_with('(')) {
                return Err(SourceFault::new(format!("its column '{}' is not known", shown(other)), at));
            }
            heading = words;
            sheet.begin_process();
        } else if let Some(version) = line.strip_prefix("# JMH version:") {
            sheet.version = Some(version.trim().to_owned());
        } else if let Some(vm) = line.strip_prefix("# VM version:") {
            sheet.fact(text("runtime", &name_value(vm), "JMH", &[]));
        } else if is_progress(line) {
            // A further process begins: its rows stand below a heading of their own.
            if !std::mem::take(&mut heading).is_empty() {
                threads.clear();
            }
            if let Some(count) = line.strip_prefix("# Threads:").and_then(|rest| rest.split_whitespace().next()) {
                threads.push(parameter_value(count));
                threads.dedup();
            }
        } else if !heading.is_empty() && words.len() >= 4 {
            let Some(reading) = row(&heading, &words, at)? else { continue };
            sheet.readings.push(match &threads[..] {
                [count] if count != "1" => reading.at("threads", count.clone()),
                [_, _, ..] => {
                    reading.note("measured with differing numbers of threads, which the table does not state")
                }
                _ => reading,
            });
        } else {
            continue;
        }
        source.took(at);
    }
    Ok(sheet)
}

/// Settings and single iterations, of which the table is the result.
fn is_progress(line: &str) -> bool {
    let begins = ["# ", "Benchmark result is saved to", "Iteration ", "Result ", "Histogram", "Warmup"];
    begins.iter().any(|begin| line.starts_with(begin)) || line.contains("(min, avg, max)") || line.contains("CI (")
}

/// Rows of profilers and of percentiles: other quantities than the score.
fn is_part(benchmark: &str) -> bool {
    benchmark.contains(':') || benchmark.contains("\u{b7}p")
}

/// The score of a benchmark, as printed.
fn benchmark(name: &str, mode: &str, score: &str, units: &str, at: usize) -> Result<SourceReading, SourceFault> {
    let (scale, metric) = unit(units, at)?;
    let value = need(score, at)? * scale;
    let reading = SourceReading::new(id(mode, &metric, at)?, name, value, metric).printed_in(score, scale);
    Ok(reading.at("benchmark", parameter_value(name)))
}

fn row(heading: &[&str], words: &[&str], at: usize) -> Result<Option<SourceReading>, SourceFault> {
    // The error stands behind a sign of its own, and is absent with few samples.
    let cells: Vec<&str> =
        words.iter().copied().filter(|word| !["\u{b1}", "+-", "\u{2248}", "?"].contains(word)).collect();
    let mut names: Vec<&str> = heading.to_vec();
    if cells.len() + 1 == names.len() {
        names.retain(|name| *name != "Error");
    }
    if cells.len() + 2 == heading.len() {
        names.retain(|name| !["Error", "Cnt"].contains(name));
    }
    if cells.len() != names.len() {
        return Ok(None);
    }
    let cell = |name: &str| names.iter().position(|known| *known == name).map(|at| cells[at]);
    let (Some(mode), Some(score), Some(units)) = (cell("Mode"), cell("Score"), cell("Units")) else { return Ok(None) };
    let name = cell("Benchmark").unwrap_or_default();
    if is_part(name) {
        return Ok(None);
    }
    let mut reading = benchmark(name, mode, &score.replace(',', "."), units, at)?;
    for (name, value) in names.iter().zip(&cells).filter(|(name, _)| name.starts_with('(')) {
        let parameter = name.trim_matches(['(', ')']).replace('=', ":");
        reading = reading.at(&parameter, parameter_value(value));
    }
    if let Some(error) = cell("Error").and_then(|error| number(&error.replace(',', "."))) {
        reading = reading.note(format!("JMH's error at 99.9% over iterations: {error} {}", parameter_value(units)));
    }
    debug_assert!(reading.metric.better != Better::Higher || reading.metric.unit == Unit::PerSecond);
    Ok(Some(reading))
}
