//! The report as CSV.

use super::{ESTIMATE, SpecCpuGroups, SpecCpuIteration, describe, is_benchmark, overall};
use crate::format::SourceText;
use crate::rows::RowLines;
use crate::sheet::SourceSheet;
use crate::text::{SourceFault, between, check_columns, number};

pub(super) fn read(source: &SourceText<'_>) -> Result<SourceSheet, SourceFault> {
    check_columns(source.text)?;
    let mut reader = csv::ReaderBuilder::new().flexible(true).has_headers(false).from_reader(source.text.as_bytes());
    let mut rows = RowLines::new(source.text);
    let mut sheet = SourceSheet::default();
    let mut edition = String::new();
    let mut heading: Vec<String> = Vec::new();
    let mut groups = SpecCpuGroups::default();
    let (mut section, mut last) = (String::new(), 0);
    for record in reader.records() {
        let fault = |line| SourceFault::new("the row cannot be read as CSV", line);
        let record = record.map_err(|error| fault(rows.at(error.position())))?;
        let at = rows.at(record.position());
        last = at;
        let cell = |at: usize| record.get(at).unwrap_or_default().trim();
        let first = cell(0);
        if let Some(words) = between(first, "SPEC", " Result").filter(|_| edition.is_empty()) {
            edition = format!("SPEC {}", crate::text::shown(words));
            sheet.notes.push(edition.clone());
        } else if first.ends_with("Results Table") {
            first.clone_into(&mut section);
            heading.clear();
        } else if first == "Benchmark" {
            heading = record.iter().map(|cell| cell.trim().to_owned()).collect();
            if heading.iter().any(|name| name.starts_with("Est. ")) && !sheet.notes.iter().any(|note| note == ESTIMATE)
            {
                sheet.notes.push(ESTIMATE.to_owned());
            }
        } else if first == "valid" {
            if cell(1) != "1" {
                sheet.notes.push("the report marks the run as invalid by SPEC's rules".to_owned());
            }
        } else if is_benchmark(first) && !heading.is_empty() {
            // The table of selected iterations repeats some of the full one.
            if section == "Full Results Table" {
                iteration(&mut groups, &heading, &record, at)?;
            }
        } else if first.trim_start_matches("Est. ").starts_with("SPEC") && number(cell(1)).is_some() {
            heading.clear();
            sheet.readings.push(overall(first, cell(1), at)?);
        } else if !describe(&mut sheet, first, cell(1)) {
            continue;
        }
        source.took(at);
    }
    if groups.groups.is_empty() {
        return Err(SourceFault::new("it has no table of results", last));
    }
    sheet.readings.extend(groups.readings());
    Ok(sheet)
}

fn iteration(
    groups: &mut SpecCpuGroups,
    heading: &[String],
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
        if value.is_empty() && status != "S" {
            continue;
        }
        let benchmark = record.get(0).unwrap_or_default().trim();
        groups.add(&SpecCpuIteration { benchmark, tuning, width, value, succeeded: status == "S" }, at)?;
    }
    Ok(())
}
