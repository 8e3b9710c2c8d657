//! SPEC CPU's CSV report, 2006 and 2017: every iteration of every benchmark, and the overall values.

use model::{Metric, Primitive, Unit};

use super::{ImportFormat, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, text};
use crate::text::{MOST_NAMES, SourceFault, axis_value, between, need, number, snake};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "spec-cpu",
    tool: "SPEC CPU",
    about: "the CSV report: each benchmark's ratio or rate with its iterations, which are executions of their own, and \
            the overall values, for which no spread is stated",
    by_lines: true,
    detect: |head| sure(head, &["SPEC CPU20", "Results Table"]).max(sure(head, &["\"SPEC CPU"])),
    parse,
};

/// One benchmark under one tuning, with the values of its iterations.
struct SpecCpuGroup {
    benchmark: String,
    tuning: &'static str,
    copies: String,
    values: Vec<f64>,
    failed: usize,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).has_headers(false).from_reader(source.text.as_bytes());
    let mut sheet = SourceSheet::default();
    let mut edition = String::new();
    let mut heading: Vec<String> = Vec::new();
    let mut groups: Vec<SpecCpuGroup> = Vec::new();
    let mut section = String::new();
    let mut last = 0;
    for record in reader.records() {
        let record = record.map_err(|error| {
            let line = error.position().map_or(0, csv::Position::line);
            SourceFault::new("the row cannot be read as CSV", usize::try_from(line).unwrap_or(0))
        })?;
        let at = record.position().map_or(0, |place| usize::try_from(place.line()).unwrap_or(0));
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
        } else if first == "valid" {
            if cell(1) != "1" {
                sheet.notes.push("the report marks the run as invalid by SPEC's rules".to_owned());
            }
        } else if section == "Full Results Table" && is_benchmark(first) && !heading.is_empty() {
            iteration(&mut groups, &heading, &record, at)?;
        } else if first.starts_with("SPEC") && number(cell(1)).is_some() {
            heading.clear();
            let reading = SourceReading::new(format!("spec_cpu.{}", snake(first)), first, need(cell(1), at)?, ratio());
            sheet.readings.push(reading);
        } else {
            describe(&mut sheet, first, cell(1));
        }
    }
    if groups.is_empty() {
        return Err(SourceFault::new("it has no table of results", last));
    }
    let readings = groups.into_iter().filter(|group| !group.values.is_empty()).map(reading);
    sheet.readings.extend(readings);
    Ok(Parsed::Sheets(vec![sheet]))
}

fn ratio() -> Metric {
    Metric::higher(Unit::Ratio, "reference machine's speed")
}

/// `500.perlbench_r`
fn is_benchmark(name: &str) -> bool {
    name.split_once('.').is_some_and(|(number, name)| {
        number.len() == 3 && number.bytes().all(|byte| byte.is_ascii_digit()) && !name.is_empty()
    })
}

fn iteration(
    groups: &mut Vec<SpecCpuGroup>,
    heading: &[String],
    record: &csv::StringRecord,
    at: usize,
) -> Result<(), SourceFault> {
    for (tuning, prefix) in [("base", "Base "), ("peak", "Peak ")] {
        let cell = |names: &[&str]| {
            let wanted = |known: &String| names.iter().any(|name| known.strip_prefix(prefix) == Some(name));
            heading.iter().position(wanted).and_then(|at| record.get(at)).map(str::trim)
        };
        let Some(value) = cell(&["Rate", "Ratio"]).filter(|value| !value.is_empty()) else { continue };
        let benchmark = record.get(0).unwrap_or_default().trim();
        let copies = cell(&["# Copies", "# Threads", "Copies"]).unwrap_or_default();
        let full = groups.len() >= 2 * MOST_NAMES;
        let known = groups.iter_mut().find(|group| group.benchmark == benchmark && group.tuning == tuning);
        let group = match known {
            Some(group) => group,
            None if full => {
                return Err(SourceFault::new(format!("it has more than {MOST_NAMES} benchmarks"), at));
            }
            None => {
                let (benchmark, copies) = (benchmark.to_owned(), copies.to_owned());
                groups.push(SpecCpuGroup { benchmark, tuning, copies, values: Vec::new(), failed: 0 });
                let end = groups.len() - 1;
                &mut groups[end]
            }
        };
        match cell(&["Status"]) {
            Some("S") | None => group.values.push(need(value, at)?),
            Some(_) => group.failed += 1,
        }
    }
    Ok(())
}

fn reading(group: SpecCpuGroup) -> SourceReading {
    let value = group.values.first().copied().unwrap_or_default();
    let mut reading =
        SourceReading::new(format!("spec_cpu.{}", snake(&group.benchmark)), group.benchmark, value, ratio());
    reading = reading.at("tuning", group.tuning);
    if !group.copies.is_empty() {
        reading = reading.at("copies", axis_value(&group.copies));
    }
    if group.failed > 0 {
        reading = reading.note(format!("{} iterations did not succeed and are left out", group.failed));
    }
    reading.spread(SourceSpread::Launches(group.values))
}

fn describe(sheet: &mut SourceSheet, name: &str, value: &str) {
    let known = match name.trim_end_matches(':') {
        "CPU Name" => ("cpu.model", &[Primitive::CoreClock][..]),
        "Hardware Model" => ("system.model", &[][..]),
        "Memory" => ("memory.kind", &[Primitive::DramRead, Primitive::DramWrite][..]),
        "OS" => ("os.name", &[][..]),
        "Compiler" => ("compiler", &[][..]),
        "File System" => ("file_system.type", &[][..]),
        _ => return,
    };
    if known.0 == "system.model" {
        value.clone_into(&mut sheet.summary);
        sheet.machine = axis_value(value);
    }
    if !sheet.facts.iter().any(|fact| fact.name == known.0) {
        sheet.facts.extend(text(known.0, value, "report", known.1));
    }
}
