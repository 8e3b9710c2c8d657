//! The report as CSV.

use super::machine::SpecCpuSystem;
use super::{
    ANOTHER, ESTIMATE, INVALID, PROSE, SpecCpuGroups, SpecCpuIteration, inputs, is_benchmark, is_overall, is_prose,
    is_title, note, overall,
};
use crate::format::SourceText;
use crate::rows::RowLines;
use crate::sheet::SourceSheet;
use crate::text::{SourceFault, between, check_columns, number, parameter_value};

/// What was read so far.
#[derive(Default)]
struct SpecCpuTables {
    sheet: SourceSheet,
    system: SpecCpuSystem,
    groups: SpecCpuGroups,
    edition: String,
    heading: Vec<String>,
    section: String,
    /// How many tables of results have begun.
    table: usize,
    /// Whether notes and flags have begun.
    prose: bool,
}

pub(super) fn read(source: &SourceText<'_>) -> Result<SourceSheet, SourceFault> {
    check_columns(source.text)?;
    let mut reader = csv::ReaderBuilder::new().flexible(true).has_headers(false).from_reader(source.text.as_bytes());
    let mut rows = RowLines::new(source.text);
    let mut tables = SpecCpuTables::default();
    let mut last = 0;
    for record in reader.records() {
        let fault = |line| SourceFault::new("the row cannot be read as CSV", line);
        let record = record.map_err(|error| fault(rows.at(error.position())))?;
        let at = rows.at(record.position());
        last = at;
        if tables.take(&record, at)? {
            source.took(at);
        }
    }
    if tables.groups.groups.is_empty() {
        return Err(SourceFault::new("it has no table of results", last));
    }
    tables.system.tell(&mut tables.sheet);
    tables.groups.tell(&mut tables.sheet);
    Ok(tables.sheet)
}

impl SpecCpuTables {
    /// Takes a row; whether it was understood.
    fn take(&mut self, record: &csv::StringRecord, at: usize) -> Result<bool, SourceFault> {
        let cell = |at: usize| record.get(at).unwrap_or_default().trim();
        let first = cell(0);
        let alone = record.iter().skip(1).all(str::is_empty);
        if first.is_empty() {
            return Ok(self.system.more(cell(1)));
        }
        if self.system.tested(&record.iter().collect::<Vec<_>>().join(" ")) {
            return Ok(true);
        }
        if alone && is_title(first) && !self.edition.is_empty() {
            return Err(SourceFault::new(ANOTHER, at));
        }
        if self.prose || (alone && is_prose(first)) {
            self.prose = true;
            note(&mut self.sheet, PROSE);
        } else if let Some(words) = between(first, "SPEC", " Result").filter(|_| self.edition.is_empty()) {
            self.edition = format!("SPEC {}", crate::text::shown(words));
            self.sheet.notes.push(self.edition.clone());
        } else if first.ends_with("Results Table") {
            first.clone_into(&mut self.section);
            self.table += 1;
            self.heading.clear();
        } else if first == "Benchmark" {
            self.begin(record);
        } else if first == "valid" {
            if cell(1) != "1" {
                note(&mut self.sheet, INVALID);
            }
        } else if is_benchmark(first) && !self.heading.is_empty() {
            // The table of selected iterations repeats some of the full one.
            if self.section == "Full Results Table" {
                iteration(&mut self.groups, (self.table, &self.heading), record, at)?;
            }
        } else if is_overall(first.trim_start_matches("Est. ")) {
            self.heading.clear();
            if number(cell(1)).is_some() {
                self.sheet.readings.push(overall(first, cell(1), at)?);
            }
        } else if ["runcpu command:", "runspec command:"].contains(&first) {
            self.sheet.command = cell(1).split_whitespace().map(str::to_owned).collect();
        } else {
            return Ok(self.system.state(first, cell(1)));
        }
        Ok(true)
    }

    /// Takes the heading of a table.
    fn begin(&mut self, record: &csv::StringRecord) {
        self.heading = record.iter().map(|cell| cell.trim().to_owned()).collect();
        if self.heading.iter().any(|name| name.starts_with("Est. ")) {
            note(&mut self.sheet, ESTIMATE);
        }
        let dropped: Vec<String> = self
            .heading
            .iter()
            .filter(|name| ["Energy", "Power"].iter().any(|word| name.contains(word)))
            .map(|name| parameter_value(name))
            .collect();
        if !dropped.is_empty() {
            note(&mut self.sheet, &format!("columns that are not read: {}", dropped.join("; ")));
        }
    }
}

fn iteration(
    groups: &mut SpecCpuGroups,
    (table, heading): (usize, &[String]),
    record: &csv::StringRecord,
    at: usize,
) -> Result<(), SourceFault> {
    for tuning in ["base", "peak"] {
        let prefix = if tuning == "base" { "Base " } else { "Peak " };
        let cell = |names: &[&str]| {
            let wanted = |known: &String| {
                let known = known.trim_start_matches("Est. ").strip_prefix(prefix);
                names.iter().any(|name| known == Some(name))
            };
            heading.iter().position(wanted).and_then(|at| record.get(at)).map(str::trim)
        };
        let Some(value) = cell(&["Rate", "Ratio"]) else { continue };
        let width = match cell(&["# Copies", "Copies"]).filter(|count| !count.is_empty()) {
            Some(copies) => ("copies", copies),
            None => ("threads", cell(&["# Threads", "Threads"]).unwrap_or_default()),
        };
        let status = cell(&["Status"]).unwrap_or("S");
        // Under this tuning the benchmark was not run.
        if value.is_empty() && ["", "NR"].contains(&status) {
            continue;
        }
        let benchmark = record.get(0).unwrap_or_default().trim();
        let time = cell(&["Run Time"]).unwrap_or_default();
        // `refspeed(ref) iteration #1`
        let described = heading.iter().position(|name| name == "Description").and_then(|at| record.get(at));
        let input = described.and_then(|words| words.split_once(" iteration")).map_or("", |(words, _)| inputs(words));
        groups.add(&SpecCpuIteration { benchmark, tuning, width, value, time, input, table, status }, at)?;
    }
    Ok(())
}
