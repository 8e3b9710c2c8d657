//! mbw: copies of an array, each timed, all in one process.

use std::collections::HashSet;

use super::{CodeFormat, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, bytes_per_second};
use crate::text::{SourceFault, after, between, lines, need, parameter_value, snake};

/// Bytes of a MiB, the unit of mbw.
const MIB: f64 = 1_048_576.0;

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "mbw",
    tool: "mbw",
    about: "average, and least and greatest of the copies of one process as the range",
    by_lines: true,
    detect: |head| sure(head, &["Method: MEMCPY"]).max(sure(head, &["Method: DUMB", "MiB"])),
    parse,
};

/// Bytes of a block of its third method, unless -b says another.
const BLOCK: &str = "262144";

/// Copies of one method whose average has not come yet.
#[derive(Default)]
struct MbwMethod {
    name: String,
    size: f64,
    rates: Vec<f64>,
    /// Line of the last copy.
    last: usize,
}

/// Settings of the process whose output is read.
#[derive(Default)]
struct MbwProcess {
    block: String,
    /// Copies of each method, where it says so.
    runs: Option<usize>,
    /// Methods that are done.
    done: HashSet<String>,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let (mut method, mut process) = (MbwMethod::default(), MbwProcess::default());
    for (at, line) in lines(source.text) {
        let Some(name) = between(line, "Method:", "Elapsed:") else {
            // What it is about to do.
            if line.starts_with("Long uses") {
                finish(&mut sheet, std::mem::take(&mut method), None, &process)?;
                sheet.begin_process();
                process = MbwProcess::default();
            }
            if let Some(bytes) = between(line, "Using ", "bytes as blocks") {
                process.block = parameter_value(bytes);
            }
            if let Some(runs) = between(line, "Doing ", "runs per test") {
                process.runs = runs.parse().ok();
            }
            let told = ["Long uses", "Using ", "Getting down"].iter().any(|begin| line.starts_with(begin));
            if told {
                source.took(at);
            }
            continue;
        };
        source.took(at);
        let copied = after(line, "Copy:").ok_or_else(|| SourceFault::new("the line ends early", at))?;
        let (rate, _) = copied.split_once("MiB/s").ok_or_else(|| SourceFault::new("the rate lacks its unit", at))?;
        let rate = need(rate, at)? * MIB;
        let size = need(between(line, "MiB:", "Copy:").unwrap_or_default(), at)?;
        if name != method.name {
            finish(&mut sheet, std::mem::take(&mut method), None, &process)?;
            // With -q a further process begins without a word.
            if process.done.contains(name) {
                sheet.begin_process();
                process = MbwProcess::default();
            }
            process.done.insert(name.to_owned());
            method = MbwMethod { name: name.to_owned(), size, ..MbwMethod::default() };
        }
        if line.starts_with("AVG") {
            finish(&mut sheet, std::mem::take(&mut method), Some(rate), &process)?;
        } else {
            method.rates.push(rate);
            method.last = at;
        }
    }
    finish(&mut sheet, method, None, &process)?;
    Ok(Parsed::Sheets(vec![sheet]))
}

/// With -a it prints no average: as in its own, every copy counts by its time, if all are there.
fn finish(
    sheet: &mut SourceSheet,
    method: MbwMethod,
    stated: Option<f64>,
    process: &MbwProcess,
) -> Result<(), SourceFault> {
    let copies = &method.rates;
    if stated.is_none() && copies.is_empty() {
        return Ok(());
    }
    let times: f64 = copies.iter().map(|rate| 1.0 / rate).sum();
    let mean = Some(copies.len() as f64 / times).filter(|mean| mean.is_finite() && process.runs == Some(copies.len()));
    let Some(rate) = stated.or(mean) else {
        return Err(SourceFault::new("its last method has no average", method.last));
    };
    let block = &process.block;
    let name = &method.name;
    let mut reading = SourceReading::new(format!("mbw.{}", snake(name)), name, rate, bytes_per_second("bytes copied"));
    let least = copies.iter().copied().fold(rate, f64::min);
    let greatest = copies.iter().copied().fold(rate, f64::max);
    let spread = if copies.len() > 1 { SourceSpread::Range(least, greatest) } else { SourceSpread::None };
    let repetitions = u32::try_from(copies.len()).unwrap_or(u32::MAX);
    reading = reading.at("array", format!("{}MiB", method.size));
    if name == "MCBLOCK" && !block.is_empty() && block != BLOCK {
        reading = reading.at("block", format!("{block}B"));
    }
    if stated.is_none() {
        reading = reading.note("the average over its copies, which it did not print");
    }
    sheet.readings.push(reading.spread(spread).counts(1, repetitions));
    Ok(())
}
