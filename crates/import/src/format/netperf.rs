//! netperf 2: the classic tables, omni output as CSV or as KEY=value, and JSON lists of CSV outputs.

use std::collections::BTreeMap;

use model::{Metric, Unit};

use super::{Confidence, ImportFormat, Parsed, SourceText, likely, sure};
use crate::json;
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, bytes_per_second, metric, rate};
use crate::text::{SourceFault, after, axis_value, between, first_number, lines, need, number, shown, snake};

pub(super) static FORMAT: ImportFormat = ImportFormat {
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
    let mut sheet = SourceSheet::default();
    if source.text.trim_start().starts_with("[") {
        // A list of outputs, each a list of its lines.
        for (at, output) in json::read::<json::List<json::List<String>>>(source.text)?.0.iter().enumerate() {
            let inside =
                |fault: SourceFault| SourceFault { reason: format!("output {}: {}", at + 1, fault.reason), ..fault };
            read(&mut sheet, &output.0.join("\n")).map_err(inside)?;
        }
    } else {
        read(&mut sheet, source.text)?;
    }
    Ok(Parsed::Sheets(vec![sheet]))
}

/// Content of a banner: the test, and the requested confidence.
#[derive(Clone, Default)]
struct Banner {
    test: String,
    width: Option<f64>,
    level: Option<f64>,
    seen: usize,
}

fn read(sheet: &mut SourceSheet, source: &str) -> Result<(), SourceFault> {
    // Banners and headings are sometimes wrapped by the program that stored them.
    let mut banner = Banner::default();
    let mut keys: BTreeMap<String, String> = BTreeMap::new();
    let mut heading = String::new();
    let mut achieved = None;
    let mut open = None;
    for (at, line) in lines(source) {
        let line = line.trim();
        if let Some(test) = test_name(line) {
            flush(sheet, &banner, &mut keys)?;
            banner = Banner { test, seen: at, ..Banner::default() };
            (heading, achieved, open) = (String::new(), None, Some(at));
        }
        if line.contains("% conf") {
            banner.width = between(line, "+/-", "%").and_then(number);
            banner.level = between(line, "@", "%").or_else(|| between(line, "%", "%")).and_then(number);
        }
        if let Some(width) = after(line, "Confidence intervals: Throughput") {
            achieved = first_number(width);
        }
        let digits = line.starts_with(|c: char| c.is_ascii_digit());
        if let Some((key, value)) = line.split_once('=').filter(|(key, _)| is_key(key)) {
            keys.insert(key.to_owned(), value.trim().to_owned());
            open = None;
        } else if line.starts_with("Throughput,") || (!heading.is_empty() && !digits) {
            heading.push_str(if heading.is_empty() { "" } else { " " });
            heading.push_str(line);
        } else if !heading.is_empty() && digits {
            comma_separated(sheet, &banner, &heading, line, at)?;
            (heading, open) = (String::new(), None);
        } else if digits && !banner.test.is_empty() && !line.contains(',') {
            open = if classic(sheet, &banner, achieved, line, at)? { None } else { open };
        }
    }
    flush(sheet, &banner, &mut keys)?;
    match open {
        Some(place) => Err(SourceFault::new("the test that begins here has no result", place)),
        None if heading.is_empty() => Ok(()),
        None => Err(SourceFault::new("the table has no values", banner.seen.max(1))),
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

fn unit(units: &str, test: &str) -> (f64, Metric) {
    match units {
        "10^6bits/s" => (1e6 / 8.0, bytes_per_second("bytes")),
        "10^3bits/s" => (1e3 / 8.0, bytes_per_second("bytes")),
        "10^9bits/s" => (1e9 / 8.0, bytes_per_second("bytes")),
        "GBytes/s" => (1_073_741_824.0, bytes_per_second("bytes")),
        "MBytes/s" => (1_048_576.0, bytes_per_second("bytes")),
        "KBytes/s" => (1024.0, bytes_per_second("bytes")),
        "Bytes/s" => (1.0, bytes_per_second("bytes")),
        "Trans/s" if test.contains("connect") || test.contains("crr") => (1.0, rate("connections")),
        _ => (1.0, rate("transactions")),
    }
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
    let (scale, metric) = unit(cell("Throughput Units").unwrap_or_default(), &banner.test);
    let value = need(cell("Throughput").unwrap_or_default(), at)? * scale;
    let width = cell("Throughput Confidence Width (%)").and_then(number);
    let repeats = cell("Confidence Iterations Run").and_then(number).unwrap_or(1.0);
    let spread = spread(value, banner.level, width);
    let mut reading = SourceReading::new(named(&banner.test), banner.test.replace('_', " "), value, metric);
    if spread != SourceSpread::None {
        reading = reading.note(NOTE);
    }
    sheet.readings.push(reading.spread(spread).counts(1, repeats as u32));
    let latency: Vec<(f64, f64)> = [
        ("Minimum", 0.0),
        ("50th Percentile", 0.5),
        ("90th Percentile", 0.9),
        ("99th Percentile", 0.99),
        ("Maximum", 1.0),
    ]
    .iter()
    .filter_map(|(name, quantile)| Some((*quantile, number(cell(&format!("{name} Latency Microseconds"))?)? * 1e-6)))
    .collect();
    if let Some((_, median)) = latency.iter().find(|(quantile, _)| (*quantile - 0.5).abs() < 1e-9).copied() {
        let id = format!("{}_latency", named(&banner.test));
        let title = format!("{}: median latency", banner.test.replace('_', " "));
        let mut reading = SourceReading::new(id, title, median, crate::sheet::seconds("operation"));
        reading.quantiles = latency;
        sheet.readings.push(reading);
    }
    Ok(())
}

fn flush(sheet: &mut SourceSheet, banner: &Banner, keys: &mut BTreeMap<String, String>) -> Result<(), SourceFault> {
    let taken = std::mem::take(keys);
    let Some(value) = taken.get("THROUGHPUT") else { return Ok(()) };
    let get = |key: &str| taken.get(key).map(String::as_str);
    let test = match get("PROTOCOL").zip(get("DIRECTION")) {
        Some((protocol, direction)) if banner.test.is_empty() => snake(&format!("{protocol} {direction}")),
        _ => banner.test.clone(),
    };
    let (scale, metric) = unit(get("THROUGHPUT_UNITS").unwrap_or_default(), &test);
    let value = need(value, banner.seen)? * scale;
    let level = get("CONFIDENCE_LEVEL").and_then(number).or(banner.level);
    let spread = spread(value, level, get("THROUGHPUT_CONFID").and_then(number));
    let repeats = get("CONFIDENCE_ITERATION").and_then(number).unwrap_or(1.0);
    let mut reading = SourceReading::new(named(&test), test.replace('_', " "), value, metric).counts(1, repeats as u32);
    if spread != SourceSpread::None {
        reading = reading.note(NOTE);
    }
    sheet.readings.push(reading.spread(spread));
    Ok(())
}

/// The last line of a classic table: sizes, time, then the result. Returns whether it was one.
fn classic(
    sheet: &mut SourceSheet,
    banner: &Banner,
    achieved: Option<f64>,
    line: &str,
    at: usize,
) -> Result<bool, SourceFault> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let request = banner.test.contains("request_response") || banner.test.contains("connect_request");
    let datagrams = banner.test.starts_with("udp") && !request;
    // Stream: three sizes, seconds, rate. Request: four sizes, seconds, rate. UDP stream: sizes, seconds, counts, rate.
    let result = match (request, datagrams, words.len()) {
        (true, _, 6 | 10) => 5,
        (false, true, 6) => 5,
        (false, true, 4) => 3,
        (false, false, 5 | 9) => 4,
        _ => return Ok(false),
    };
    let value = need(words[result], at)?;
    let (scale, unit) = if request { (1.0, rate("transactions")) } else { (1e6 / 8.0, bytes_per_second("bytes")) };
    let value = value * scale;
    let side = if datagrams && words.len() == 4 { "_received" } else { "" };
    let mut reading =
        SourceReading::new(format!("{}{side}", named(&banner.test)), banner.test.replace('_', " "), value, unit);
    if !request && words.len() >= 5 {
        reading = reading.at("message", format!("{}B", axis_value(words[if datagrams { 1 } else { 2 }])));
    }
    // Without the warning, the requested width was reached; with it, the warning states the whole width.
    let width = achieved.or_else(|| banner.width.map(|half| half * 2.0));
    let spread = spread(value, banner.level, width);
    if spread != SourceSpread::None {
        reading = reading.note(NOTE);
    }
    sheet.readings.push(reading.spread(spread));
    if words.len() == 9 || words.len() == 10 {
        for (side, at_word) in [("local", result + 1), ("remote", result + 2)] {
            let percent = number(words[at_word]).filter(|percent| *percent >= 0.0);
            if let Some(percent) = percent {
                let title = shown(&format!("{side} CPU use of {}", banner.test));
                let metric = metric(Unit::Ratio, "CPU time", model::Better::Lower);
                sheet.readings.push(SourceReading::new(
                    format!("{}_{side}_cpu", named(&banner.test)),
                    title,
                    percent / 100.0,
                    metric,
                ));
            }
        }
    }
    Ok(true)
}
