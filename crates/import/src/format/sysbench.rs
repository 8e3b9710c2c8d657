//! sysbench 1.x: events a second, memory transfer, queries, latency of events.

use std::collections::BTreeMap;

use super::{ImportFormat, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, rate, seconds};
use crate::text::{SourceFault, after, axis_value, between, lines, need, number};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "sysbench",
    tool: "sysbench",
    about: "rates and event latency of the cpu, memory, threads, mutex, fileio and database tests; each run in the file is a run",
    by_lines: true,
    detect: |head| sure(head, &["sysbench", "Running the test with following options"]),
    parse,
};

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let mut begun = false;
    let (mut point, mut section, mut open, mut events) = (BTreeMap::new(), "", None, None);
    for (at, line) in lines(source.text) {
        let trimmed = line.trim();
        if let Some(version) = banner(trimmed) {
            sheet.version = Some(version);
            sheet.begin_process();
            begun = true;
            source.took(at);
            (point, events) = (BTreeMap::new(), None);
            if let Some(place) = open.replace(at) {
                return Err(SourceFault::new("the run that begins here has no latency", place));
            }
        }
        if !begun {
            continue;
        }
        if !line.starts_with(char::is_whitespace) && trimmed.ends_with(':') {
            section = trimmed;
        }
        if section == "Latency (ms):" && trimmed.starts_with("sum:") {
            open = None;
            sheet.readings.extend(events.take().map(|reading| placed(reading, &point)));
        }
        if let Some((axis, value)) = option(trimmed) {
            point.insert(axis, axis_value(value));
        } else if let Some(reading) = figure(section, trimmed, at)? {
            sheet.readings.push(placed(reading, &point));
        } else if let (true, Some((name, value))) =
            (section == "Latency (ms):" && trimmed != section, trimmed.split_once(':'))
        {
            let new = || SourceReading::new("sysbench.latency", "Latency of events", f64::NAN, seconds("event"));
            latency(events.get_or_insert_with(new), name, value, at)?;
        } else if !NOTHING.iter().any(|words| trimmed.starts_with(words)) {
            continue;
        }
        source.took(at);
    }
    match open {
        Some(place) => Err(SourceFault::new("the run that begins here has no latency", place)),
        None => Ok(Parsed::Sheets(vec![sheet])),
    }
}

/// Beginnings of lines that state nothing to keep: counts and times behind the rates, and settings.
const NOTHING: [&str; 22] = [
    "total time:",
    "total number of events:",
    "events (avg/stddev):",
    "execution time (avg/stddev):",
    "read:",
    "write:",
    "other:",
    "total:",
    "ignored errors:",
    "reconnects:",
    "total size:",
    "time elapsed:",
    "Initializing random",
    "Extra file open flags",
    "Number of IO requests",
    "Read/Write ratio",
    "Periodic FSYNC",
    "Calling fsync",
    "Using synchronous",
    "Doing ",
    "[ ",
    "Report intermediate",
];

fn placed(reading: SourceReading, point: &BTreeMap<&'static str, String>) -> SourceReading {
    point.iter().fold(reading, |reading, (axis, value)| reading.at(axis, value.clone()))
}

fn banner(line: &str) -> Option<String> {
    let rest = after(line, "sysbench ")?;
    let version = rest.split_whitespace().next()?;
    (line.contains("using") && version.starts_with(|c: char| c.is_ascii_digit())).then(|| version.to_owned())
}

fn option(line: &str) -> Option<(&'static str, &str)> {
    let options = [
        ("Number of threads:", "threads"),
        ("Prime numbers limit:", "primes"),
        ("block size:", "block"),
        ("operation:", "operation"),
        ("scope:", "scope"),
        ("Block size", "block"),
        ("Target transaction rate:", "target"),
    ];
    options.iter().find_map(|(name, axis)| Some((*axis, line.strip_prefix(name)?)))
}

fn figure(section: &str, line: &str, at: usize) -> Result<Option<SourceReading>, SourceFault> {
    let plain = |name: &str| line.strip_prefix(name).map(str::trim);
    if let Some(value) = plain("events per second:") {
        return Ok(Some(SourceReading::new("sysbench.cpu_events", "CPU events", need(value, at)?, rate("events"))));
    }
    if let Some(value) = plain("events/s (eps):") {
        return Ok(Some(SourceReading::new("sysbench.events", "Events", need(value, at)?, rate("events"))));
    }
    if let Some(value) = between(line, "MiB transferred (", "MiB/sec") {
        let bytes = need(value, at)? * 1_048_576.0;
        return Ok(Some(SourceReading::new(
            "sysbench.memory_transfer",
            "Memory transfer",
            bytes,
            bytes_per_second("bytes"),
        )));
    }
    for (name, id, of) in [
        ("Total operations:", "sysbench.operations", "operations"),
        ("transactions:", "sysbench.transactions", "transactions"),
        ("queries:", "sysbench.queries", "queries"),
    ] {
        if let Some(value) = plain(name).and_then(|rest| between(rest, "(", "per")) {
            return Ok(Some(SourceReading::new(id, of, need(value, at)?, rate(of))));
        }
    }
    for (name, id, of) in [
        ("reads/s:", "sysbench.file_reads", "reads"),
        ("writes/s:", "sysbench.file_writes", "writes"),
        ("fsyncs/s:", "sysbench.file_fsyncs", "fsyncs"),
    ] {
        if let Some(value) = plain(name) {
            return Ok(Some(SourceReading::new(id, of, need(value, at)?, rate(of))));
        }
    }
    for (name, id) in [("read, MiB/s:", "sysbench.file_read"), ("written, MiB/s:", "sysbench.file_written")] {
        if let Some(value) = plain(name).filter(|_| section == "Throughput:") {
            return Ok(Some(SourceReading::new(id, name, need(value, at)? * 1_048_576.0, bytes_per_second("bytes"))));
        }
    }
    Ok(None)
}

/// The average of single events is the value; the rest of the section describes their distribution.
fn latency(reading: &mut SourceReading, name: &str, value: &str, at: usize) -> Result<(), SourceFault> {
    let milliseconds = need(value, at)? * 1e-3;
    let quantile = match name.trim() {
        "avg" => {
            reading.value = milliseconds;
            None
        }
        "min" => Some(0.0),
        "max" => Some(1.0),
        name => {
            name.split_once("th percentile").and_then(|(percent, _)| number(percent)).map(|percent| percent / 100.0)
        }
    };
    reading.quantiles.extend(quantile.map(|quantile| (quantile, milliseconds)));
    Ok(())
}
