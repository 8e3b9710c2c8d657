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
    let (mut begun, mut banner_at) = (false, 0);
    let (mut point, mut section, mut open, mut events) = (BTreeMap::new(), "", None, None);
    let mut counts = SysbenchCounts::default();
    for (at, line) in lines(source.text) {
        let trimmed = line.trim();
        if let Some(version) = banner(trimmed) {
            sheet.version = Some(version);
            finish(&mut sheet, &std::mem::take(&mut counts));
            sheet.begin_process();
            (begun, banner_at) = (true, at);
            source.took(at);
            (point, events) = (BTreeMap::new(), None);
            if let Some(place) = open.take() {
                return Err(SourceFault::new("the run that begins here has no latency", place));
            }
        }
        // Preparing and cleaning up print the banner too.
        if trimmed.starts_with("Running the test with following options") {
            open = Some(banner_at);
        }
        if !begun {
            continue;
        }
        if !line.starts_with(char::is_whitespace) && (trimmed.ends_with(':') || trimmed == HISTOGRAM) {
            section = trimmed;
        }
        if section == "Latency (ms):" && trimmed.starts_with("sum:") {
            open = None;
            sheet.readings.extend(events.take().map(|reading| placed(reading, &point)));
        }
        if let Some((axis, value)) = option(trimmed) {
            point.insert(axis, axis_value(value));
        } else if counts.took(section, trimmed) || (section == HISTOGRAM && is_bucket(trimmed)) {
            // How many queries of each kind a transaction has, and counts of latencies.
        } else if let Some(readings) = files(section, trimmed, at)? {
            sheet.readings.extend(readings.into_iter().map(|reading| placed(reading, &point)));
        } else if let Some(reading) = figure(trimmed, at)? {
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
    finish(&mut sheet, &counts);
    match open {
        Some(place) => Err(SourceFault::new("the run that begins here has no latency", place)),
        None => Ok(Parsed::Sheets(vec![sheet])),
    }
}

const HISTOGRAM: &str = "Latency histogram (values are in milliseconds)";

/// `       0.192 |****************************** 3121`
fn is_bucket(line: &str) -> bool {
    line.split_once('|').is_some_and(|(value, _)| number(value).is_some())
}

/// Queries of a database test by kind, and its transactions: their ratio tells one script from another, whose name it
/// does not print.
#[derive(Default)]
struct SysbenchCounts {
    read: f64,
    write: f64,
    other: f64,
    transactions: f64,
}

impl SysbenchCounts {
    /// Whether the line is a count of queries.
    fn took(&mut self, section: &str, line: &str) -> bool {
        if section != "SQL statistics:" {
            return false;
        }
        let Some((name, rest)) = line.split_once(':') else { return false };
        let Some(count) = rest.split_whitespace().next().and_then(number) else { return false };
        match name {
            "read" => self.read = count,
            "write" => self.write = count,
            "other" => self.other = count,
            // The line states the rate too, which is read elsewhere.
            "transactions" => self.transactions = count,
            _ => return false,
        }
        name != "transactions"
    }
}

/// The run ends: what tells its test from others of the same file.
fn finish(sheet: &mut SourceSheet, counts: &SysbenchCounts) {
    let first = sheet.processes.last().copied().unwrap_or_default();
    if counts.transactions > 0.0 {
        let each = [counts.read, counts.write, counts.other].map(|count| (count / counts.transactions).round());
        let [read, write, other] = each;
        sheet.process_at("queries", &format!("{read} read + {write} write + {other} other"));
        return;
    }
    // The tests of mutexes and threads print nothing of themselves: two of them are not known to be alike.
    let new = &sheet.readings[first.min(sheet.readings.len())..];
    if new.iter().all(|reading| reading.id == "sysbench.latency") && sheet.processes.len() > 1 {
        sheet.processes.pop();
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
    if let Some(doing) = line.strip_prefix("Doing ").and_then(|rest| rest.strip_suffix(" test")) {
        return TESTS.iter().find(|(name, _)| *name == doing).map(|(_, test)| ("test", *test));
    }
    options.iter().find_map(|(name, axis)| Some((*axis, line.strip_prefix(name)?)))
}

/// Tests of fileio, by the names of its option --file-test-mode.
const TESTS: [(&str, &str); 6] = [
    ("sequential write (creation)", "seqwr"),
    ("sequential rewrite", "seqrewr"),
    ("sequential read", "seqrd"),
    ("random read", "rndrd"),
    ("random write", "rndwr"),
    ("random r/w", "rndrw"),
];

fn figure(line: &str, at: usize) -> Result<Option<SourceReading>, SourceFault> {
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
    Ok(None)
}

/// The lines of fileio: `reads/s:  8259.22` and `read, MiB/s:  129.05`, or in one since 1.1.
fn files(section: &str, line: &str, at: usize) -> Result<Option<Vec<SourceReading>>, SourceFault> {
    let lines = [
        ("reads/s:", "sysbench.file_reads", "reads", 1.0),
        ("writes/s:", "sysbench.file_writes", "writes", 1.0),
        ("fsyncs/s:", "sysbench.file_fsyncs", "fsyncs", 1.0),
        ("read, MiB/s:", "sysbench.file_read", "", 1_048_576.0),
        ("written, MiB/s:", "sysbench.file_written", "", 1_048_576.0),
    ];
    for (name, id, of, scale) in lines {
        let Some(value) = line.strip_prefix(name) else { continue };
        let metric = if of.is_empty() { bytes_per_second("bytes") } else { rate(of) };
        let reading = SourceReading::new(id, if of.is_empty() { id } else { of }, need(value, at)? * scale, metric);
        return Ok(Some(performed(reading).into_iter().collect()));
    }
    if section == "Throughput:" && line.contains("IOPS=") { of_files(line, at).map(Some) } else { Ok(None) }
}

/// What was not done is stated with zeros.
fn performed(reading: SourceReading) -> Option<SourceReading> {
    Some(reading).filter(|reading| reading.value > 0.0)
}

/// `read:  IOPS=1234.50 19.25 MiB/s (20.19 MB/s)`, of fileio since 1.1.
fn of_files(line: &str, at: usize) -> Result<Vec<SourceReading>, SourceFault> {
    let kinds = [
        ("read:", "sysbench.file_reads", "reads", Some("sysbench.file_read")),
        ("write:", "sysbench.file_writes", "writes", Some("sysbench.file_written")),
        ("fsync:", "sysbench.file_fsyncs", "fsyncs", None),
    ];
    let found = kinds.iter().find_map(|(name, id, of, bytes)| {
        Some((*id, *of, *bytes, line.strip_prefix(name)?.trim().strip_prefix("IOPS=")?))
    });
    let Some((id, of, bytes, rest)) = found else { return Ok(Vec::new()) };
    let words: Vec<&str> = rest.split_whitespace().collect();
    let operations = SourceReading::new(id, of, need(words.first().unwrap_or(&""), at)?, rate(of));
    let mut readings: Vec<SourceReading> = performed(operations).into_iter().collect();
    if let (Some(id), [_, value, "MiB/s", ..]) = (bytes, &words[..]) {
        let value = need(value, at)? * 1_048_576.0;
        readings.extend(performed(SourceReading::new(id, id, value, bytes_per_second("bytes"))));
    }
    Ok(readings)
}

/// The average of single events is the value; the rest of the section describes their distribution.
fn latency(reading: &mut SourceReading, name: &str, value: &str, at: usize) -> Result<(), SourceFault> {
    let milliseconds = need(value, at)? * 1e-3;
    let quantile = match name.trim() {
        "avg" => {
            reading.value = milliseconds;
            // 0.00 is less than 5 microseconds.
            *reading = reading.clone().printed_in(value, 1e-3);
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
