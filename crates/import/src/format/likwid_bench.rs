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

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let (mut kernel, mut threads, mut size) = (String::new(), String::new(), String::new());
    let mut open = None;
    for (at, line) in lines(source.text) {
        if let Some(name) = line.strip_prefix("Test:") {
            (kernel, size) = (axis_value(name), String::new());
            open = Some(at);
            continue;
        }
        if let Some(count) = line.strip_prefix("Using ").and_then(|rest| rest.strip_suffix(" threads")) {
            threads = axis_value(count);
            continue;
        }
        let Some((name, value)) = line.split_once(':') else { continue };
        let here = |reading: SourceReading| {
            let reading = reading.at("kernel", kernel.clone()).at("working_set", format!("{size}B"));
            if threads.is_empty() { reading } else { reading.at("threads", threads.clone()) }
        };
        match name {
            "CPU Clock" if sheet.facts.is_empty() => {
                sheet.facts.push(number("cpu.clock", need(value, at)?, "Hz", "output", &[]));
            }
            "Size (Byte)" => size = axis_value(value),
            "MByte/s" => {
                let rate = need(value, at)? * 1e6;
                let metric = bytes_per_second("bytes loaded + stored");
                sheet.readings.push(here(SourceReading::new("likwid_bench.bandwidth", "Bandwidth", rate, metric)));
                open = None;
            }
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
            _ => {}
        }
    }
    match open {
        Some(at) => Err(SourceFault::new(format!("kernel '{kernel}' has no bandwidth"), at)),
        None => Ok(Parsed::Sheets(vec![sheet])),
    }
}
