//! The report as text: columns stand under dashes, and a letter after the results says how the iteration ended.

use super::{ESTIMATE, SpecCpuGroups, SpecCpuIteration, describe, is_benchmark, overall};
use crate::format::SourceText;
use crate::sheet::SourceSheet;
use crate::text::{SourceFault, axis_value, lines, number, shown, spans};

/// Begin and end of a column, its tuning and its name.
struct SpecCpuColumn {
    begin: usize,
    end: usize,
    tuning: &'static str,
    name: String,
}

pub(super) fn read(source: &SourceText<'_>) -> Result<SourceSheet, SourceFault> {
    let mut sheet = SourceSheet::default();
    let mut groups = SpecCpuGroups::default();
    let mut columns: Vec<SpecCpuColumn> = Vec::new();
    let (mut tunings, mut heading, mut selected, mut title) = ("", "", false, 0);
    for (at, line) in lines(source.text) {
        let line = line.trim_start_matches('\u{feff}');
        let words: Vec<&str> = line.split_whitespace().collect();
        let first = words.first().copied().unwrap_or_default();
        if title < 3 && !words.is_empty() {
            // The first three lines: the suite, the vendor, the system.
            title += 1;
            match title {
                1 => sheet.notes.push(axis_value(line)),
                2 => _ = describe(&mut sheet, "Hardware Vendor", line.trim()),
                _ => _ = describe(&mut sheet, "Hardware Model", line.trim()),
            }
        } else if first == "Estimated" && words.iter().all(|word| *word == "Estimated") {
            sheet.notes.push(ESTIMATE.to_owned());
        } else if words.iter().all(|word| ["Base", "Peak"].contains(word)) && words.len() >= 3 {
            tunings = line;
        } else if first == "Benchmarks" {
            heading = line;
        } else if first.starts_with("-----") && !heading.is_empty() && columns.is_empty() {
            columns = layout(line, tunings, heading, at)?;
        } else if line.starts_with("=====") && !columns.is_empty() {
            // The iterations that were selected follow once more.
            selected = true;
        } else if is_benchmark(first) && !columns.is_empty() {
            if !selected {
                iteration(&mut groups, &columns, line, at)?;
            }
        } else if first.trim_start_matches("Est. ").starts_with("SPEC") || line.trim().starts_with("Est. SPEC") {
            let name = line.trim().trim_start_matches("Est. ").split_whitespace().next().unwrap_or_default();
            let estimate = if line.trim().starts_with("Est. ") { "Est. " } else { "" };
            if let Some(value) = words.last().filter(|value| number(value).is_some()) {
                sheet.readings.push(overall(&format!("{estimate}{name}"), value, at)?);
            }
        } else if let Some((_, date)) = line.split_once("Test date:") {
            describe(&mut sheet, "Test date", date.split_whitespace().next().unwrap_or_default());
        } else if let Some((name, value)) = line.split_once(':') {
            if !describe(&mut sheet, name, value.trim()) {
                continue;
            }
        } else {
            continue;
        }
        source.took(at);
    }
    if groups.groups.is_empty() {
        return Err(SourceFault::new("it has no table of results", source.text.lines().count()));
    }
    sheet.readings.extend(groups.readings());
    Ok(sheet)
}

/// The columns that dashes mark, with the words above them.
fn layout(ruler: &str, tunings: &str, heading: &str, at: usize) -> Result<Vec<SpecCpuColumn>, SourceFault> {
    let mut columns: Vec<SpecCpuColumn> = Vec::new();
    let spans = spans(ruler);
    for &(begin, end) in spans.iter().skip(1) {
        let name = above(heading, begin, end);
        let tuning = match above(tunings, begin, end).as_str() {
            "Peak" => "peak",
            "Base" => "base",
            _ => return Err(SourceFault::new("the heading of its table does not name base and peak", at)),
        };
        if !["Copies", "Threads", "Ref.", "Run Time", "Rate", "Ratio"].contains(&name.as_str()) {
            return Err(SourceFault::new(format!("its column '{}' is not known", shown(&name)), at));
        }
        columns.push(SpecCpuColumn { begin, end, tuning, name });
    }
    Ok(columns)
}

/// Words of a line that stand above a column.
fn above(line: &str, begin: usize, end: usize) -> String {
    let words: Vec<&str> = spans(line)
        .into_iter()
        .filter(|(from, to)| *from < end && begin < *to)
        .map(|(from, to)| &line[from..to])
        .collect();
    words.join(" ")
}

fn iteration(groups: &mut SpecCpuGroups, columns: &[SpecCpuColumn], line: &str, at: usize) -> Result<(), SourceFault> {
    let benchmark = line.split_whitespace().next().unwrap_or_default();
    for tuning in ["base", "peak"] {
        let find = |names: &[&str]| {
            columns.iter().find(|column| column.tuning == tuning && names.contains(&column.name.as_str()))
        };
        let cell = |names: &[&str]| find(names).map(|column| above(line, column.begin, column.end)).unwrap_or_default();
        let Some(result) = find(&["Rate", "Ratio"]) else { continue };
        let value = cell(&["Rate", "Ratio"]);
        // The letter stands after the result: S and * succeeded, others say what went wrong.
        let status = line.get(result.end..).and_then(|rest| rest.split_whitespace().next()).unwrap_or_default();
        if number(&value).is_none() && (value.is_empty() || value == "NR" || status == "NR") {
            continue;
        }
        let copies = cell(&["Copies"]);
        let threads = cell(&["Threads"]);
        let width = if copies.is_empty() { ("threads", threads.as_str()) } else { ("copies", copies.as_str()) };
        let succeeded = ["S", "*"].contains(&status);
        groups.add(&SpecCpuIteration { benchmark, tuning, width, value: &value, succeeded }, at)?;
    }
    Ok(())
}
