//! JMH's tables of separated values: `-rf csv` and `-rf scsv`.

use super::{SourceText, benchmark, is_part};
use crate::rows::RowLines;
use crate::sheet::SourceSheet;
use crate::text::{SourceFault, check_columns, lines, need, number, parameter_value, shown};

/// Content of a column.
enum JmhColumn {
    Benchmark,
    Mode,
    Threads,
    Samples,
    Score,
    Error,
    Unit,
    /// Of a parameter of the benchmark: its name.
    Parameter(String),
}

/// What the heading begins with, before any parameter.
const BEGINS: [&str; 3] = ["Benchmark", "Mode", "Threads"];

/// The separator of a heading that begins the text, if it is one.
pub(super) fn separator(text: &[u8]) -> Option<u8> {
    let heading = text.split(|byte| *byte == b'\n').next()?;
    let heading = std::str::from_utf8(heading).ok()?;
    [b',', b';'].into_iter().find(|separator| {
        let mut cells = heading.split(char::from(*separator)).map(|cell| cell.trim().trim_matches('"'));
        BEGINS.iter().all(|name| cells.next() == Some(name))
    })
}

pub(super) fn parse(source: &SourceText<'_>, separator: u8) -> Result<SourceSheet, SourceFault> {
    if separator == b',' {
        check_columns(source.text)?;
    }
    let mut reader = csv::ReaderBuilder::new().delimiter(separator).from_reader(source.text.as_bytes());
    let mut rows = RowLines::new(source.text);
    let fault = |line| SourceFault::new("the row and the heading differ in length", line);
    let names = reader.headers().map_err(|_| fault(1))?.clone();
    let columns: Vec<JmhColumn> = names.iter().map(column).collect::<Result<_, _>>()?;
    let mut sheet = SourceSheet::default();
    sheet.begin_process();
    for record in reader.records() {
        let record = record.map_err(|error| fault(rows.at(error.position())))?;
        let line = rows.at(record.position());
        if record == names {
            // The table of a further process was appended.
            sheet.begin_process();
        } else if !row(&mut sheet, &columns, &record, line)? {
            continue;
        }
        source.took(line);
    }
    lines(source.text).take(1).for_each(|(at, _)| source.took(at));
    Ok(sheet)
}

fn column(name: &str) -> Result<JmhColumn, SourceFault> {
    Ok(match name {
        "Benchmark" => JmhColumn::Benchmark,
        "Mode" => JmhColumn::Mode,
        "Threads" => JmhColumn::Threads,
        "Samples" => JmhColumn::Samples,
        "Score" => JmhColumn::Score,
        "Score Error (99.9%)" => JmhColumn::Error,
        "Unit" => JmhColumn::Unit,
        other => match other.strip_prefix("Param: ") {
            Some(parameter) => JmhColumn::Parameter(parameter_value(parameter).replace('=', ":")),
            None => return Err(SourceFault::new(format!("its column '{}' is not known", shown(other)), 1)),
        },
    })
}

/// Whether the row is a score; those of profilers and percentiles are other quantities.
fn row(
    sheet: &mut SourceSheet,
    columns: &[JmhColumn],
    record: &csv::StringRecord,
    line: usize,
) -> Result<bool, SourceFault> {
    let (mut name, mut mode, mut unit, mut threads, mut score, mut error) = ("", "", "", "", "", None);
    let mut parameters = Vec::new();
    for (column, cell) in columns.iter().zip(record) {
        match column {
            JmhColumn::Benchmark => name = cell,
            JmhColumn::Mode => mode = cell,
            JmhColumn::Threads => threads = cell,
            JmhColumn::Score => score = cell,
            JmhColumn::Error => error = number(cell),
            JmhColumn::Unit => unit = cell,
            JmhColumn::Samples => {}
            // A benchmark without the parameter has an empty cell.
            JmhColumn::Parameter(_) if cell.is_empty() => {}
            JmhColumn::Parameter(parameter) => parameters.push((parameter, cell)),
        }
    }
    if is_part(name) {
        return Ok(false);
    }
    need(score, line)?;
    let mut reading = benchmark(name, mode, score, unit, line)?;
    if threads != "1" {
        reading = reading.at("threads", parameter_value(threads));
    }
    for (parameter, value) in parameters {
        reading = reading.at(parameter, parameter_value(value));
    }
    if let Some(error) = error {
        reading = reading.note(format!("JMH's error at 99.9% over iterations: {error} {}", parameter_value(unit)));
    }
    sheet.readings.push(reading);
    Ok(true)
}
