//! likwid-bench: one kernel, timed as a whole.

use model::{Metric, Unit};

use super::{ImportFormat, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, number};
use crate::text::{SourceFault, axis_value, lines, need, snake};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "likwid-bench",
    tool: "likwid-bench",
    about: "bandwidth, floating-point rate and cycles of each kernel; no spread is stated",
    by_lines: true,
    detect: |head| sure(head, &["LIKWID MICRO BENCHMARK"]),
    parse,
};

/// Counts behind the rates.
const COUNTS: [&str; 17] = [
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
    let mut open = None;
    for (at, line) in lines(source.text) {
        if let Some(name) = line.strip_prefix("Test:") {
            (kernel, size) = (axis_value(name), String::new());
            open = Some(at);
            sheet.begin_process();
            source.took(at);
            continue;
        }
        if let Some(count) = line.strip_prefix("Using ").and_then(|rest| rest.strip_suffix(" threads")) {
            threads = axis_value(count);
            source.took(at);
            continue;
        }
        if NOTHING.iter().any(|words| line.starts_with(words)) {
            source.took(at);
            continue;
        }
        let Some((name, value)) = line.split_once(':') else { continue };
        let here = |reading: SourceReading| {
            let reading = reading.at("kernel", kernel.clone());
            let reading = if size.is_empty() { reading } else { reading.at("working_set", format!("{size}B")) };
            if threads.is_empty() { reading } else { reading.at("threads", threads.clone()) }
        };
        match name {
            "CPU Clock" if sheet.facts.is_empty() => {
                sheet.facts.push(number("cpu.clock", need(value, at)?, "Hz", "output", &[]));
            }
            // Version 4 calls the same number of bytes `Size`.
            "Size (Byte)" | "Size" => size = axis_value(value),
            "MByte/s" => {
                let rate = need(value, at)? * 1e6;
                let metric = bytes_per_second("bytes loaded + stored");
                sheet.readings.push(here(SourceReading::new("likwid_bench.bandwidth", "Bandwidth", rate, metric)));
                open = None;
            }
            // Kernels that only move data have no such rate.
            "MFlops/s" if need(value, at)? == 0.0 => {}
            "MFlops/s" => {
                let metric = Metric::higher(Unit::PerSecond, "floating-point operations");
                let reading =
                    SourceReading::new("likwid_bench.flops", "Floating-point rate", need(value, at)? * 1e6, metric);
                sheet.readings.push(here(reading));
            }
            "Cycles per update" | "Cycles per cacheline" => {
                let metric = Metric::lower(Unit::Count, "cycles");
                let id = format!("likwid_bench.{}", snake(name));
                sheet.readings.push(here(SourceReading::new(id, name, need(value, at)?, metric)));
            }
            _ if COUNTS.contains(&name) => {}
            _ => continue,
        }
        source.took(at);
    }
    match open {
        Some(at) => Err(SourceFault::new(format!("kernel '{kernel}' has no bandwidth"), at)),
        None => Ok(Parsed::Sheets(vec![sheet])),
    }
}
