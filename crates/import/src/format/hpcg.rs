//! HPCG 3.x: the results file, as `a::b=c` lines or as YAML.

use super::{Confidence, ImportFormat, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, rate};
use crate::text::{SourceFault, axis_value, lines, need, snake};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "hpcg",
    tool: "HPCG",
    about: "the rating, the rates of the kernels and the bandwidth; no spread is stated",
    by_lines: true,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    let file = sure(head, &["HPCG-Benchmark"]).max(sure(head, &["HPCG result is"]));
    file.max(sure(head, &["GFLOP/s Summary", "HPCG"])).max(sure(head, &["Reference SpMV+MG", "REF  Iter"]))
}

/// Sections of counts, checks and times, from which the rates follow.
const NOTHING: [&str; 14] = [
    "Machine Summary",
    "Global Problem Dimensions",
    "Processor Dimensions",
    "Local Domain Dimensions",
    "Problem Summary",
    "Linear System Information",
    "Multigrid Information",
    "Coarse Grids",
    "Memory Use",
    "V&V Testing",
    "Iteration Count",
    "Reproducibility",
    "Benchmark Time Summary",
    "Operations Summary",
];

/// A floating-point rate, from billions a second.
fn flops(id: &str, title: &str, billions: f64) -> SourceReading {
    SourceReading::new(id, title, billions * 1e9, rate("floating-point operations"))
}

/// The output of a process ends, and perhaps that of another begins.
fn begin(sheet: &mut SourceSheet, processes: &mut String) {
    let processes = std::mem::take(processes);
    if !processes.is_empty() {
        sheet.process_at("processes", &processes);
    }
    sheet.begin_process();
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let (mut section, mut last, mut rated) = (String::new(), 0, false);
    let mut processes = String::new();
    for (at, line) in lines(source.text) {
        let line = line.trim();
        last = at;
        if line.starts_with("HPCG-Benchmark") {
            begin(&mut sheet, &mut processes);
        }
        if let Some(value) = line.strip_prefix("final =").and_then(|rest| rest.trim().split_once(" GF")) {
            // The line that vendors' builds print to the terminal.
            sheet.readings.push(flops("hpcg.flops", "HPCG rating", need(value.0, at)?));
            rated = true;
            source.took(at);
            continue;
        }
        // Either every line has its section's name, or sections are headings that end in a colon.
        let (path, value) = match line.split_once('=').or_else(|| line.split_once(": ")) {
            Some((path, value)) => (path.trim(), value.trim()),
            None => (line.trim().trim_end_matches(':'), ""),
        };
        let (head, name) = path.rsplit_once("::").unwrap_or((section.as_str(), path));
        let head = head.to_owned();
        if value.is_empty() {
            section = name.to_owned();
            continue;
        }
        if name == "version" && sheet.version.is_none() {
            sheet.version = Some(value.to_owned());
        } else if name == "Distributed Processes" {
            processes = axis_value(value);
        } else if name.contains("HPCG result is") {
            if !name.contains(" VALID") {
                sheet.notes.push(format!("HPCG reports the run as invalid: {}", crate::text::shown(name)));
            }
            sheet.readings.push(flops("hpcg.flops", "HPCG rating", need(value, at)?));
            rated = true;
        } else if head.contains("GFLOP/s Summary") && name.starts_with("Raw ") {
            sheet.readings.push(flops(&format!("hpcg.{}_flops", snake(name)), name, need(value, at)?));
        } else if head.contains("GB/s Summary") && name.starts_with("Raw ") {
            let id = format!("hpcg.{}", snake(name));
            sheet.readings.push(SourceReading::new(id, name, need(value, at)? * 1e9, bytes_per_second("bytes")));
        } else if name != "Release date" && !NOTHING.iter().any(|known| head.contains(known)) {
            continue;
        }
        source.took(at);
    }
    if !rated {
        return Err(SourceFault::new("it ends before the final rating", last));
    }
    begin(&mut sheet, &mut processes);
    Ok(Parsed::Sheets(vec![sheet]))
}
