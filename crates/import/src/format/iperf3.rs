//! iperf3 -J: the sums over the test, with the one-second intervals as the range.

use model::{Metric, Unit, format_size};
use serde::Deserialize;

use super::{ImportFormat, Parsed, SourceText, sure};
use crate::date::unix;
use crate::json::{self, List};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, bytes_per_second, text};
use crate::text::{SourceFault, axis_value};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "iperf3",
    tool: "iperf3",
    about: "bytes a second sent and received, retransmits, jitter and loss; intervals of one connection follow on each \
            other, so they are a range and not an interval of confidence",
    by_lines: false,
    detect: |head| sure(head, &["\"start\"", "\"test_start\""]).max(sure(head, &["\"iperf 3", "\"start\""])),
    parse,
};

#[derive(Deserialize)]
struct Iperf3Document {
    start: Iperf3Start,
    #[serde(default)]
    intervals: List<Iperf3Interval>,
    end: Option<End>,
    error: Option<String>,
}

#[derive(Deserialize, Default)]
struct Iperf3Start {
    version: Option<String>,
    system_info: Option<String>,
    timestamp: Option<Timestamp>,
    test_start: Option<Iperf3Test>,
}

#[derive(Deserialize)]
struct Timestamp {
    timesecs: f64,
}

#[derive(Deserialize)]
struct Iperf3Test {
    protocol: String,
    num_streams: f64,
    blksize: f64,
    #[serde(default)]
    reverse: f64,
    #[serde(default)]
    bidir: f64,
}

#[derive(Deserialize)]
struct Iperf3Interval {
    sum: Option<Sum>,
    sum_bidir_reverse: Option<Sum>,
}

#[derive(Deserialize)]
struct End {
    sum_sent: Option<Sum>,
    sum_received: Option<Sum>,
    sum: Option<Sum>,
    sum_sent_bidir_reverse: Option<Sum>,
    sum_received_bidir_reverse: Option<Sum>,
    sum_bidir_reverse: Option<Sum>,
    cpu_utilization_percent: Option<Iperf3Cpu>,
}

#[derive(Deserialize)]
struct Sum {
    bits_per_second: f64,
    retransmits: Option<f64>,
    jitter_ms: Option<f64>,
    lost_percent: Option<f64>,
    #[serde(default)]
    omitted: bool,
}

#[derive(Deserialize)]
struct Iperf3Cpu {
    host_total: f64,
    remote_total: f64,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let document: Iperf3Document = json::read_noting(source.text, &source.ledger)?;
    if let Some(error) = document.error {
        return Err(SourceFault::new(format!("iperf3 reports \"{}\"", crate::text::shown(&error)), 0));
    }
    let end = document.end.ok_or_else(|| SourceFault::new("it has no member 'end'", source.text.lines().count()))?;
    let mut sheet = SourceSheet {
        version: document.start.version.as_deref().map(|version| version.trim_start_matches("iperf ").to_owned()),
        ..SourceSheet::default()
    };
    if let Some(info) = &document.start.system_info {
        sheet.facts.extend(text("os.name", info, "iperf3", &[]));
        sheet.machine = info.split_whitespace().nth(1).unwrap_or_default().to_owned();
    }
    if let Some(timestamp) = document.start.timestamp {
        sheet.started = unix(timestamp.timesecs);
    }
    let rates = of_intervals(&document.intervals, |interval| interval.sum.as_ref());
    let reverse = of_intervals(&document.intervals, |interval| interval.sum_bidir_reverse.as_ref());
    let test = document.start.test_start;
    let sums = [
        ("sent", "Sent", end.sum_sent, &rates[..], false),
        ("received", "Received", end.sum_received, &[], false),
        ("transfer", "Transfer", end.sum, &rates[..], false),
        ("sent", "Sent", end.sum_sent_bidir_reverse, &reverse[..], true),
        ("received", "Received", end.sum_received_bidir_reverse, &[], true),
        ("transfer", "Transfer", end.sum_bidir_reverse, &reverse[..], true),
    ];
    for (name, title, sum, rates, reverse) in sums {
        let Some(sum) = sum else { continue };
        let mut readings = vec![transfer(name, title, sum.bits_per_second / 8.0, rates)];
        beside(&mut readings, &sum);
        // With --bidir, both directions are loaded at once.
        let turn = |reading: SourceReading| if reverse { reading.at("direction", "reverse") } else { reading };
        sheet.readings.extend(readings.into_iter().map(turn));
    }
    if let Some(cpu) = end.cpu_utilization_percent {
        for (id, percent) in [("iperf3.local_cpu", cpu.host_total), ("iperf3.remote_cpu", cpu.remote_total)] {
            let metric = Metric::lower(Unit::Ratio, "CPU time");
            sheet.readings.push(SourceReading::new(id, "CPU use", percent / 100.0, metric));
        }
    }
    if let Some(test) = test {
        sheet.readings = sheet.readings.into_iter().map(|reading| placed(reading, &test)).collect();
    }
    Ok(Parsed::Sheets(vec![sheet]))
}

/// Rates of the intervals that count, bytes a second.
fn of_intervals(intervals: &List<Iperf3Interval>, get: fn(&Iperf3Interval) -> Option<&Sum>) -> Vec<f64> {
    let sums = intervals.0.iter().filter_map(get).filter(|sum| !sum.omitted);
    sums.map(|sum| sum.bits_per_second / 8.0).collect()
}

fn placed(reading: SourceReading, test: &Iperf3Test) -> SourceReading {
    let block = format_size(test.blksize.clamp(0.0, 1e15) as u64);
    let reading = reading.at("protocol", axis_value(&test.protocol.to_ascii_lowercase()));
    let reading = reading.at("streams", test.num_streams.to_string()).at("block", block);
    let reading = if test.bidir > 0.0 { reading.at("bidirectional", "yes") } else { reading };
    if test.reverse > 0.0 { reading.at("direction", "reverse") } else { reading }
}

fn transfer(name: &str, title: &str, value: f64, rates: &[f64]) -> SourceReading {
    let reading = SourceReading::new(format!("iperf3.{name}"), title, value, bytes_per_second("bytes"));
    if rates.len() < 2 {
        return reading;
    }
    let least = rates.iter().copied().fold(value, f64::min);
    let greatest = rates.iter().copied().fold(value, f64::max);
    let count = u32::try_from(rates.len()).unwrap_or(u32::MAX);
    let reading = reading.spread(SourceSpread::Range(least, greatest)).counts(1, count);
    reading.note("the range is of successive intervals of one connection, which depend on each other")
}

/// Further values of a sum: jitter, loss, retransmits.
fn beside(readings: &mut Vec<SourceReading>, sum: &Sum) {
    let lost = sum.lost_percent.map(|percent| percent / 100.0);
    for (id, title, value, unit, per) in [
        ("iperf3.jitter", "Jitter", sum.jitter_ms.map(|milliseconds| milliseconds * 1e-3), Unit::Seconds, "packet"),
        ("iperf3.retransmits", "Retransmits", sum.retransmits, Unit::Count, "segments"),
        ("iperf3.lost", "Lost", lost, Unit::Ratio, "packets"),
    ] {
        readings.extend(value.map(|value| SourceReading::new(id, title, value, Metric::lower(unit, per))));
    }
}
