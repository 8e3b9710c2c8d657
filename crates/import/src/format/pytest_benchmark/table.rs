//! The table that pytest-benchmark prints on the terminal.

use crate::format::{Confidence, SourceText, likely};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, seconds};
use crate::text::{SourceFault, axis_value, between, check_lines, grouped, lines, number, shown, spans};

/// What stands before the unit of the times.
const NAME: &str = "Name (time in ";

/// Columns beside those of times.
const OTHERS: [&str; 7] = ["StdDev", "IQR", "Outliers", "Outliers(*)", "OPS", "Rounds", "Iterations"];

/// Words of lines that say what is done, and what the columns mean.
const NOTHING: [&str; 8] =
    ["platform ", "collected ", "plugins:", "cachedir:", "Legend:", "Outliers: ", "OPS: ", "(*) Outliers"];

pub(super) fn detect(head: &[u8]) -> Confidence {
    let times = ["Mean", "Median", "Min"].map(|column| likely(head, &[NAME, column]));
    times.into_iter().max().unwrap_or(Confidence::No)
}

/// Whether a text is what the terminal showed.
pub(super) fn is_table(text: &str) -> bool {
    text.contains(NAME)
}

/// One table.
struct PytestTable {
    /// Seconds in the unit of its times.
    scale: f64,
    columns: Vec<String>,
    group: Option<String>,
}

/// A row: what is measured, and a word for each column.
struct PytestRow<'a> {
    name: &'a str,
    words: Vec<&'a str>,
}

pub(super) fn parse(sheet: &mut SourceSheet, source: &SourceText<'_>) -> Result<(), SourceFault> {
    check_lines(source.text)?;
    let (mut table, mut group): (Option<PytestTable>, Option<String>) = (None, None);
    for (at, line) in lines(source.text) {
        // Results are kept in comments of the tests.
        let line = line.trim_start_matches(['#', '/', '>', '|', ' ', '\t']).trim_end();
        if line.contains(" test session starts ") {
            sheet.begin_process();
        } else if line.starts_with("--") && line.contains(" benchmark") {
            group = between(line, "benchmark '", "': ").map(str::to_owned);
            table = None;
        } else if let Some(rest) = line.strip_prefix(NAME) {
            table = Some(heading(rest, group.take(), at)?);
        } else if line.is_empty() {
            table = None;
        } else if let Some(row) = table.as_ref().and_then(|table| row(line, table.columns.len())) {
            let Some(table) = &table else { continue };
            sheet.readings.push(reading(table, &row, at)?);
        } else if let Some(version) = line.strip_prefix("benchmark: ").filter(|rest| rest.contains("(defaults:")) {
            sheet.version = version.split_whitespace().next().map(str::to_owned);
        } else {
            let progress = line.ends_with("%]") || (line.starts_with("==") && line.ends_with("=="));
            if !progress && !NOTHING.iter().any(|begin| line.starts_with(begin)) {
                continue;
            }
        }
        source.took(at);
    }
    Ok(())
}

fn heading(rest: &str, group: Option<String>, at: usize) -> Result<PytestTable, SourceFault> {
    let (unit, names) = rest.split_once(')').unwrap_or((rest, ""));
    let scale = match unit {
        "s" => 1.0,
        "ms" => 1e-3,
        "us" | "\u{b5}s" | "\u{3bc}s" => 1e-6,
        "ns" => 1e-9,
        _ => return Err(SourceFault::new(format!("the time's unit '{}' is not known", shown(unit)), at)),
    };
    // The unit of the rate, `(Kops/s)`, belongs to the name before it.
    let columns: Vec<String> =
        names.split_whitespace().filter(|word| !word.starts_with('(')).map(str::to_owned).collect();
    let known =
        |name: &String| ["Min", "Max", "Mean", "Median"].contains(&name.as_str()) || OTHERS.contains(&name.as_str());
    match columns.iter().find(|name| !known(name)) {
        Some(other) => Err(SourceFault::new(format!("its column '{}' is not known", shown(other)), at)),
        None => Ok(PytestTable { scale, columns, group }),
    }
}

/// The words of a row from the right, where every number may have its ratio to the best behind it; what stands before
/// them is the name, which may have blanks.
fn row(line: &str, columns: usize) -> Option<PytestRow<'_>> {
    let (mut words, mut ratio) = (Vec::with_capacity(columns), false);
    for (start, end) in spans(line).into_iter().rev() {
        let word = &line[start..end];
        if words.len() == columns {
            return Some(PytestRow { name: &line[..end], words: words.into_iter().rev().collect() });
        }
        if word.starts_with('(') && word.ends_with(')') && !ratio {
            ratio = true;
            continue;
        }
        ratio = false;
        if !word.split(';').all(|part| value(part).is_some() || ["inf", "nan"].contains(&part)) {
            return None;
        }
        words.push(word);
    }
    None
}

/// A number, whose thousands may be grouped by commas.
fn value(word: &str) -> Option<f64> {
    number(&grouped(word)?)
}

fn reading(table: &PytestTable, row: &PytestRow<'_>, at: usize) -> Result<SourceReading, SourceFault> {
    let cell = |name: &str| {
        let place = table.columns.iter().position(|known| known == name)?;
        Some((grouped(row.words[place])?, value(row.words[place])?))
    };
    let (id, title, found) = match (cell("Median"), cell("Mean")) {
        (Some(median), _) => ("pytest_benchmark.time", row.name, median),
        (None, Some(mean)) => ("pytest_benchmark.mean", "Time, mean", mean),
        (None, None) => return Err(SourceFault::new("the table has neither the median nor the mean", at)),
    };
    let (digits, time) = found;
    let mut reading = SourceReading::new(id, title, time * table.scale, seconds("iteration"));
    reading = reading.printed_in(&digits, table.scale).at("benchmark", axis_value(row.name));
    if let Some(group) = &table.group {
        reading = reading.at("group", axis_value(group));
    }
    let rounds = cell("Rounds").map(|(_, rounds)| rounds);
    if let Some(((_, least), (_, greatest))) = cell("Min").zip(cell("Max")).filter(|_| rounds != Some(1.0)) {
        reading = reading.spread(SourceSpread::Range(least * table.scale, greatest * table.scale));
        reading = reading.note("the range is of rounds in one process");
    }
    Ok(match rounds {
        Some(rounds) => reading.counts(1, rounds as u32),
        None => reading,
    })
}
