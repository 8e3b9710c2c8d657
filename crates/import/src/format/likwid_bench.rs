//! likwid-bench: one kernel, timed as a whole.

use model::{Metric, Unit};

use super::{ImportFormat, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, number};
use crate::text::{SourceFault, axis_value, called, lines, need, snake};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "likwid-bench",
    tool: "likwid-bench",
    about: "bandwidth, floating-point rate and cycles of each kernel; no spread is stated",
    by_lines: true,
    detect: |head| sure(head, &["LIKWID MICRO BENCHMARK"]),
    parse,
};

/// Counts behind the rates, and the rate that is not read where it is zero.
const COUNTS: [&str; 18] = [
    "MFlops/s",
    "Cycles",
    "CPU Clock",
    "Cycle Clock",
    "Time",
    "Iterations",
    "Iterations per thread",
    "Inner loop executions",
    "Size per thread",
    "Number of Flops",
    "Data volume (Byte)",
    "Loads per update",
    "Stores per update",
    "Load bytes per element",
    "Store bytes per elem.",
    "Load/store ratio",
    "Instructions",
    "UOPs",
];

/// Beginnings of lines that say what it is about to do.
const NOTHING: [&str; 5] = ["Using ", "Group:", "Allocate:", "Warning: Sanitizing", "Initialization:"];

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let (mut kernel, mut threads, mut size) = (String::new(), String::new(), String::new());
    // Groups of threads, each with a working set of its own in its own domain.
    let mut groups = String::new();
    let mut open = None;
    for (at, line) in lines(source.text) {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        if line.starts_with("Test:") {
            (kernel, size, open) = (axis_value(value), String::new(), Some(at));
            (threads, groups) = (String::new(), String::new());
            sheet.begin_process();
        } else if let Some(count) = line.strip_prefix("Using ").and_then(|rest| rest.strip_suffix(" threads")) {
            threads = axis_value(count);
        } else if let Some(count) = line.strip_prefix("Using ").and_then(|rest| rest.strip_suffix(" work groups")) {
            groups = axis_value(count);
        } else if name == "CPU Clock" && sheet.facts.is_empty() {
            sheet.facts.push(number("cpu.clock", need(value, at)?, "Hz", "output", &[]));
        } else if name == "Size (Byte)" || name == "Size" {
            // Version 4 calls the same number of bytes `Size`.
            size = axis_value(value);
        } else if let Some(reading) = reading(name, value, at)? {
            if reading.id == "likwid_bench.bandwidth" {
                open = None;
            }
            let mut reading = reading.at("kernel", kernel.clone());
            if !["", "1"].contains(&groups.as_str()) {
                reading = reading.at("groups", groups.clone());
            }
            let reading = if size.is_empty() { reading } else { reading.at("working_set", format!("{size}B")) };
            sheet.readings.push(if threads.is_empty() { reading } else { reading.at("threads", threads.clone()) });
        } else if called(line, "likwid-bench").is_some_and(|(_, words)| words.contains(&"-t")) {
            // Its output says what its options are.
            source.took(at);
        } else if !COUNTS.contains(&name) && !NOTHING.iter().any(|words| line.starts_with(words)) {
            continue;
        }
        source.took(at);
    }
    match open {
        Some(at) => Err(SourceFault::new(format!("kernel '{kernel}' has no bandwidth"), at)),
        None => Ok(Parsed::Sheets(vec![sheet])),
    }
}

/// The figure of a line, if it states one.
fn reading(name: &str, value: &str, at: usize) -> Result<Option<SourceReading>, SourceFault> {
    Ok(match name {
        "MByte/s" => {
            let metric = bytes_per_second("bytes loaded + stored");
            Some(SourceReading::new("likwid_bench.bandwidth", "Bandwidth", need(value, at)? * 1e6, metric))
        }
        "MFlops/s" => {
            let rate = need(value, at)? * 1e6;
            let metric = Metric::higher(Unit::PerSecond, "floating-point operations");
            // Kernels that only move data have no such rate.
            (rate != 0.0).then(|| SourceReading::new("likwid_bench.flops", "Floating-point rate", rate, metric))
        }
        "Cycles per update" | "Cycles per cacheline" => {
            let metric = Metric::lower(Unit::Count, "cycles");
            Some(SourceReading::new(format!("likwid_bench.{}", snake(name)), name, need(value, at)?, metric))
        }
        _ => None,
    })
}
