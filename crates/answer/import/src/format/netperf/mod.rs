//! netperf 2: the classic tables, omni output as CSV or as KEY=value, and JSON lists of CSV outputs.

mod classic;

use std::collections::BTreeMap;

use model::Metric;

use super::{CodeFormat, Confidence, Parsed, SourceText, likely, sure};
use crate::json;
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, bytes_per_second, rate};
use crate::text::{SourceFault, after, between, first_number, lines, need, number, parameter_value, shown, snake};
use crate::unread::LineLedger;

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "netperf",
    tool: "netperf",
    about: "classic tables, omni CSV and KEY=value; with -I the stated width at its confidence is the interval",
    by_lines: true,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    let banner = sure(head, &["TEST from ", " port ", "AF_INET"]).max(sure(head, &["Throughput,Throughput Units"]));
    banner.max(likely(head, &["THROUGHPUT=", "THROUGHPUT_UNITS="]))
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let (mut sheet, mut peers) = (SourceSheet::default(), Peers::new());
    if source.text.trim_start().starts_with("[") {
        // A list of outputs, each a list of its lines.
        for (at, output) in json::read::<Vec<Vec<String>>>(source.text)?.iter().enumerate() {
            let inside =
                |fault: SourceFault| SourceFault { reason: format!("output {}: {}", at + 1, fault.reason), ..fault };
            let (text, ledger) = (output.join("\n"), LineLedger::default());
            read(&mut sheet, &mut peers, &text, &ledger).map_err(inside)?;
            if let Some(sentence) = ledger.unread(&text).sentence() {
                sheet.notes.push(format!("output {}: {sentence}", at + 1));
            }
        }
        lines(source.text).for_each(|(at, _)| source.took(at));
    } else {
        read(&mut sheet, &mut peers, source.text, &source.ledger)?;
    }
    // Tests against several hosts, and over another protocol of the network, are different results.
    let part = |part: &NetperfPeer| (part.readings, parameter_value(&part.name));
    sheet.tell_apart("peer", &peers.iter().map(part).collect::<Vec<_>>());
    for (index, reading) in sheet.readings.iter_mut().enumerate() {
        if peers[..peers.partition_point(|peer| peer.readings <= index)].last().is_some_and(|peer| peer.ipv6) {
            reading.parameters = std::mem::take(&mut reading.parameters).with("family", "ipv6");
        }
    }
    Ok(Parsed::Sheets(vec![sheet]))
}

/// The host that a test was made against.
#[derive(Default)]
struct NetperfPeer {
    /// Readings before the test.
    readings: usize,
    name: String,
    ipv6: bool,
}

type Peers = Vec<NetperfPeer>;

/// Content of a banner: the test, and the requested confidence.
#[derive(Clone, Default)]
struct Banner {
    test: String,
    width: Option<f64>,
    level: Option<f64>,
    /// Width that was reached, where it differs from the requested one.
    achieved: Option<f64>,
    seen: usize,
}

/// Where a reader of netperf's lines is.
#[derive(Default)]
struct NetperfReader {
    banner: Banner,
    keys: BTreeMap<String, String>,
    /// Heading of an omni table in CSV.
    heading: String,
    classic: classic::NetperfTable,
    /// The line of a test that has no result yet.
    open: Option<usize>,
}

fn read(sheet: &mut SourceSheet, peers: &mut Peers, source: &str, ledger: &LineLedger) -> Result<(), SourceFault> {
    let mut reader = NetperfReader::default();
    for (at, line) in lines(source) {
        if reader.line(sheet, peers, line.trim(), at)? {
            ledger.took(at);
        }
    }
    flush(sheet, &reader.banner, &mut reader.keys)?;
    match reader.open {
        Some(place) => Err(SourceFault::new("the test that begins here has no result", place)),
        None if reader.heading.is_empty() => Ok(()),
        None => Err(SourceFault::new("the table has no values", reader.banner.seen.max(1))),
    }
}

impl NetperfReader {
    /// Whether the line was understood.
    fn line(&mut self, sheet: &mut SourceSheet, peers: &mut Peers, line: &str, at: usize) -> Result<bool, SourceFault> {
        let mut understood = false;
        if let Some(test) = test_name(line) {
            flush(sheet, &self.banner, &mut self.keys)?;
            sheet.begin_process();
            *self = Self { banner: Banner { test, seen: at, ..Banner::default() }, open: Some(at), ..Self::default() };
            peers.push(NetperfPeer { readings: sheet.readings.len(), ..NetperfPeer::default() });
            understood = true;
        }
        if line.contains("AF_INET") {
            // The banner, whose end is sometimes wrapped by the program that stored it.
            let (four, six) = (after(line, "AF_INET to"), after(line, "AF_INET6 to"));
            if let Some(known) = peers.last_mut() {
                let name = four.or(six).and_then(|rest| rest.split_whitespace().next());
                name.unwrap_or_default().clone_into(&mut known.name);
                known.ipv6 = six.is_some();
            }
            understood = true;
        }
        if line.contains("% conf") {
            self.banner.width = between(line, "+/-", "%").and_then(number);
            self.banner.level = between(line, "@", "%").or_else(|| between(line, "%", "%")).and_then(number);
            understood = true;
        }
        if let Some(width) = after(line, "Confidence intervals: Throughput") {
            self.banner.achieved = first_number(width);
            understood = true;
        }
        if understood || line.is_empty() {
            return Ok(true);
        }
        let digits = line.starts_with(|c: char| c.is_ascii_digit());
        if let Some((key, value)) = line.split_once('=').filter(|(key, _)| is_key(key)) {
            self.keys.insert(key.to_owned(), value.trim().to_owned());
            self.open = None;
        } else if line.starts_with("Throughput,") || (!self.heading.is_empty() && !digits) {
            // Headings are sometimes wrapped by the program that stored them.
            self.heading.push_str(if self.heading.is_empty() { "" } else { " " });
            self.heading.push_str(line);
        } else if !self.heading.is_empty() && digits {
            comma_separated(sheet, &self.banner, &self.heading, line, at)?;
            (self.heading, self.open) = (String::new(), None);
        } else if digits && !self.banner.test.is_empty() && !line.contains(',') {
            self.open = None;
            return self.classic.row(sheet, &self.banner, line, at);
        } else {
            return Ok(self.classic.heading(line));
        }
        Ok(true)
    }
}

fn test_name(line: &str) -> Option<String> {
    let (name, _) = line.split_once(" TEST from ")?;
    Some(snake(name.trim_start_matches("MIGRATED ")))
}

fn is_key(key: &str) -> bool {
    key.len() > 2 && key.chars().all(|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit())
}

/// `-I 99,5` and its result: the width is that of the whole interval, so half of it is on either side.
fn spread(value: f64, level: Option<f64>, width: Option<f64>) -> SourceSpread {
    match (level, width) {
        (Some(level), Some(percent)) if percent > 0.0 && percent < 200.0 && (1.0..100.0).contains(&level) => {
            let half = value * percent / 200.0;
            SourceSpread::Interval { low: value - half, high: value + half, level: level / 100.0 }
        }
        _ => SourceSpread::None,
    }
}

const NOTE: &str = "the stated interval is of repetitions by one netperf process";

/// Scale and metric of a unit; an unknown one is refused. Its option -f counts bits in powers of 1000 and bytes in
/// powers of 1024.
fn unit(units: &str, test: &str, at: usize) -> Result<(f64, Metric), SourceFault> {
    let scale = match units.trim_end_matches("/s").trim_end_matches("/sec") {
        "10^3bits" => 1e3 / 8.0,
        "10^6bits" => 1e6 / 8.0,
        "10^9bits" => 1e9 / 8.0,
        "GBytes" => 1_073_741_824.0,
        "MBytes" => 1_048_576.0,
        "KBytes" => 1024.0,
        "Bytes" => 1.0,
        "Trans" if test.contains("connect") || test.contains("crr") => return Ok((1.0, rate("connections"))),
        "Trans" => return Ok((1.0, rate("transactions"))),
        _ => return Err(SourceFault::new(format!("its unit '{}' is not known", shown(units)), at)),
    };
    Ok((scale, bytes_per_second("bytes")))
}

fn named(test: &str) -> String {
    format!("netperf.{}", if test.is_empty() { "omni" } else { test })
}

fn comma_separated(
    sheet: &mut SourceSheet,
    banner: &Banner,
    heading: &str,
    line: &str,
    at: usize,
) -> Result<(), SourceFault> {
    let names: Vec<&str> = heading.split(',').map(str::trim).collect();
    let cells: Vec<&str> = line.split(',').map(str::trim).collect();
    // Some versions print more values than names.
    if cells.len() < names.len() {
        return Err(SourceFault::new(
            format!("the row has {} values and its heading {}", cells.len(), names.len()),
            at,
        ));
    }
    let cell = |name: &str| names.iter().position(|known| *known == name).map(|at| cells[at]);
    let (scale, metric) = unit(cell("Throughput Units").unwrap_or_default(), &banner.test, at)?;
    let value = need(cell("Throughput").unwrap_or_default(), at)? * scale;
    let width = cell("Throughput Confidence Width (%)").and_then(number);
    let repeats = cell("Confidence Iterations Run").and_then(number).unwrap_or(1.0);
    let spread = spread(value, banner.level, width);
    let mut reading = SourceReading::new(named(&banner.test), banner.test.replace('_', " "), value, metric);
    if spread != SourceSpread::None {
        reading = reading.note(NOTE);
    }
    let sizes = [("request", cell("Request Size Bytes")), ("response", cell("Response Size Bytes"))];
    sheet.readings.push(of_sizes(reading.spread(spread).counts(1, repeats as u32), sizes));
    let names = ["Minimum", "50th Percentile", "90th Percentile", "99th Percentile", "Maximum", "Mean"];
    let latencies = latencies(names.map(|name| cell(&format!("{name} Latency Microseconds"))), &banner.test);
    sheet.readings.extend(latencies.into_iter().map(|reading| of_sizes(reading, sizes)));
    Ok(())
}

/// Requests and responses of more than one byte.
fn of_sizes(reading: SourceReading, sizes: [(&'static str, Option<&str>); 2]) -> SourceReading {
    sizes.into_iter().fold(reading, |reading, (parameter, size)| match size {
        Some(size) if number(size).is_some_and(|bytes| bytes > 1.0) => {
            reading.at(parameter, format!("{}B", parameter_value(size)))
        }
        _ => reading,
    })
}

/// Least, quantiles, greatest and mean of single operations, microseconds, as printed.
fn latencies(cells: [Option<&str>; 6], test: &str) -> Vec<SourceReading> {
    let [.., mean] = cells;
    let value = |cell: &Option<&str>| cell.and_then(number).map(|value| value * 1e-6);
    let quantiles: Vec<(f64, f64)> =
        [0.0, 0.5, 0.9, 0.99, 1.0].iter().zip(&cells).filter_map(|(q, cell)| Some((*q, value(cell)?))).collect();
    let reading = |end: &str, words: &str, cell: Option<&str>| {
        let title = format!("{}: {words}", test.replace('_', " "));
        let id = format!("{}_{end}", named(test));
        Some(SourceReading::new(id, title, value(&cell)?, crate::sheet::seconds("operation")).printed_in(cell?, 1e-6))
    };
    let median = reading("latency", "median latency", cells[1]).map(|reading| SourceReading { quantiles, ..reading });
    median.into_iter().chain(reading("mean_latency", "mean latency", mean)).collect()
}

fn flush(sheet: &mut SourceSheet, banner: &Banner, keys: &mut BTreeMap<String, String>) -> Result<(), SourceFault> {
    let taken = std::mem::take(keys);
    let Some(value) = taken.get("THROUGHPUT") else { return Ok(()) };
    let get = |key: &str| taken.get(key).map(String::as_str);
    let test = match get("PROTOCOL").zip(get("DIRECTION")) {
        Some((protocol, direction)) if banner.test.is_empty() => snake(&format!("{protocol} {direction}")),
        _ => banner.test.clone(),
    };
    let (scale, metric) = unit(get("THROUGHPUT_UNITS").unwrap_or_default(), &test, banner.seen)?;
    let value = need(value, banner.seen)? * scale;
    let level = get("CONFIDENCE_LEVEL").and_then(number).or(banner.level);
    let spread = spread(value, level, get("THROUGHPUT_CONFID").and_then(number));
    let repeats = get("CONFIDENCE_ITERATION").and_then(number).unwrap_or(1.0);
    let mut reading = SourceReading::new(named(&test), test.replace('_', " "), value, metric).counts(1, repeats as u32);
    if spread != SourceSpread::None {
        reading = reading.note(NOTE);
    }
    let sizes = [("request", get("REQUEST_SIZE")), ("response", get("RESPONSE_SIZE"))];
    sheet.readings.push(of_sizes(reading.spread(spread), sizes));
    let keys = ["MIN_LATENCY", "P50_LATENCY", "P90_LATENCY", "P99_LATENCY", "MAX_LATENCY", "MEAN_LATENCY"];
    let latencies = latencies(keys.map(get), &test);
    sheet.readings.extend(latencies.into_iter().map(|reading| of_sizes(reading, sizes)));
    Ok(())
}
