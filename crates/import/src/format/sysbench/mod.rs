//! sysbench 0.4 to 1.1: events a second, memory transfer, queries, latency of events.

mod files;

use std::collections::BTreeMap;

use files::{TESTS, files, files_setting};

use super::{CodeFormat, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, rate, seconds};
use crate::text::{SourceFault, after, axis_value, between, lines, need, number};

pub(super) static FORMAT: CodeFormat = CodeFormat {
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
    // Of the banner: a block of a page may be indented.
    let mut indent = "";
    let mut counts = SysbenchCounts::default();
    for (at, line) in lines(source.text) {
        let trimmed = line.trim();
        if let Some(version) = banner(trimmed) {
            indent = &line[..line.len() - line.trim_start().len()];
            finish(&mut sheet, &std::mem::take(&mut counts), &point);
            sheet.begin_process();
            sheet.states_version(version);
            (begun, banner_at) = (true, at);
            source.took(at);
            (point, events, section) = (BTreeMap::new(), None, "");
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
        section = heading(line.strip_prefix(indent).unwrap_or(line)).unwrap_or(section);
        // The last line of the section; before version 1.0 that of the percentile.
        let ends = section == LATENCY && ["sum:", "approx."].iter().any(|begin| trimmed.starts_with(begin));
        counts.note_time(trimmed);
        if let Some((axis, value)) = option(trimmed) {
            point.insert(axis, axis_value(value));
        } else if files_setting(trimmed, &mut point) {
            // It is part of the point, if it is not the usual one.
        } else if counts.took(section, trimmed) || (section == HISTOGRAM && is_bucket(trimmed)) {
            // How many queries of each kind a transaction has, and counts of latencies.
        } else if trouble(trimmed) {
            sheet.notes.push(trimmed.split_whitespace().collect::<Vec<_>>().join(" "));
        } else if let Some(readings) = files(section, trimmed, at)? {
            sheet.readings.extend(readings.into_iter().map(|reading| placed(reading, &point)));
        } else if let Some(reading) = figure(trimmed, at)? {
            sheet.readings.push(placed(reading, &point));
        } else if let (true, Some((name, value))) =
            (section == LATENCY && trimmed != section && !OLD.contains(&trimmed), trimmed.split_once(':'))
        {
            let new = || SourceReading::new("sysbench.latency", "Latency of events", f64::NAN, seconds("event"));
            latency(events.get_or_insert_with(new), name, value, at)?;
            if ends {
                open = None;
                sheet.readings.extend(events.take().map(|reading| placed(in_order(reading), &point)));
            }
        } else if !NOTHING.iter().any(|words| trimmed.starts_with(words)) {
            continue;
        }
        source.took(at);
    }
    finish(&mut sheet, &counts, &point);
    match open {
        Some(place) => Err(SourceFault::new("the run that begins here has no latency", place)),
        None => Ok(Parsed::Sheets(vec![sheet])),
    }
}

/// Whether a database test had to wait or to try again: `deadlocks:   6   (0.10 per sec.)`.
fn trouble(line: &str) -> bool {
    let names = ["deadlocks:", "ignored errors:", "reconnects:"];
    let rest = names.iter().find_map(|name| line.strip_prefix(name));
    rest.and_then(|rest| number(rest.split_whitespace().next()?)).is_some_and(|count| count > 0.0)
}

/// The section that a line begins.
fn heading(line: &str) -> Option<&str> {
    let trimmed = line.trim();
    let begins = !line.starts_with(char::is_whitespace) && (trimmed.ends_with(':') || trimmed == HISTOGRAM);
    if OLD.contains(&trimmed) { Some(LATENCY) } else { begins.then_some(trimmed) }
}

const LATENCY: &str = "Latency (ms):";

/// Headings of the same section before version 1.0, inside another.
const OLD: [&str; 2] = ["response time:", "per-request statistics:"];

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
    /// How many events there were, and the seconds that they took, as printed.
    events: Option<f64>,
    seconds: String,
}

impl SysbenchCounts {
    /// Keeps the time and the number of events, from which versions before 1.0 compute no rate.
    fn note_time(&mut self, line: &str) {
        if let Some(count) = line.strip_prefix("total number of events:").and_then(number) {
            self.events = Some(count);
        } else if let Some(time) = line.strip_prefix("total time:") {
            time.trim().trim_end_matches('s').clone_into(&mut self.seconds);
        }
    }

    /// Events of the test of processors a second.
    fn rate(&self) -> Option<SourceReading> {
        let events = self.events.filter(|events| *events > 0.0)?;
        let time = number(&self.seconds).filter(|time| *time > 0.0)?;
        let reading = SourceReading::new("sysbench.cpu_events", "CPU events", events / time, rate("events"));
        let rounding = SourceReading::new("", "", time, rate("")).printed(&self.seconds).rounding.unwrap_or_default();
        let note = format!("{events} events in {} s", self.seconds);
        Some(reading.rounded(rounding).note(note))
    }

    /// Whether the line is a count of queries.
    fn took(&mut self, section: &str, line: &str) -> bool {
        if !["SQL statistics:", "OLTP test statistics:"].contains(&section) {
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
fn finish(sheet: &mut SourceSheet, counts: &SysbenchCounts, point: &BTreeMap<&'static str, String>) {
    let first = sheet.processes.last().copied().unwrap_or_default();
    if counts.events == Some(0.0) {
        // Zeros of a test that did nothing are neither rates nor bounds of a latency.
        sheet.readings.truncate(first);
        if !sheet.notes.iter().any(|note| note == NO_EVENTS) {
            sheet.notes.push(NO_EVENTS.to_owned());
        }
        return;
    }
    let measured = sheet.readings.get(first..).unwrap_or_default();
    // A run without a latency broke off.
    let rated = measured.iter().any(|reading| reading.id == "sysbench.cpu_events");
    if point.contains_key("primes") && !rated && measured.iter().any(|reading| reading.id == "sysbench.latency") {
        sheet.readings.extend(counts.rate().map(|reading| placed(reading, point)));
    }
    if counts.transactions > 0.0 {
        let each = [counts.read, counts.write, counts.other].map(|count| (count / counts.transactions).round());
        let [read, write, other] = each;
        sheet.process_at("queries", &format!("{read} read + {write} write + {other} other"));
    }
}

const NO_EVENTS: &str = "a run without a single event was left out: it measured nothing";

/// Beginnings of lines that state nothing to keep: counts and times behind the rates, and settings.
const NOTHING: [&str; 21] = [
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
    "Number of IO requests",
    "Doing ",
    "[ ",
    "Report intermediate",
    "deadlocks:",
    "Operations performed:",
    "total time taken by event execution",
    "Memory transfer size:",
];

fn placed(reading: SourceReading, point: &BTreeMap<&'static str, String>) -> SourceReading {
    point.iter().fold(reading, |reading, (axis, value)| reading.at(axis, value.clone()))
}

fn banner(line: &str) -> Option<String> {
    let rest = after(line, "sysbench ")?;
    let version = rest.split_whitespace().next()?;
    let named = line.contains("using") || line.ends_with("multi-threaded system evaluation benchmark");
    let version = version.trim_end_matches(':');
    (named && version.starts_with(|c: char| c.is_ascii_digit())).then(|| version.to_owned())
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
        // Before version 1.0.
        ("Maximum prime number checked in CPU test:", "primes"),
        ("Memory block size:", "block"),
        ("Memory operations type:", "operation"),
        ("Memory scope type:", "scope"),
    ];
    if let Some(doing) = line.strip_prefix("Doing ").and_then(|rest| rest.strip_suffix(" test")) {
        return TESTS.iter().find(|(name, _)| *name == doing).map(|(_, test)| ("test", *test));
    }
    options.iter().find_map(|(name, axis)| Some((*axis, line.strip_prefix(name)?)))
}

fn figure(line: &str, at: usize) -> Result<Option<SourceReading>, SourceFault> {
    let plain = |name: &str| line.strip_prefix(name).map(str::trim);
    if let Some(value) = plain("events per second:") {
        let events = SourceReading::new("sysbench.cpu_events", "CPU events", need(value, at)?, rate("events"));
        return Ok(Some(events.printed(value)));
    }
    if let Some(value) = plain("events/s (eps):") {
        return Ok(Some(
            SourceReading::new("sysbench.events", "Events", need(value, at)?, rate("events")).printed(value),
        ));
    }
    let transfer =
        between(line, "MiB transferred (", "MiB/sec").or_else(|| between(line, "MB transferred (", "MB/sec"));
    if let Some(value) = transfer {
        let bytes = need(value, at)? * 1_048_576.0;
        let of = bytes_per_second("bytes");
        return Ok(Some(SourceReading::new("sysbench.memory_transfer", "Memory transfer", bytes, of).printed(value)));
    }
    for (name, id, of) in [
        ("Total operations:", "sysbench.operations", "operations"),
        ("transactions:", "sysbench.transactions", "transactions"),
        ("queries:", "sysbench.queries", "queries"),
        // Before version 1.0.
        ("read/write requests:", "sysbench.read_write_requests", "requests"),
        ("other operations:", "sysbench.other_operations", "operations"),
        ("Operations performed:", "sysbench.operations", "operations"),
    ] {
        if let Some(value) =
            plain(name).and_then(|rest| between(rest, "(", "per").or_else(|| between(rest, "(", "ops/sec)")))
        {
            return Ok(Some(SourceReading::new(id, of, need(value, at)?, rate(of)).printed(value)));
        }
    }
    Ok(None)
}

/// Quantiles in their order. It marks a percentile that it does not know by a time beyond the maximum.
fn in_order(mut events: SourceReading) -> SourceReading {
    events.quantiles.sort_by(|a, b| a.0.total_cmp(&b.0));
    let greatest = events.quantiles.iter().find(|(quantile, _)| *quantile == 1.0).map(|(_, value)| *value);
    events.quantiles.retain(|(_, value)| greatest.is_none_or(|greatest| *value <= greatest));
    events
}

/// The average of single events is the value; the rest of the section describes their distribution.
fn latency(reading: &mut SourceReading, name: &str, value: &str, at: usize) -> Result<(), SourceFault> {
    let value = value.trim().trim_end_matches("ms");
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
            let old = name.strip_prefix("approx.").and_then(|rest| rest.strip_suffix("percentile"));
            let percent = old.or_else(|| name.split_once("th percentile").map(|(percent, _)| percent));
            percent.and_then(number).map(|percent| percent / 100.0)
        }
    };
    reading.quantiles.extend(quantile.map(|quantile| (quantile, milliseconds)));
    Ok(())
}
