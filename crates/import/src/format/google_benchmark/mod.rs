//! Google Benchmark's JSON, and its table on the terminal: repetitions in one process, or their aggregates.

mod console;

use model::Primitive;
use serde::Deserialize;

use super::{CodeFormat, Confidence, Parsed, SourceText, sure};
use crate::date::iso;
use crate::json::{self, List};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, bytes_per_second, number, rate, seconds, text};
use crate::text::{SourceFault, axis_value, shown};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "google-benchmark",
    tool: "Google Benchmark",
    about: "real and CPU time, bytes and items a second; repetitions run in one process, so they are a range and not \
            an interval of confidence",
    by_lines: false,
    detect: |head| {
        sure(head, &["\"context\"", "\"library_build_type\""])
            .max(sure(head, &["\"benchmarks\"", "\"real_time\"", "\"cpu_time\""]))
    },
    parse,
};

pub(super) static CONSOLE: CodeFormat = CodeFormat {
    name: "google-benchmark-text",
    tool: "Google Benchmark",
    about: "the table on the terminal: real and CPU time, bytes and items a second, with few digits; of repetitions as of \
            the JSON; counters of the benchmarks' own are only counted",
    by_lines: true,
    detect: console::detect,
    parse: |source| Ok(Parsed::Sheets(vec![console::parse(source)?])),
};

#[derive(Deserialize)]
struct GoogleBenchmarkDocument {
    #[serde(default)]
    context: Context,
    benchmarks: List<GoogleBenchmarkEntry>,
}

#[derive(Deserialize, Default)]
struct Context {
    #[serde(default)]
    date: String,
    #[serde(default)]
    host_name: String,
    #[serde(default)]
    executable: String,
    num_cpus: Option<f64>,
    mhz_per_cpu: Option<f64>,
    library_build_type: Option<String>,
    library_version: Option<String>,
}

#[derive(Deserialize)]
struct GoogleBenchmarkEntry {
    name: String,
    run_name: Option<String>,
    aggregate_name: Option<String>,
    real_time: Option<f64>,
    cpu_time: Option<f64>,
    time_unit: Option<String>,
    bytes_per_second: Option<f64>,
    items_per_second: Option<f64>,
    #[serde(default)]
    error_occurred: bool,
    /// Since 1.8: it was not measured, for a reason of its own.
    #[serde(default)]
    skipped: bool,
}

/// All entries of one benchmark.
#[derive(Default)]
struct GoogleBenchmarkGroup<'a> {
    name: &'a str,
    repetitions: Vec<&'a GoogleBenchmarkEntry>,
    median: Option<&'a GoogleBenchmarkEntry>,
    mean: Option<&'a GoogleBenchmarkEntry>,
    deviation: Option<&'a GoogleBenchmarkEntry>,
    failed: bool,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let document: GoogleBenchmarkDocument = json::read_noting(source.text, &source.ledger)?;
    document.benchmarks.0.iter().try_for_each(check)?;
    let context = document.context;
    let mut sheet = SourceSheet {
        version: context.library_version,
        machine: context.host_name,
        started: iso(&context.date),
        command: Some(context.executable).filter(|program| !program.is_empty()).into_iter().collect(),
        ..SourceSheet::default()
    };
    sheet.facts.extend(context.num_cpus.map(|count| number("cpu.count", count, "1", "context", &[])));
    let clock =
        context.mhz_per_cpu.map(|clock| number("cpu.clock", clock * 1e6, "Hz", "context", &[Primitive::CoreClock]));
    sheet.facts.extend(clock);
    sheet.facts.extend(text(
        "compiler.build",
        context.library_build_type.as_deref().unwrap_or_default(),
        "context",
        &[],
    ));
    add(&mut sheet, &document.benchmarks.0);
    Ok(Parsed::Sheets(vec![sheet]))
}

/// Adds the figures of entries.
fn add(sheet: &mut SourceSheet, entries: &[GoogleBenchmarkEntry]) {
    for group in groups(entries) {
        if group.failed && group.repetitions.is_empty() && group.median.is_none() && group.mean.is_none() {
            sheet.notes.push(shown(&format!("benchmark '{}' failed or was skipped", group.name)));
        }
        readings(sheet, &group);
    }
}

fn groups(entries: &[GoogleBenchmarkEntry]) -> Vec<GoogleBenchmarkGroup<'_>> {
    let mut places = std::collections::HashMap::new();
    let mut groups: Vec<GoogleBenchmarkGroup<'_>> = Vec::new();
    for entry in entries {
        let name = entry.run_name.as_deref().unwrap_or(&entry.name);
        let at = *places.entry(name).or_insert_with(|| {
            groups.push(GoogleBenchmarkGroup { name, ..GoogleBenchmarkGroup::default() });
            groups.len() - 1
        });
        let group = &mut groups[at];
        match entry.aggregate_name.as_deref() {
            _ if entry.error_occurred || entry.skipped => group.failed = true,
            None => group.repetitions.push(entry),
            Some("median") => group.median = Some(entry),
            Some("mean") => group.mean = Some(entry),
            Some("stddev") => group.deviation = Some(entry),
            // Complexity, coefficient of variation and users' own statistics are not figures of the benchmark.
            Some(_) => {}
        }
    }
    groups
}

/// Seconds of the entry's unit, which [`check`] found known.
fn scale(entry: &GoogleBenchmarkEntry) -> f64 {
    match entry.time_unit.as_deref() {
        Some("us") => 1e-6,
        Some("ms") => 1e-3,
        Some("s") => 1.0,
        _ => 1e-9,
    }
}

fn check(entry: &GoogleBenchmarkEntry) -> Result<(), SourceFault> {
    match entry.time_unit.as_deref() {
        None | Some("ns" | "us" | "ms" | "s") => Ok(()),
        Some(unit) => Err(SourceFault::new(format!("the unit '{}' of a time is not known", shown(unit)), 0)),
    }
}

fn readings(sheet: &mut SourceSheet, group: &GoogleBenchmarkGroup<'_>) {
    type Get = fn(&GoogleBenchmarkEntry) -> Option<f64>;
    let figures: [(&str, &str, model::Metric, Get); 4] = [
        ("real_time", "Real time", seconds("iteration"), |entry| entry.real_time.map(|time| time * scale(entry))),
        ("cpu_time", "CPU time", seconds("iteration"), |entry| entry.cpu_time.map(|time| time * scale(entry))),
        ("bytes", "Bytes", bytes_per_second("bytes"), |entry| entry.bytes_per_second),
        ("items", "Items", rate("items"), |entry| entry.items_per_second),
    ];
    for (id, title, metric, get) in figures {
        let mut values: Vec<f64> = group.repetitions.iter().filter_map(|entry| get(entry)).collect();
        values.sort_by(f64::total_cmp);
        let stated = group.median.or(group.mean).and_then(get);
        let Some(value) = stats::median(&values).or(stated) else { continue };
        let mut reading = SourceReading::new(format!("google_benchmark.{id}"), title, value, metric);
        reading = reading.at("benchmark", axis_value(group.name));
        if let [least, .., greatest] = values[..] {
            let count = u32::try_from(values.len()).unwrap_or(u32::MAX);
            reading = reading.spread(SourceSpread::Range(least, greatest)).counts(1, count);
            reading = reading.note("the range is of repetitions in one process");
        }
        if let Some(deviation) = group.deviation.and_then(get) {
            reading = reading.note(format!("standard deviation {deviation:e} over repetitions in one process"));
        }
        if group.failed {
            reading = reading.note("a repetition failed or was skipped, and is left out");
        }
        sheet.readings.push(reading);
    }
}
