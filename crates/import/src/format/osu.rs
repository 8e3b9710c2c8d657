//! OSU micro-benchmarks: a table of message sizes for each test.

use super::{ImportFormat, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, bytes_per_second, rate, seconds};
use crate::text::{SourceFault, between, lines, need, snake};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "osu",
    tool: "OSU micro-benchmarks",
    about: "latency, bandwidth or message rate by size; least and greatest over ranks, where printed, are the range",
    by_lines: true,
    detect: |head| sure(head, &["# OSU MPI"]).max(sure(head, &["# OSU ", "Size"])),
    parse,
};

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let mut test = String::new();
    let mut columns: Vec<String> = Vec::new();
    for (at, line) in lines(source.text) {
        let line = line.trim_start_matches('\u{feff}').trim();
        if let Some(words) = between(line, "# OSU", "Test") {
            test = snake(words.trim_start_matches("MPI").trim_start_matches('_'));
            sheet.version = line.rsplit(" v").next().filter(|rest| rest.len() < line.len()).map(str::to_owned);
            columns.clear();
        } else if let Some(words) = line.strip_prefix("# Size").or_else(|| line.strip_prefix("# Avg")) {
            columns = words.split("  ").map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
        } else if !columns.is_empty() && line.starts_with(|c: char| c.is_ascii_digit()) {
            row(&mut sheet, &test, &columns, line, at)?;
        }
    }
    Ok(Parsed::Sheets(vec![sheet]))
}

fn row(sheet: &mut SourceSheet, test: &str, columns: &[String], line: &str, at: usize) -> Result<(), SourceFault> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if words.len() != columns.len() + 1 {
        return Err(SourceFault::new(
            format!("the row has {} values and its heading {}", words.len(), columns.len() + 1),
            at,
        ));
    }
    let size = words[0].parse::<u64>().map_err(|_| SourceFault::new("the size is not a whole number", at))?;
    let value = |at_column: usize| need(words[at_column + 1], at);
    let find = |name: &str| columns.iter().position(|column| column.starts_with(name));
    let point = |reading: SourceReading| reading.at("size", model::format_size(size));
    let latency = find("Latency").or_else(|| find("Avg Latency"));
    if let Some(column) = latency {
        let reading = SourceReading::new(format!("osu.{test}"), test, value(column)? * 1e-6, seconds("message"));
        let spread = match find("Min Latency").zip(find("Max Latency")) {
            Some((least, greatest)) => SourceSpread::Range(value(least)? * 1e-6, value(greatest)? * 1e-6),
            None => SourceSpread::None,
        };
        let ranks = matches!(spread, SourceSpread::Range(..));
        let reading = point(reading.spread(spread));
        sheet.readings.push(if ranks {
            reading.note("the range is over ranks, not over repetitions")
        } else {
            reading
        });
    }
    if let Some(column) = find("Bandwidth").or_else(|| find("MB/s")) {
        let bandwidth = value(column)? * 1e6;
        sheet.readings.push(point(SourceReading::new(
            format!("osu.{test}"),
            test,
            bandwidth,
            bytes_per_second("bytes"),
        )));
    }
    if let Some(column) = find("Messages/s") {
        let id = format!("osu.{test}_messages");
        sheet.readings.push(point(SourceReading::new(id, "Message rate", value(column)?, rate("messages"))));
    }
    Ok(())
}
