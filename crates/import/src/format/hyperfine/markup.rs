//! hyperfine's tables for documents: `--export-markdown`, `--export-asciidoc` and `--export-orgmode`. All state the
//! mean of the executions with its deviation, and the least and the greatest.

use crate::format::{Confidence, SourceText, likely};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, seconds};
use crate::text::{SourceFault, axis_value, between, lines, need, number, shown};

pub(super) fn detect(head: &[u8]) -> Confidence {
    let beside = likely(head, &["| Command ", "| Mean [", "| Min"]);
    // Org mode has two blanks.
    beside.max(likely(head, &["| Command ", "|  Mean [", "|  Min"]))
}

/// Whether a text has one of its tables.
pub(super) fn is_table(text: &str) -> bool {
    text.contains("Command") && text.contains("Mean [") && !text.trim_start().starts_with('{')
}

/// What a column states.
#[derive(Clone, Copy, PartialEq)]
enum MarkupColumn {
    Mean,
    Least,
    Greatest,
    /// Both, as versions before 1.6 wrote them.
    Both,
    Unread,
}

/// The table that is read.
#[derive(Default)]
struct MarkupTable {
    /// Columns behind the command, with their units in seconds.
    columns: Vec<(MarkupColumn, f64)>,
    /// The unit of the mean, as it is written.
    unit: String,
}

/// Headings above the tables, the outer ones first, with their depth.
#[derive(Default)]
struct MarkupSections(Vec<(usize, String)>);

impl MarkupSections {
    /// Takes a heading: `## Large files`, or a line in bold, which stands below all of them.
    fn take(&mut self, line: &str) {
        let depth = line.bytes().take_while(|byte| *byte == b'#').count();
        let bold = line.strip_prefix("**").and_then(|rest| rest.strip_suffix("**"));
        let (depth, name) = match bold {
            _ if depth > 0 && line[depth..].starts_with(' ') => (depth, line.trim_matches('#').trim()),
            Some(name) => (usize::MAX, name.trim_end_matches(':')),
            None => return,
        };
        self.0.retain(|(known, _)| *known < depth);
        if self.0.len() < 16 {
            self.0.push((depth, shown(name)));
        }
    }

    fn path(&self) -> String {
        self.0.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(" / ")
    }
}

pub(super) fn parse(sheet: &mut SourceSheet, source: &SourceText<'_>) -> Result<(), SourceFault> {
    let (mut table, mut sections) = (MarkupTable::default(), MarkupSections::default());
    // Sections where tables of one page begin: their commands may have the same names.
    let mut parts = Vec::new();
    // In AsciiDoc every cell stands on a line of its own, and an empty line ends a row.
    let mut cells: Option<Vec<String>> = None;
    for (at, line) in lines(source.text) {
        let line = line.trim_start_matches(['>', ' ', '\t']).trim_end();
        let row = match &mut cells {
            _ if line == "|===" => {
                let last = cells.take();
                cells = last.is_none().then(Vec::new);
                last
            }
            Some(cells) if line.is_empty() => Some(std::mem::take(cells)),
            Some(cells) => {
                // A command of several lines stands on several.
                match line.strip_prefix('|') {
                    Some(cell) => cells.push(cell.trim().to_owned()),
                    None => cells.last_mut().into_iter().for_each(|cell| cell.push_str(line)),
                }
                source.took(at);
                continue;
            }
            None => line.strip_prefix('|').map(|row| split(row, table.columns.len())),
        };
        let Some(row) = row else {
            sections.take(line);
            table = MarkupTable::default();
            continue;
        };
        if let Some(next) = heading(sheet, &row, at)? {
            table = next;
            parts.push((sheet.readings.len(), axis_value(&sections.path())));
        } else if let Some(reading) = reading(&table, &row, at)? {
            sheet.readings.push(reading);
        } else if !row.iter().all(|cell| cell.chars().all(|c| "-:+ ".contains(c))) {
            continue;
        }
        source.took(at);
    }
    if !parts.is_empty() {
        sheet.tell_apart("section", &parts);
    }
    Ok(())
}

/// The cells of a row, the command first: whatever stands before the last columns is part of it, since Org mode does
/// not escape the bars in commands.
fn split(row: &str, columns: usize) -> Vec<String> {
    let row = row.trim().strip_suffix('|').unwrap_or(row);
    let cells: Vec<&str> = row.split('|').collect();
    let first = cells.len().saturating_sub(columns).max(1);
    let command = if columns == 0 { cells[0].to_owned() } else { cells[..first].join("|") };
    let rest = if columns == 0 { &cells[1..] } else { &cells[first..] };
    std::iter::once(command.as_str()).chain(rest.iter().copied()).map(|cell| cell.trim().to_owned()).collect()
}

/// The table that a row begins, if it is a heading of hyperfine's.
fn heading(sheet: &mut SourceSheet, row: &[String], at: usize) -> Result<Option<MarkupTable>, SourceFault> {
    if row.first().is_none_or(|cell| cell != "Command") || !row.iter().any(|cell| cell.starts_with("Mean [")) {
        return Ok(None);
    }
    let mut table = MarkupTable::default();
    for cell in &row[1..] {
        let unit = between(cell, "[", "]").unwrap_or_default();
        let column = match cell.split(" [").next().unwrap_or_default() {
            "Mean" => MarkupColumn::Mean,
            "Min" => MarkupColumn::Least,
            "Max" => MarkupColumn::Greatest,
            "Min\u{2026}Max" => MarkupColumn::Both,
            // The ratio to another row.
            "Relative" | "Ratio" => MarkupColumn::Unread,
            other => {
                sheet.notes.push(format!("the column '{}' is not hyperfine's and is not read", shown(other)));
                MarkupColumn::Unread
            }
        };
        let scale = match unit {
            _ if column == MarkupColumn::Unread => 1.0,
            "s" => 1.0,
            "ms" => 1e-3,
            "\u{b5}s" | "\u{3bc}s" | "us" => 1e-6,
            _ => return Err(SourceFault::new(format!("the time's unit '{}' is not known", shown(unit)), at)),
        };
        if column == MarkupColumn::Mean {
            unit.clone_into(&mut table.unit);
        }
        table.columns.push((column, scale));
    }
    sheet.notes.dedup();
    Ok(Some(table))
}

/// The figure of a row; none where its mean is no number.
fn reading(table: &MarkupTable, row: &[String], at: usize) -> Result<Option<SourceReading>, SourceFault> {
    let Some((command, cells)) = row.split_first().filter(|(_, cells)| !table.columns.is_empty() && !cells.is_empty())
    else {
        return Ok(None);
    };
    let (mut mean, mut range) = (None, (None, None));
    for ((column, scale), cell) in table.columns.iter().zip(cells) {
        let word = cell.split_whitespace().next().unwrap_or_default();
        match column {
            MarkupColumn::Mean if number(word).is_none() => return Ok(None),
            MarkupColumn::Mean => mean = Some((word, need(word, at)?, *scale, cell.split_once('\u{b1}'))),
            MarkupColumn::Least => range.0 = Some(need(word, at)? * scale),
            MarkupColumn::Greatest => range.1 = Some(need(word, at)? * scale),
            MarkupColumn::Both => {
                let ends = cell.split_once('\u{2026}').ok_or_else(|| SourceFault::new("its range has no end", at))?;
                range = (Some(need(ends.0, at)? * scale), Some(need(ends.1, at)? * scale));
            }
            MarkupColumn::Unread => {}
        }
    }
    let Some((word, value, scale, deviation)) = mean.filter(|_| cells.len() >= table.columns.len()) else {
        return Err(SourceFault::new("the row ends early", at));
    };
    let value = value * scale;
    let mut reading = SourceReading::new("hyperfine.mean", "Wall time, mean", value, seconds("execution"));
    reading = reading.printed_in(word, scale).at("command", axis_value(&unquoted(command).replace("\\|", "|")));
    if let (Some(least), Some(greatest)) = range {
        reading = reading.spread(SourceSpread::Range(least.min(value), greatest.max(value)));
    }
    if let Some((_, deviation)) = deviation.filter(|(_, deviation)| number(deviation).is_some()) {
        reading = reading.note(format!("standard deviation over its executions {} {}", deviation.trim(), table.unit));
    }
    Ok(Some(reading.note("the number of executions behind the mean and the range is not stated")))
}

/// A command without the signs that set it as code.
fn unquoted(command: &str) -> &str {
    let inside = |sign: char| command.strip_prefix(sign)?.strip_suffix(sign).filter(|inside| !inside.contains(sign));
    // With a backquote inside, it is set between two.
    let doubled = command.strip_prefix("`` ").and_then(|rest| rest.strip_suffix(" ``"));
    inside('`').or(doubled).or_else(|| command.strip_prefix('=')?.strip_suffix('=')).unwrap_or(command)
}
