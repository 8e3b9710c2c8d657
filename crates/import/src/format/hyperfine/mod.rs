//! hyperfine: the time of every execution in a process of its own, as JSON, as CSV, on the terminal and as the tables
//! that are made for documents.

mod console;
mod markup;

use serde::Deserialize;

use super::{CodeFormat, Parsed, SourceText, sure};
use crate::json::{self, BoundedMap, List, Scalar};
use crate::rows::RowLines;
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, seconds};
use crate::text::{SourceFault, axis_value, check_columns, lines, need};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "hyperfine",
    tool: "hyperfine",
    about: "JSON: all times, each of a fresh process, with the interval that they support; CSV: the median, and least \
            and greatest as the range; terminal and tables in Markdown, AsciiDoc and Org mode: the mean, which is \
            another figure, and the same range",
    by_lines: true,
    detect: |head| {
        let json = sure(head, &["\"results\"", "\"command\"", "\"mean\""]);
        json.max(sure(head, &["command,mean,stddev,median"])).max(console::detect(head)).max(markup::detect(head))
    },
    parse,
};

#[derive(Deserialize)]
struct HyperfineDocument {
    results: List<HyperfineResult>,
}

#[derive(Deserialize)]
struct HyperfineResult {
    command: String,
    mean: f64,
    median: Option<f64>,
    user: Option<f64>,
    system: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
    #[serde(default)]
    times: List<f64>,
    #[serde(default)]
    exit_codes: List<Option<f64>>,
    #[serde(default)]
    parameters: BoundedMap<Scalar>,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    if source.text.trim_start().starts_with("command,") {
        // A table is read by the names of its columns.
        lines(source.text).for_each(|(at, _)| source.took(at));
        comma_separated(&mut sheet, source.text)?;
        return Ok(Parsed::Sheets(vec![sheet]));
    }
    if console::is_terminal(source.text) {
        console::parse(&mut sheet, source)?;
        return Ok(Parsed::Sheets(vec![sheet]));
    }
    if markup::is_table(source.text) {
        markup::parse(&mut sheet, source)?;
        return Ok(Parsed::Sheets(vec![sheet]));
    }
    let document: HyperfineDocument = json::read_noting(source.text, &source.ledger)?;
    for outcome in document.results.0 {
        let value = outcome.median.unwrap_or(outcome.mean);
        let mut reading = SourceReading::new("hyperfine.time", "Wall time", value, seconds("execution"));
        reading = reading.at("command", axis_value(&outcome.command));
        for (name, value) in &outcome.parameters.0 {
            reading = reading.at(&parameter(name), axis_value(&value.words()));
        }
        if let Some((user, system)) = outcome.user.zip(outcome.system) {
            reading = reading.note(format!(
                "on average {:.3} ms in user mode and {:.3} ms in the kernel",
                1e3 * user,
                1e3 * system
            ));
        }
        let failed = outcome.exit_codes.0.iter().filter(|code| **code != Some(0.0)).count();
        if failed > 0 {
            reading = reading.note(format!("{failed} executions did not end with exit code 0"));
        }
        let spread = match outcome.min.zip(outcome.max) {
            _ if !outcome.times.0.is_empty() => SourceSpread::Launches(outcome.times.0),
            Some((least, greatest)) => SourceSpread::Range(least, greatest),
            None => SourceSpread::None,
        };
        sheet.readings.push(reading.spread(spread));
    }
    Ok(Parsed::Sheets(vec![sheet]))
}

/// A parameter's name as that of an axis.
fn parameter(name: &str) -> String {
    axis_value(name).replace('=', ":")
}

fn comma_separated(sheet: &mut SourceSheet, source: &str) -> Result<(), SourceFault> {
    check_columns(source)?;
    let mut reader = csv::Reader::from_reader(source.as_bytes());
    let mut rows = RowLines::new(source);
    let fault = |line| SourceFault::new("the row and the heading differ in length", line);
    let names = reader.headers().map_err(|_| fault(1))?.clone();
    for record in reader.records() {
        let record = record.map_err(|error| fault(rows.at(error.position())))?;
        let line = rows.at(record.position());
        let cell = |name: &str| {
            let at = names.iter().position(|known| known == name);
            at.and_then(|at| record.get(at))
                .ok_or_else(|| SourceFault::new(format!("there is no column '{name}'"), line))
        };
        let value = need(cell("median")?, line)?;
        let spread = SourceSpread::Range(need(cell("min")?, line)?, need(cell("max")?, line)?);
        let reading = SourceReading::new("hyperfine.time", "Wall time", value, seconds("execution")).spread(spread);
        let mut reading = reading.at("command", axis_value(cell("command")?));
        for (name, value) in names.iter().zip(&record) {
            // Commands of one name differ in their parameters, as in the JSON.
            if let Some(name) = name.strip_prefix("parameter_") {
                reading = reading.at(&parameter(name), axis_value(value));
            }
        }
        sheet.readings.push(reading.note("the number of executions behind the range is not stated"));
    }
    Ok(())
}
