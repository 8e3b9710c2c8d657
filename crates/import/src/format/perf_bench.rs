//! `perf bench` in its default output.

use super::{ImportFormat, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, bytes_per_second, rate, seconds};
use crate::text::{SourceFault, after, between, lines, need, number, snake};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "perf-bench",
    tool: "perf bench",
    about: "time an operation, rates, copies; where threads are averaged their stated deviation is a note, for they are \
            not independent runs",
    by_lines: true,
    detect: |head| sure(head, &["# Running '", "' benchmark:"]),
    parse,
};

/// Units of data rates, in powers of 1024.
const RATES: [(&str, f64); 4] =
    [("GB/sec", 1_073_741_824.0), ("MB/sec", 1_048_576.0), ("KB/sec", 1024.0), ("B/sec", 1.0)];

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let (mut name, mut function, mut open) = (String::new(), None, None);
    for (at, line) in lines(source.text) {
        if let Some(words) = between(line, "# Running '", "' benchmark:") {
            if let Some((place, last)) = open.replace((at, words.to_owned())) {
                return Err(SourceFault::new(format!("benchmark '{last}' has no result"), place));
            }
            (name, function) = (snake(words), None);
            continue;
        }
        if name.is_empty() {
            continue;
        }
        if let Some(words) = between(line, "# function '", "'") {
            function = Some(words.to_owned());
            continue;
        }
        let found = figure(&name, line.trim(), at)?;
        if let Some(reading) = found {
            let reading = match &function {
                Some(function) => reading.at("function", crate::text::axis_value(function)),
                None => reading,
            };
            sheet.readings.push(reading);
            open = None;
        }
    }
    match open {
        Some((place, last)) => Err(SourceFault::new(format!("benchmark '{last}' has no result"), place)),
        None => Ok(Parsed::Sheets(vec![sheet])),
    }
}

fn figure(name: &str, line: &str, at: usize) -> Result<Option<SourceReading>, SourceFault> {
    if line.starts_with('#') || line.starts_with('[') {
        return Ok(None);
    }
    if let Some(value) = between(line, "Total time:", "[") {
        let id = format!("perf_bench.{name}_time");
        return Ok(Some(SourceReading::new(id, format!("{name}: total time"), need(value, at)?, seconds("run"))));
    }
    if let Some(rest) = after(line, "Averaged") {
        let (value, deviation) = rest.split_once("operations/sec").unwrap_or((rest, ""));
        let reading = SourceReading::new(format!("perf_bench.{name}"), name, need(value, at)?, rate("operations"));
        let note = format!("mean over threads; stated deviation {}", deviation.trim());
        return Ok(Some(reading.note(crate::text::shown(&note))));
    }
    if let Some(value) = line.strip_suffix("usecs/op") {
        return Ok(Some(SourceReading::new(
            format!("perf_bench.{name}"),
            name,
            need(value, at)? * 1e-6,
            seconds("operation"),
        )));
    }
    for (unit, scale) in RATES {
        if let Some(value) = line.strip_suffix(unit) {
            let value = need(value, at)? * scale;
            return Ok(Some(SourceReading::new(format!("perf_bench.{name}"), name, value, bytes_per_second("bytes"))));
        }
    }
    // "Average x took: 1.2 usec (+- 0.3 usec)": internals benchmarks repeat in one process.
    if let Some((value, rest)) = between(line, "took:", "usec").zip(after(line, "(+-")) {
        let label = line.split("took:").next().unwrap_or_default();
        let value = need(value, at)? * 1e-6;
        let id = format!("perf_bench.{name}_{}", snake(label));
        let mut reading = SourceReading::new(id, label.trim(), value, seconds("operation"));
        if let Some(error) = rest.split_whitespace().next().and_then(number) {
            let width = error.abs() * 1e-6;
            reading = reading.spread(SourceSpread::Range(value - width, value + width));
        }
        return Ok(Some(reading.note("the stated standard error is of repetitions in one process")));
    }
    Ok(None)
}
