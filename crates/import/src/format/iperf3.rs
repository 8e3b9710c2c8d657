//! iperf3 -J: the sums over the test, with the one-second intervals as the range.

use model::{Metric, Unit, format_size};
use serde::Deserialize;

use super::{CodeFormat, Parsed, SourceText, sure};
use crate::date::unix;
use crate::json::{self, List};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, bytes_per_second, text};
use crate::text::{SourceFault, axis_value, shown};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "iperf3",
    tool: "iperf3",
    about: "bytes a second sent and received, retransmits, jitter and loss; intervals of one connection follow on each \
            other, so they are a range and not an interval of confidence",
    by_lines: false,
    detect: |head| sure(head, &["\"start\"", "\"test_start\""]).max(sure(head, &["\"iperf 3", "\"start\""])),
    parse,
};

#[derive(Deserialize, Default)]
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
    /// Bits a second that the sender was held to; 0 without a limit.
    #[serde(default)]
    target_bitrate: f64,
}

/// A line of --json-stream: `start`, `interval`, `end` or `error`.
#[derive(Deserialize)]
struct Iperf3Event {
    event: String,
}

#[derive(Deserialize)]
struct Iperf3Data<T> {
    data: T,
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

impl End {
    /// Whether it has sums, and none of them is of anything.
    fn counts_nothing(&self) -> bool {
        let each = [&self.sum_sent, &self.sum_received, &self.sum];
        let turned = [&self.sum_sent_bidir_reverse, &self.sum_received_bidir_reverse, &self.sum_bidir_reverse];
        let mut sums = each.into_iter().chain(turned).flatten().peekable();
        sums.peek().is_some() && !sums.any(Sum::is_counted)
    }
}

#[derive(Deserialize)]
struct Sum {
    bits_per_second: f64,
    retransmits: Option<f64>,
    jitter_ms: Option<f64>,
    lost_percent: Option<f64>,
    /// The time over which was counted.
    seconds: Option<f64>,
    /// Datagrams.
    packets: Option<f64>,
    #[serde(default)]
    omitted: bool,
}

impl Sum {
    /// Whether anything was counted. A test of datagrams that was broken off has zeros in place of its sums, and so has
    /// an end that no datagram reached, which cannot know that some were lost: such zeros are no results.
    fn is_counted(&self) -> bool {
        self.bits_per_second != 0.0 || (self.seconds != Some(0.0) && self.packets != Some(0.0))
    }
}

#[derive(Deserialize)]
struct Iperf3Cpu {
    host_total: f64,
    remote_total: f64,
}

impl Iperf3Cpu {
    fn readings(&self) -> impl Iterator<Item = SourceReading> + use<> {
        [("local", self.host_total), ("remote", self.remote_total)].into_iter().map(|(end, percent)| {
            let metric = Metric::lower(Unit::Ratio, "CPU time");
            let (id, title) = (format!("iperf3.{end}_cpu"), format!("CPU use, {end}"));
            SourceReading::new(id, title, percent / 100.0, metric)
        })
    }
}

/// What is said of an end that counted nothing beside one that did.
const UNCOUNTED: &str = "one end counted no datagram, since the test was broken off or none arrived; it is left out";

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let texts = json::documents(source.text);
    let last = source.text.lines().count();
    if json::read::<Iperf3Event>(texts[0].1).is_ok() {
        add(&mut sheet, streamed(&texts, source)?, last)?;
        return Ok(Parsed::Sheets(vec![sheet]));
    }
    for (number, text) in texts.iter().enumerate() {
        let document: Iperf3Document = json::read_document(*text, &source.ledger)?;
        sheet.begin_process();
        match &document.error {
            // One failure among several tests does not spoil the others.
            Some(error) if texts.len() > 1 => {
                sheet.notes.push(format!("test {} failed: iperf3 reports \"{}\"", number + 1, shown(error)));
            }
            None if texts.len() > 1 && document.end.as_ref().is_some_and(End::counts_nothing) => {
                sheet.notes.push(format!("test {} counted nothing and is left out", number + 1));
            }
            _ => add(&mut sheet, document, last)?,
        }
    }
    Ok(Parsed::Sheets(vec![sheet]))
}

/// The document whose parts --json-stream writes as lines of their own.
fn streamed(texts: &[(usize, &str)], source: &SourceText<'_>) -> Result<Iperf3Document, SourceFault> {
    let (mut document, mut begun) = (Iperf3Document::default(), false);
    for text in texts {
        let event = json::read::<Iperf3Event>(text.1).map_err(|mut fault| {
            fault.place.line += text.0;
            fault
        })?;
        match event.event.as_str() {
            "start" if std::mem::replace(&mut begun, true) => {
                return Err(SourceFault::new("a further test begins here; each needs a file of its own", text.0 + 1));
            }
            "start" => document.start = json::read_document::<Iperf3Data<_>>(*text, &source.ledger)?.data,
            "interval" => {
                document.intervals.0.push(json::read_document::<Iperf3Data<_>>(*text, &source.ledger)?.data);
            }
            "end" => document.end = Some(json::read_document::<Iperf3Data<_>>(*text, &source.ledger)?.data),
            "error" => document.error = Some(json::read_document::<Iperf3Data<_>>(*text, &source.ledger)?.data),
            _ => {}
        }
    }
    Ok(document)
}

/// Adds the figures of a test.
fn add(sheet: &mut SourceSheet, document: Iperf3Document, last: usize) -> Result<(), SourceFault> {
    if let Some(error) = document.error {
        return Err(SourceFault::new(format!("iperf3 reports \"{}\"", shown(&error)), 0));
    }
    let end = document.end.ok_or_else(|| SourceFault::new("it has no member 'end'", last))?;
    if end.counts_nothing() {
        return Err(SourceFault::new("it counted nothing: the test was broken off, or no datagram arrived", 0));
    }
    sheet.version = document.start.version.as_deref().map(|version| version.trim_start_matches("iperf ").to_owned());
    if let Some(info) = &document.start.system_info {
        sheet.fact(text("os.name", info, "iperf3", &[]));
        sheet.machine = info.split_whitespace().nth(1).unwrap_or_default().to_owned();
    }
    if let Some(timestamp) = document.start.timestamp.filter(|_| sheet.started.is_empty()) {
        sheet.started = unix(timestamp.timesecs);
    }
    let rates = of_intervals(&document.intervals, |interval| interval.sum.as_ref());
    let reverse = of_intervals(&document.intervals, |interval| interval.sum_bidir_reverse.as_ref());
    let first = sheet.readings.len();
    // Since 3.10, the sum of datagrams repeats what was sent beside the jitter of what was received.
    let (whole, turned) = match (&end.sum_sent, &end.sum_received) {
        (Some(_), Some(_)) => (None, None),
        _ => (end.sum, end.sum_bidir_reverse),
    };
    let sums = [
        ("sent", "Sent", end.sum_sent, &rates[..], false),
        ("received", "Received", end.sum_received, &[], false),
        ("transfer", "Transfer", whole, &rates[..], false),
        ("sent", "Sent", end.sum_sent_bidir_reverse, &reverse[..], true),
        ("received", "Received", end.sum_received_bidir_reverse, &[], true),
        ("transfer", "Transfer", turned, &reverse[..], true),
    ];
    let mut uncounted = false;
    for (name, title, sum, rates, reverse) in sums {
        let Some(mut sum) = sum else { continue };
        if !sum.is_counted() {
            uncounted = true;
            continue;
        }
        // The sender of datagrams does not know what arrived: it prints zeros.
        if name == "sent" {
            (sum.jitter_ms, sum.lost_percent) = (None, None);
        }
        let mut readings = vec![transfer(name, title, sum.bits_per_second / 8.0, rates)];
        beside(&mut readings, &sum);
        // With --bidir, both directions are loaded at once.
        let turn = |reading: SourceReading| if reverse { reading.at("direction", "reverse") } else { reading };
        sheet.readings.extend(readings.into_iter().map(turn));
    }
    if uncounted {
        sheet.notes.push(UNCOUNTED.to_owned());
    }
    sheet.readings.extend(end.cpu_utilization_percent.iter().flat_map(Iperf3Cpu::readings));
    if let Some(test) = document.start.test_start {
        let new = sheet.readings.split_off(first);
        sheet.readings.extend(new.into_iter().map(|reading| placed(reading, &test)));
    }
    Ok(())
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
    let target = test.target_bitrate;
    let reading = match target {
        _ if target <= 0.0 => reading,
        // What is sent is what was asked for: the figures of another rate are others.
        _ if target % 1e6 == 0.0 => reading.at("target", format!("{}Mbit/s", target / 1e6)),
        _ => reading.at("target", format!("{target}bit/s")),
    };
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
