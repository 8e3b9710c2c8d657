//! STREAM (McCalpin): best rate, and average, least and greatest time of each kernel's repetitions in one process.

use model::format_size;

use super::{CodeFormat, Parsed, SourceText, likely, sure};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, bytes_per_second};
use crate::text::{SourceFault, after, between, first_number, half_digit, lines, need, shown};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "stream",
    tool: "STREAM",
    about: "STREAM's table; the value is the average over the repetitions of one process, their least and greatest the range",
    by_lines: true,
    detect: |head| {
        let table =
            likely(head, &["Best Rate MB/s", "Triad:"]).max(likely(head, &["Rate (MB/s)", "Avg time", "Triad:"]));
        sure(head, &["STREAM version"]).max(table)
    },
    parse,
};

/// Kernel, our id, words moved for each element.
const KERNELS: [(&str, &str, f64); 4] = [
    ("Copy:", "memory.copy", 2.0),
    ("Scale:", "memory.scale", 2.0),
    ("Add:", "memory.add", 3.0),
    ("Triad:", "memory.triad", 3.0),
];

/// Content of a column of the table.
#[derive(Clone, Copy, PartialEq)]
enum StreamColumn {
    /// Rate of the fastest repetition, in bytes a second for one of the column.
    Best(f64),
    Average,
    Least,
    Greatest,
}

/// Headings of columns: names of its versions, in C and Fortran.
const COLUMNS: [(&str, StreamColumn); 7] = [
    ("Best Rate MB/s", StreamColumn::Best(1e6)),
    ("Rate (MB/s)", StreamColumn::Best(1e6)),
    ("Rate (GB/s)", StreamColumn::Best(1e9)),
    ("Avg time", StreamColumn::Average),
    ("RMS time", StreamColumn::Average),
    ("Min time", StreamColumn::Least),
    ("Max time", StreamColumn::Greatest),
];

/// What is known of the process whose output is read.
#[derive(Default)]
struct StreamProcess {
    columns: Vec<StreamColumn>,
    elements: Option<f64>,
    word: Option<f64>,
    threads: Option<f64>,
    repetitions: Option<f64>,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let mut process = StreamProcess::default();
    let (mut last, mut failed) = (0, None);
    for (at, line) in lines(source.text) {
        last = at;
        let trimmed = line.trim();
        if let Some(rest) = trimmed.strip_prefix("Function") {
            process.columns = columns(rest, at)?;
            sheet.begin_process();
        } else if let Some(kernel) = KERNELS.iter().find(|(name, ..)| trimmed.starts_with(name)) {
            sheet.readings.push(reading(kernel, &process, trimmed, at)?);
        } else if trimmed.starts_with("Failed Validation") {
            // Rates of arrays that hold wrong values are of other work. A line for each array says so.
            sheet.readings.truncate(sheet.processes.last().copied().unwrap_or_default());
            failed = failed.or(Some(at));
        } else if let Some(version) = between(line, "$Revision:", "$") {
            sheet.version = Some(version.to_owned());
            process = StreamProcess::default();
        } else if let Some(rest) = after(line, "Array size =") {
            process.elements = first_number(rest);
        } else if line.contains("bytes per array element") || line.contains("bytes per DOUBLE PRECISION word") {
            process.word = first_number(line);
        } else if let Some(rest) = after(line, "Number of Threads counted =")
            .or(after(line, "Number of Threads requested ="))
            .or(after(line, "Number of Threads ="))
        {
            process.threads = first_number(rest);
        } else if let Some(rest) = after(line, "Each kernel will be executed").or(after(line, "Each test is run")) {
            process.repetitions = first_number(rest);
        } else if !NOTHING.iter().any(|words| trimmed.starts_with(words)) {
            continue;
        }
        source.took(at);
    }
    if sheet.readings.len() % KERNELS.len() != 0 {
        return Err(SourceFault::new("its table lacks some of the four kernels", last));
    }
    if let Some(at) = failed {
        if sheet.readings.is_empty() {
            return Err(SourceFault::new("its arrays failed STREAM's own validation", at));
        }
        sheet.notes.push("a process whose arrays failed STREAM's own validation was left out".to_owned());
    }
    Ok(Parsed::Sheets(vec![sheet]))
}

/// Beginnings of lines that state nothing to keep.
const NOTHING: [&str; 7] = [
    "Memory per array =",
    "Total memory required =",
    "Your clock granularity",
    "Each test below will take",
    "(= ",
    "you are not getting at least",
    "Solution Validates",
];

/// The columns after the kernel's name, which stand at least two blanks apart.
fn columns(heading: &str, at: usize) -> Result<Vec<StreamColumn>, SourceFault> {
    let mut columns = Vec::new();
    for name in heading.split("  ").map(str::trim).filter(|name| !name.is_empty()) {
        let known = COLUMNS.iter().find(|(known, _)| *known == name);
        let Some((_, column)) = known else {
            return Err(SourceFault::new(format!("its column '{}' is not known", shown(name)), at));
        };
        columns.push(*column);
    }
    if !columns.iter().any(|column| matches!(column, StreamColumn::Best(_))) {
        return Err(SourceFault::new("the heading of its table has no column of rates", at));
    }
    Ok(columns)
}

fn reading(
    &(name, id, words): &(&str, &'static str, f64),
    process: &StreamProcess,
    line: &str,
    at: usize,
) -> Result<SourceReading, SourceFault> {
    let cells: Vec<&str> = line.strip_prefix(name).unwrap_or(line).split_whitespace().collect();
    if process.columns.is_empty() {
        return Err(SourceFault::new("this row of its table has no heading", at));
    }
    if cells.len() != process.columns.len() {
        let (has, names) = (cells.len(), process.columns.len());
        return Err(SourceFault::new(format!("the row has {has} values and its heading {names}"), at));
    }
    let (mut best, mut times, mut rounding) = (0.0, [None; 3], 0.0);
    for (column, cell) in process.columns.iter().zip(cells) {
        let value = need(cell, at)?;
        match column {
            StreamColumn::Best(scale) => best = value * scale,
            StreamColumn::Average => times[0] = Some(value),
            StreamColumn::Least => {
                times[1] = Some(value);
                rounding = half_digit(cell);
            }
            StreamColumn::Greatest => times[2] = Some(value),
        }
    }
    let array = process.elements.map(|count| count * process.word.unwrap_or(8.0));
    let metric = bytes_per_second("bytes read + written");
    let mut reading = match times {
        [Some(average), Some(least), Some(greatest)] if least > 0.0 && average > 0.0 => {
            let bytes = array.map_or(best * least, |array| array * words);
            // Older versions print short times with two digits.
            let tolerance = 0.02 + rounding / least;
            if (bytes / least / best - 1.0).abs() > tolerance {
                return Err(SourceFault::new("its rate and its times contradict each other", at));
            }
            let count = process.repetitions.unwrap_or(1.0) as u32;
            SourceReading::new(id, id, bytes / average, metric)
                .spread(SourceSpread::Range(bytes / greatest, bytes / least))
                .counts(1, count)
                .note(format!("average over one process; STREAM's own figure is the best, {} MB/s", best / 1e6))
                .rounded(rounding / average)
        }
        _ => SourceReading::new(format!("stream.{}_best", &id["memory.".len()..]), id, best, metric)
            .note("the best of one process: its times are not stated, or too short for their digits"),
    };
    // The working set is that of the arrays that the kernel uses, as in all probes.
    if let Some(bytes) = array.map(|array| array * words).filter(|bytes| *bytes < 1e18) {
        reading = reading.at("working_set", format_size(bytes as u64));
    }
    if let Some(threads) = process.threads {
        reading = reading.at("threads", threads.to_string());
    }
    Ok(reading)
}
