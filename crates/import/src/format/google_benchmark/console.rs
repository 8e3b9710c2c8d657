//! Google Benchmark's table on the terminal: the same entries as its JSON, with fewer digits.

use std::collections::{HashMap, HashSet};

use model::{Primitive, Unit};

use super::{Confidence, GoogleBenchmarkEntry, SourceText, add, scale};
use crate::date::iso;
use crate::sheet::{SourceSheet, number as fact};
use crate::text::{SourceFault, axis_value, between, lines, number, one_line, plain, shown};

/// Statistics over repetitions, by the end of a row's name.
const STATISTICS: [&str; 3] = ["mean", "median", "stddev"];

/// Statistics that are no figures of a benchmark: they are not read from the JSON either.
const OTHERS: [&str; 3] = ["_BigO", "_RMS", "_cv"];

pub(super) fn detect(head: &[u8]) -> Confidence {
    let text = String::from_utf8_lossy(head);
    let mut before = "";
    for line in text.lines() {
        // Its heading stands between two lines of dashes.
        if before.len() > 40 && before.bytes().all(|byte| byte == b'-') && is_heading(line) {
            return Confidence::Sure;
        }
        before = line.trim();
    }
    Confidence::No
}

fn is_heading(line: &str) -> bool {
    let mut words = line.split_whitespace();
    ["Benchmark", "Time", "CPU", "Iterations"].iter().all(|name| words.next() == Some(name))
}

/// The process whose tables are read: with --benchmark_counters_tabular it has several.
#[derive(Default)]
struct Console {
    entries: Vec<GoogleBenchmarkEntry>,
    /// Names in the tables above the present one.
    earlier: HashSet<String>,
    /// Columns of counters, if the heading names them.
    counters: Vec<String>,
    program: String,
    /// Counters of the benchmarks' own: how many rows have some, and the first.
    own: (usize, String),
}

pub(super) fn parse(source: &SourceText<'_>) -> Result<SourceSheet, SourceFault> {
    let text = plain(source.text);
    let mut sheet = SourceSheet::default();
    let mut programs: Vec<(usize, String)> = Vec::new();
    let (mut console, mut inside) = (Console::default(), false);
    for (at, line) in lines(&text) {
        let line = line.trim();
        if is_heading(line) {
            inside = true;
            console.earlier = console.entries.iter().map(|entry| entry.name.clone()).collect();
            let counters = line.split_whitespace().skip(4).filter(|name| *name != "UserCounters...");
            console.counters = counters.map(str::to_owned).collect();
        } else if let Some(program) = line.strip_prefix("Running ").filter(|name| !name.contains(' ')) {
            finish(&mut sheet, &mut programs, &mut console);
            program.clone_into(&mut console.program);
            inside = false;
        } else if let Some(words) = between(line, "Run on (", ")") {
            describe(&mut sheet, words);
        } else if sheet.started.is_empty() && !iso(line).is_empty() {
            sheet.started = iso(line);
        } else if inside && is_other(line) {
            // They follow from rows that are read.
        } else if let Some(entry) = row(&mut console, line, at)?.filter(|_| inside) {
            // A table of the same benchmarks again is that of a further process.
            if console.earlier.contains(&entry.name) {
                let (counters, program) = (std::mem::take(&mut console.counters), console.program.clone());
                finish(&mut sheet, &mut programs, &mut console);
                console = Console { counters, program, ..Console::default() };
            }
            console.entries.push(entry);
        } else if !is_detail(line) {
            continue;
        }
        source.took(at);
    }
    finish(&mut sheet, &mut programs, &mut console);
    // Tables of several programs have nothing else to tell equal names apart.
    if programs.iter().any(|(_, program)| *program != programs[0].1) {
        for (index, reading) in sheet.readings.iter_mut().enumerate() {
            let before = &programs[..programs.partition_point(|(start, _)| *start <= index)];
            let program = before.last().map_or("", |(_, program)| program);
            reading.point = std::mem::take(&mut reading.point).with("program", axis_value(program));
        }
    } else if let Some((_, program)) = programs.first().filter(|(_, program)| !program.is_empty()) {
        sheet.command = vec![axis_value(program)];
    }
    Ok(sheet)
}

/// Whether a row is of a statistic that is no figure.
fn is_other(line: &str) -> bool {
    let name = line.split_whitespace().next().unwrap_or_default();
    OTHERS.iter().any(|end| name.ends_with(end))
}

/// `16 X 4500 MHz CPU s`
fn describe(sheet: &mut SourceSheet, words: &str) {
    let words: Vec<&str> = words.split_whitespace().collect();
    let [count, "X", clock, "MHz", ..] = words[..] else { return };
    sheet.fact(number(count).map(|count| fact("cpu.count", count, "1", "context", &[])));
    let clock = number(clock).map(|clock| fact("cpu.clock", clock * 1e6, "Hz", "context", &[Primitive::CoreClock]));
    sheet.fact(clock);
}

/// What it says of caches and load, and warnings.
fn is_detail(line: &str) -> bool {
    let begins = ["CPU Caches:", "L1 ", "L2 ", "L3 ", "L4 ", "Load Average:", "***WARNING***", "---"];
    begins.iter().any(|begin| line.starts_with(begin))
}

/// `BM_Copy/8   12.3 ns   12.1 ns   57567 bytes_per_second=11.5877G/s`; before 1.5 `11.5877GB/s`.
fn row(console: &mut Console, line: &str, at: usize) -> Result<Option<GoogleBenchmarkEntry>, SourceFault> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let timed = |first: &usize| {
        let [real, unit, cpu, again, count] = words[*first..*first + 5] else { return false };
        let units = ["ns", "us", "ms", "s"].contains(&unit) && unit == again;
        units && number(real).is_some() && number(cpu).is_some() && count.parse::<u64>().is_ok()
    };
    let Some(first) = (1..words.len().saturating_sub(4)).find(timed) else { return Ok(None) };
    let (mut bytes, mut items, mut own) = (None, None, None);
    for (place, word) in words[first + 5..].iter().enumerate() {
        let (name, rate) = match (word.split_once('='), console.counters.get(place)) {
            (Some(pair), _) => pair,
            (None, Some(name)) => (name.as_str(), *word),
            // Before 1.5 a rate of bytes had no name.
            (None, None) if word.ends_with("B/s") => ("bytes_per_second", word.trim_end_matches("B/s")),
            (None, None) => ("", *word),
        };
        match name {
            "bytes_per_second" => bytes = Some(scaled(rate, 1024.0, at)?),
            "items_per_second" => items = Some(scaled(rate, 1000.0, at)?),
            _ => own = own.or(Some(word)),
        }
    }
    if let Some(word) = own {
        console.own.0 += 1;
        if console.own.1.is_empty() {
            console.own.1 = one_line(word, 40);
        }
    }
    Ok(Some(GoogleBenchmarkEntry {
        name: words[..first].join(" "),
        run_name: None,
        aggregate_name: None,
        real_time: number(words[first]),
        cpu_time: number(words[first + 2]),
        time_unit: Some(words[first + 1].to_owned()),
        bytes_per_second: bytes,
        items_per_second: items,
        error_occurred: false,
        skipped: false,
    }))
}

/// `11.5877G/s`: prefixes of bytes count 1024, with an i or without, and those of items 1000.
fn scaled(rate: &str, base: f64, at: usize) -> Result<f64, SourceFault> {
    let word = rate.strip_suffix("/s").unwrap_or(rate);
    let end = word.find(|c: char| c.is_ascii_alphabetic() && c != 'e').unwrap_or(word.len());
    let (digits, prefix) = word.split_at(end);
    let (prefix, base) = prefix.strip_suffix('i').map_or((prefix, base), |prefix| (prefix, 1024.0));
    let power = match prefix {
        "" => 0,
        "k" | "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        "m" => -1,
        "u" => -2,
        _ => return Err(SourceFault::new(format!("'{}' is not a rate with a known unit", shown(rate)), at)),
    };
    let value = number(digits);
    let value = value.ok_or_else(|| SourceFault::new(format!("'{}' is not a usable number", shown(rate)), at))?;
    Ok(value * base.powi(power))
}

/// The process ends: rows whose name ends in that of a statistic over other rows are such.
fn finish(sheet: &mut SourceSheet, programs: &mut Vec<(usize, String)>, console: &mut Console) {
    let mut console = std::mem::take(console);
    if console.entries.is_empty() {
        return;
    }
    sheet.begin_process();
    programs.push((sheet.readings.len(), std::mem::take(&mut console.program)));
    let names: HashSet<String> = console.entries.iter().map(|entry| entry.name.clone()).collect();
    for entry in &mut console.entries {
        let Some((base, statistic)) = entry.name.rsplit_once('_') else { continue };
        let Some(statistic) = STATISTICS.iter().find(|name| **name == statistic) else { continue };
        // With only the statistics printed, the deviation stands beside the mean.
        if names.contains(base) || names.contains(&format!("{base}_stddev")) && names.contains(&format!("{base}_mean"))
        {
            entry.run_name = Some(base.to_owned());
            entry.aggregate_name = Some((*statistic).to_owned());
        }
    }
    let (rows, first) = console.own;
    if rows > 0 {
        sheet.notes.push(format!("counters of their own in {rows} rows are not read; the first is '{first}'"));
    }
    let before = sheet.readings.len();
    add(sheet, &console.entries);
    let named = |entry: &GoogleBenchmarkEntry| axis_value(entry.run_name.as_deref().unwrap_or(&entry.name));
    let scales: HashMap<String, f64> = console.entries.iter().map(|entry| (named(entry), scale(entry))).collect();
    for reading in &mut sheet.readings[before..] {
        let scale = reading.point.get("benchmark").and_then(|name| scales.get(name));
        if let Some(scale) = scale.filter(|_| reading.value == 0.0 && reading.metric.unit == Unit::Seconds) {
            // A time below 1 is printed with three decimals: 0.000 is less than half of the last.
            reading.below = Some(0.0005 * scale);
        }
    }
}
