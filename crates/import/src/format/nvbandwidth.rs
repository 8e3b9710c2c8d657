//! nvbandwidth: a matrix of rates for each test, and their sum.

use super::{CodeFormat, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, seconds, text};
use crate::text::{SourceFault, after, axis_value, lines, name_value, need, shown, snake};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "nvbandwidth",
    tool: "nvbandwidth",
    about: "each pair's rate or latency of each test, and their sum; no spread is stated",
    by_lines: true,
    detect: |head| sure(head, &["nvbandwidth Version"]),
    parse,
};

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let (mut test, mut latency, mut columns): (String, Option<bool>, Vec<&str>) = (String::new(), None, Vec::new());
    let mut open = None;
    for (at, line) in lines(source.text) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let first = words.first().copied().unwrap_or_default();
        if let Some(version) = after(line, "nvbandwidth Version:") {
            sheet.version = Some(version.trim_start_matches('v').to_owned());
            sheet.begin_process();
        } else if first == "Running" {
            test = snake(words.get(1).copied().unwrap_or_default().trim_end_matches('.'));
            (latency, columns) = (None, Vec::new());
        } else if line.contains("(row)") && line.contains("(column)") {
            open.get_or_insert(at);
            latency = Some(is_latency(&words, at)?);
        } else if first == "SUM" || first.starts_with("SUM_") {
            if let (Some(latency), [_, name, value]) = (latency, &words[..]) {
                if test.is_empty() {
                    test = snake(name);
                    rename(&mut sheet, &test);
                }
                sheet.readings.push(reading(&format!("{test}_sum"), latency, value, at)?);
            }
        } else if first.starts_with("COEFFICIENT_OF_VARIATION")
            || first.starts_with("Device")
            || line.contains("Driver Version")
            || line.contains("Runtime Version")
            || line.contains("Git version")
        {
            if let Some((_, name)) = line.split_once(": ").filter(|_| first.starts_with("Device")) {
                sheet.fact(text("device.model", &name_value(name.split(" (").next().unwrap_or(name)), "output", &[]));
            }
        } else if latency.is_some()
            && columns.is_empty()
            && !words.is_empty()
            && words.iter().all(|word| word.parse::<u32>().is_ok())
        {
            columns = words;
        } else if let Some(latency) = latency.filter(|_| !columns.is_empty() && first.parse::<u32>().is_ok()) {
            if words.len() != columns.len() + 1 {
                let (has, names) = (words.len(), columns.len() + 1);
                return Err(SourceFault::new(format!("the row has {has} values and its heading {names}"), at));
            }
            for (column, value) in columns.iter().zip(&words[1..]).filter(|(_, value)| **value != "N/A") {
                let reading = reading(&test, latency, value, at)?;
                sheet.readings.push(reading.at("row", axis_value(first)).at("column", axis_value(column)));
            }
        } else {
            continue;
        }
        source.took(at);
    }
    match open.filter(|_| sheet.readings.iter().any(|reading| reading.id == NAMELESS)) {
        Some(place) => Err(SourceFault::new("no line says which test a table from here on is of", place)),
        None => Ok(Parsed::Sheets(vec![sheet])),
    }
}

/// An excerpt may lack the line that names the test: its sum does so too.
fn rename(sheet: &mut SourceSheet, test: &str) {
    let nameless = sheet.readings.iter_mut().filter(|reading| reading.id == NAMELESS);
    nameless.for_each(|reading| reading.id = format!("{NAMELESS}{test}"));
}

/// Whether a table is of latencies, by the unit at the end of its heading.
fn is_latency(words: &[&str], at: usize) -> Result<bool, SourceFault> {
    match words.last() {
        Some(&"(GB/s)") => Ok(false),
        Some(&"(ns)") => Ok(true),
        other => {
            let unit = shown(other.copied().unwrap_or_default());
            Err(SourceFault::new(format!("the unit '{unit}' of its table is not known"), at))
        }
    }
}

/// The id of readings whose test is not known yet.
const NAMELESS: &str = "nvbandwidth.";

fn reading(test: &str, latency: bool, value: &str, at: usize) -> Result<SourceReading, SourceFault> {
    let id = format!("nvbandwidth.{test}");
    let (scale, metric) = if latency { (1e-9, seconds("access")) } else { (1e9, bytes_per_second("bytes")) };
    Ok(SourceReading::new(id, test, need(value, at)? * scale, metric).printed_in(value, scale))
}
