//! `perf bench` in its default output.

use super::{ImportFormat, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, bytes_per_second, rate, seconds};
use crate::text::{SourceFault, after, axis_value, between, lines, need, number, shown, snake};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "perf-bench",
    tool: "perf bench",
    about: "time an operation, rates, copies; where threads are averaged their stated deviation is a note, for they are \
            not independent runs",
    by_lines: true,
    detect: |head| sure(head, &["# Running '", "' benchmark:"]).max(sure(head, &["# Running numa/mem benchmark"])),
    parse,
};

/// Units of data rates, in powers of 1024.
const RATES: [(&str, f64); 4] =
    [("GB/sec", 1_073_741_824.0), ("MB/sec", 1_048_576.0), ("KB/sec", 1024.0), ("B/sec", 1.0)];

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let (mut name, mut function, mut open) = (String::new(), None, None);
    for (at, line) in lines(source.text) {
        let title =
            between(line, "# Running '", "' benchmark:").or_else(|| between(line, "# Running ", " benchmark..."));
        if let Some(words) = title {
            if let Some((place, last)) = open.replace((at, words.to_owned())) {
                return Err(SourceFault::new(format!("benchmark '{last}' has no result"), place));
            }
            (name, function) = (snake(words), None);
            sheet.begin_process();
            source.took(at);
            continue;
        }
        if name.is_empty() {
            continue;
        }
        if let Some(words) = between(line, "# function '", "'") {
            function = Some(words.to_owned());
            source.took(at);
            continue;
        }
        let found = if name == "numa_mem" { numa(line, at)? } else { figure(&name, line.trim(), at)? };
        if let Some(reading) = found {
            let reading = match &function {
                Some(function) => reading.at("function", axis_value(function)),
                None => reading,
            };
            sheet.readings.push(reading);
            open = None;
            source.took(at);
        } else if is_progress(line.trim()) {
            source.took(at);
        }
    }
    match open {
        Some((place, last)) => Err(SourceFault::new(format!("benchmark '{last}' has no result"), place)),
        None => Ok(Parsed::Sheets(vec![sheet])),
    }
}

/// Comments, single threads and runs of which an average follows, and the inverse of a time.
fn is_progress(line: &str) -> bool {
    // The amount of work of a case of numa/mem, and the spread over its threads.
    let amount = [", GB,", ", %,"].iter().any(|unit| line.contains(unit));
    amount
        || line.starts_with('#')
        || line.starts_with('[')
        || line.starts_with("Run summary")
        || line.ends_with(" ops/sec")
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
        let (value, deviation) = rest
            .split_once("operations/sec")
            .ok_or_else(|| SourceFault::new("the unit of this average is not known", at))?;
        let reading = SourceReading::new(format!("perf_bench.{name}"), name, need(value, at)?, rate("operations"));
        let note = format!("mean over threads; stated deviation {}", deviation.trim());
        return Ok(Some(reading.note(shown(&note))));
    }
    if let Some(reading) = futex(name, line, at)? {
        return Ok(Some(reading));
    }
    if let Some(value) = line.strip_suffix("usecs/op") {
        let id = format!("perf_bench.{name}");
        return Ok(Some(SourceReading::new(id, name, need(value, at)? * 1e-6, seconds("operation"))));
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

/// `Wokeup 4 of 4 threads in 0.0360 ms (+-5.27%)`, `Requeued 4 of 4 threads in 0.0138 ms (+-8.16%)`,
/// `Avg per-thread latency (waking 1/4 threads) in 0.0270 ms (+-4.12%)`: means over ten runs in one process.
fn futex(name: &str, line: &str, at: usize) -> Result<Option<SourceReading>, SourceFault> {
    let known = ["Wokeup ", "Requeued ", "Avg per-thread latency "].iter().any(|begin| line.starts_with(begin));
    let Some((head, rest)) = line.split_once(" threads").filter(|_| known) else { return Ok(None) };
    let Some(value) = between(rest, " in ", " ms") else {
        return Err(SourceFault::new("the unit of this time is not known", at));
    };
    let threads = head.rsplit([' ', '/']).next().unwrap_or_default();
    let reading = SourceReading::new(format!("perf_bench.{name}"), name, need(value, at)? * 1e-3, seconds("wakeup"));
    let mut reading = reading.printed_in(value, 1e-3).at("threads", axis_value(threads));
    if let Some(deviation) = between(line, "(+-", "%") {
        reading = reading.note(shown(&format!("mean over runs in one process, deviation {deviation}%")));
    }
    Ok(Some(reading))
}

/// ` RAM-bw-local,    20.111, secs,  runtime-max/thread`: case, value, unit, quantity.
fn numa(line: &str, at: usize) -> Result<Option<SourceReading>, SourceFault> {
    let cells: Vec<&str> = line.split(',').map(str::trim).collect();
    let [case, value, unit, quantity] = cells[..] else { return Ok(None) };
    let Some(value) = number(value) else { return Ok(None) };
    let (scale, metric) = match unit {
        "secs" | "sec" => (1.0, seconds("run")),
        "nsecs" => (1e-9, seconds("byte")),
        "GB/sec" => (1e9, bytes_per_second("bytes")),
        // The amount of work and the spread over threads are no figures.
        "GB" | "%" => return Ok(None),
        other => return Err(SourceFault::new(format!("its unit '{}' is not known", shown(other)), at)),
    };
    let id = format!("perf_bench.numa_mem_{}", snake(quantity));
    Ok(Some(SourceReading::new(id, quantity, value * scale, metric).at("case", axis_value(case))))
}
