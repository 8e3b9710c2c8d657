//! tinymembench: bandwidth of copies and fills, and latency of random reads by block size.

use super::{ImportFormat, Parsed, SourceText, likely, sure};
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, seconds};
use crate::text::{SourceFault, axis_value, between, lines, need, number, shown, snake};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "tinymembench",
    tool: "tinymembench",
    about: "bandwidth of each way to copy and fill, and latency by block size; its deviations over repetitions of one \
            process are notes",
    by_lines: true,
    detect: |head| {
        let bandwidths = likely(head, &["C copy backwards", "MB/s"]);
        sure(head, &["tinymembench"]).max(bandwidths).max(likely(head, &["block size : single random read / dual"]))
    },
    parse,
};

pub(super) fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let mut pages = "";
    let (mut latencies, mut begun) = (false, false);
    // What a script says of the processor that each process is bound to, or its command.
    let (mut place, mut places) = ("-", Vec::new());
    for (at, line) in lines(source.text) {
        // A mail quotes what it answers.
        let trimmed = line.trim_start_matches(['>', ' ', '\t']).trim_end();
        if let Some(version) = trimmed.strip_prefix("tinymembench v") {
            sheet.version = version.split_whitespace().next().map(str::to_owned);
            // Its first line: an excerpt may lack the title of the tests.
            if begun {
                sheet.begin_process();
            }
            places.push((sheet.readings.len(), axis_value(place)));
            (begun, latencies, place) = (true, false, "-");
        } else if let Some(bound) = bound(trimmed) {
            place = bound;
        } else if trimmed.contains("Memory bandwidth tests") {
            if begun && sheet.readings.len() > sheet.processes.last().copied().unwrap_or_default() {
                sheet.begin_process();
            }
            (begun, latencies) = (true, false);
        } else if trimmed.starts_with("block size") && trimmed.contains("random read") {
            latencies = true;
            pages = match between(trimmed, "[", "]") {
                // Its forks also map them, or write it without the call's name.
                Some(words) if words.ends_with("NOHUGEPAGE") => "base",
                Some(words) if words.ends_with("HUGEPAGE") => "huge",
                _ => "",
            };
        } else if trimmed.starts_with("==") {
            latencies = latencies && trimmed.chars().all(|c| c == '=');
        } else if let Some((size, rest)) = trimmed.split_once(':').filter(|_| latencies) {
            if !latency(&mut sheet, pages, size, rest, at)? {
                continue;
            }
        } else if let Some(reading) = bandwidth(trimmed, at)? {
            sheet.readings.push(reading);
        } else {
            continue;
        }
        source.took(at);
    }
    sheet.tell_apart("bound", &places);
    Ok(Parsed::Sheets(vec![sheet]))
}

/// Where a process runs: `Executing benchmark on cpu4 (Cortex-A72):`, `$ taskset -c 5 ./tinymembench`.
fn bound(line: &str) -> Option<&str> {
    if let Some(processor) = line.strip_prefix("Executing benchmark on ") {
        return Some(processor.trim_end_matches(':'));
    }
    let command = line.split_once("$ ").or_else(|| line.split_once("# ")).map_or(line, |(_, command)| command);
    let mut words = command.split_whitespace();
    let starts = ["taskset", "numactl"].contains(&words.next()?);
    (starts && words.any(|word| word.ends_with("tinymembench"))).then_some(command)
}

/// `C copy backwards   :   8440.6 MB/s (0.3%)`; a megabyte is 10^6 bytes.
fn bandwidth(line: &str, at: usize) -> Result<Option<SourceReading>, SourceFault> {
    let Some((name, rest)) = line.rsplit_once(" : ") else { return Ok(None) };
    let mut words = rest.split_whitespace();
    let (Some(value), Some(unit)) = (words.next(), words.next()) else { return Ok(None) };
    if number(value).is_none() {
        return Ok(None);
    }
    if unit != "MB/s" {
        return Err(SourceFault::new(format!("the unit '{}' is not known", shown(unit)), at));
    }
    let name = name.trim();
    let id = format!("tinymembench.{}", snake(name));
    let mut reading = SourceReading::new(id, name, need(value, at)? * 1e6, bytes_per_second("bytes copied or filled"));
    reading = reading.printed_in(value, 1e6);
    // `(0.3%)`; a fork puts the number of repetitions before it, or alone: `(10, 29.4%)`.
    for part in between(rest, "(", ")").unwrap_or_default().split(',').map(str::trim) {
        if part.ends_with('%') {
            reading = reading.note(shown(&format!("stated deviation over repetitions in one process {part}")));
        } else if let Ok(repetitions) = part.parse() {
            reading = reading.counts(1, repetitions);
        }
    }
    Ok(Some(reading))
}

/// `1048576 :    0.9 ns          /     1.4 ns`: what a single and a dual random read add to an access of the L1 cache.
fn latency(sheet: &mut SourceSheet, pages: &str, size: &str, rest: &str, at: usize) -> Result<bool, SourceFault> {
    let Ok(size) = size.trim().parse::<u64>() else { return Ok(false) };
    let Some((single, dual)) = rest.split_once('/') else { return Ok(false) };
    let ends = [("", "one read", single), ("_dual", "two reads at once", dual)];
    for (end, reads, cell) in ends {
        let mut words = cell.split_whitespace();
        let (Some(value), Some("ns")) = (words.next(), words.next()) else {
            return Err(SourceFault::new("a latency is not in ns", at));
        };
        let (id, title) = (format!("tinymembench.extra_latency{end}"), format!("Latency beyond the L1 cache, {reads}"));
        let reading = SourceReading::new(id, title, need(value, at)? * 1e-9, seconds("read"));
        let mut reading = reading.printed_in(value, 1e-9).at("working_set", model::format_size(size));
        if !pages.is_empty() {
            reading = reading.at("pages", axis_value(pages));
        }
        sheet.readings.push(reading);
    }
    Ok(true)
}
