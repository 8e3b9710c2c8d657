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
const NOTHING: [&str; 15] = [
    "Machine Summary",
    "Global Problem Dimensions",
    "Processor Dimensions",
    "Local Domain Dimensions",
    "Problem Summary",
    "Setup Information",
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

/// A floating-point rate, printed in billions a second.
fn flops(id: &str, title: &str, billions: &str, at: usize) -> Result<SourceReading, SourceFault> {
    let value = need(billions, at)? * 1e9;
    Ok(SourceReading::new(id, title, value, rate("floating-point operations")).printed(billions.trim()))
}

/// What a process says of how it runs.
#[derive(Default)]
struct HpcgSettings {
    processes: String,
    /// Threads of each process.
    threads: String,
    /// The part of the problem that a process has, in three directions.
    part: [String; 3],
}

impl HpcgSettings {
    /// Takes a setting of a section; whether it was one.
    fn take(&mut self, head: &str, name: &str, value: &str) -> bool {
        let place = ["nx", "ny", "nz"].iter().position(|known| *known == name);
        let setting = match (name, place) {
            ("Distributed Processes", _) => &mut self.processes,
            ("Threads per processes", _) => &mut self.threads,
            (_, Some(place)) if head.contains("Local Domain Dimensions") => &mut self.part[place],
            _ => return false,
        };
        *setting = axis_value(value);
        true
    }
}

/// The output of a process ends, and perhaps that of another begins.
fn begin(sheet: &mut SourceSheet, settings: &mut HpcgSettings) {
    let HpcgSettings { processes, threads, part } = std::mem::take(settings);
    let part = if part.iter().any(String::is_empty) { String::new() } else { part.join("x") };
    for (axis, value) in [("processes", processes), ("threads", threads), ("part", part)] {
        if !value.is_empty() {
            sheet.process_at(axis, &value);
        }
    }
    sheet.begin_process();
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let (mut section, mut last, mut rated) = (String::new(), 0, false);
    let mut settings = HpcgSettings::default();
    for (at, line) in lines(source.text) {
        let line = line.trim();
        last = at;
        if line.starts_with("HPCG-Benchmark") {
            begin(&mut sheet, &mut settings);
        }
        if let Some(value) = line.strip_prefix("final =").and_then(|rest| rest.trim().split_once(" GF")) {
            // The line that vendors' builds print to the terminal.
            sheet.readings.push(flops("hpcg.flops", "HPCG rating", value.0, at)?);
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
        if name == "version" {
            sheet.version.get_or_insert_with(|| value.to_owned());
        } else if settings.take(&head, name, value) {
        } else if name.contains("HPCG result is") {
            if !name.contains(" VALID") {
                sheet.notes.push(format!("HPCG reports the run as invalid: {}", crate::text::shown(name)));
            }
            sheet.readings.push(flops("hpcg.flops", "HPCG rating", value, at)?);
            rated = true;
        } else if head.contains("GFLOP/s Summary") && name.starts_with("Raw ") {
            sheet.readings.push(flops(&format!("hpcg.{}_flops", snake(name)), name, value, at)?);
        } else if head.contains("GB/s Summary") && name.starts_with("Raw ") {
            let id = format!("hpcg.{}", snake(name));
            let reading = SourceReading::new(id, name, need(value, at)? * 1e9, bytes_per_second("bytes"));
            sheet.readings.push(reading.printed(value));
        } else if name != "Release date" && !NOTHING.iter().any(|known| head.contains(known)) {
            continue;
        }
        source.took(at);
    }
    if !rated {
        return Err(SourceFault::new("it ends before the final rating", last));
    }
    begin(&mut sheet, &mut settings);
    Ok(Parsed::Sheets(vec![sheet]))
}
