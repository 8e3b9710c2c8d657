//! IOR: the summary of each run, by operation.

use super::{ImportFormat, Parsed, SourceText, sure};
use crate::date::ctime;
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, bytes_per_second, rate};
use crate::text::{SourceFault, after, axis_value, lines, need, shown, snake};

/// Bytes of a MiB, the unit of IOR's rates.
const MIB: f64 = 1_048_576.0;

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "ior",
    tool: "IOR",
    about: "rates of writing and reading from the summary: the mean over repetitions of one invocation, their least and \
            greatest the range",
    by_lines: true,
    detect: |head| sure(head, &["MPI Coordinated Test of Parallel I/O"]),
    parse,
};

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let (mut columns, mut open): (Vec<&str>, Option<usize>) = (Vec::new(), None);
    // Settings that the summary does not repeat.
    let mut settings: Vec<(&str, String)> = Vec::new();
    for (at, line) in lines(source.text) {
        let trimmed = line.trim();
        if let Some((version, _)) = trimmed.split_once(": MPI Coordinated Test of Parallel I/O") {
            sheet.version = Some(version.trim_start_matches("IOR-").to_owned());
            sheet.begin_process();
            (columns, settings) = (Vec::new(), Vec::new());
            if let Some(place) = open.replace(at) {
                return Err(SourceFault::new("the run that begins here has no summary", place));
            }
        } else if let Some(date) = after(trimmed, "Began").filter(|_| trimmed.starts_with("Began")) {
            if sheet.started.is_empty() {
                sheet.started = ctime(date.trim_start_matches(':'));
            }
        } else if let Some(machine) = trimmed.strip_prefix("Machine").and_then(|rest| rest.trim().strip_prefix(": ")) {
            sheet.machine = axis_value(machine.split_whitespace().last().unwrap_or_default());
        } else if trimmed.starts_with("Operation") && trimmed.contains("Max(MiB)") {
            columns = trimmed.split_whitespace().collect();
            check(&columns, at)?;
            open = None;
        } else if !columns.is_empty() && trimmed.starts_with(|c: char| c.is_ascii_lowercase()) {
            row(&mut sheet, &columns, &settings, trimmed, at)?;
        } else if let Some(setting) = setting(trimmed) {
            settings.retain(|(axis, _)| setting.as_ref().is_none_or(|(new, _)| axis != new));
            settings.extend(setting);
        } else if !is_detail(trimmed) {
            continue;
        }
        source.took(at);
    }
    match open {
        Some(place) => Err(SourceFault::new("the run that begins here has no summary", place)),
        None => Ok(Parsed::Sheets(vec![sheet])),
    }
}

/// `ordering in a file  : random`, `type : collective`, or with `=` in version 3.0; the usual ones are no axes.
fn setting(line: &str) -> Option<Option<(&'static str, String)>> {
    let (name, value) = line.split_once([':', '='])?;
    let (name, value) = (name.trim(), value.trim());
    match name {
        "ordering in a file" => Some((!value.starts_with("sequential")).then(|| ("order", axis_value(value)))),
        "type" => Some((value != "independent").then(|| ("type", axis_value(value)))),
        _ => None,
    }
}

/// Settings that the summary repeats, and single repetitions.
fn is_detail(line: &str) -> bool {
    let begins = [
        "write ",
        "read ",
        "remove ",
        "Max Write:",
        "Max Read:",
        "Commencing",
        "FS ",
        "TestID",
        "StartTime",
        "Start time",
        "Finished",
        "Command line",
    ];
    let settings = [
        "Participating tasks",
        "segments",
        "nodes",
        "tasks",
        "clients per node",
        "repetitions",
        "xfersize",
        "blocksize",
        "aggregate filesize",
        "verbose",
        "stonewall",
        "memoryBuffer",
        "memoryPerTask",
        "task offset",
        "reorder random seed",
        "access ",
        "api",
        "test filename",
        "Path",
    ];
    begins.iter().chain(&settings).any(|begin| line.starts_with(begin))
}

const KNOWN: [&str; 30] = [
    "Operation",
    "Max(MiB)",
    "Min(MiB)",
    "Mean(MiB)",
    "StdDev",
    "Max(OPs)",
    "Min(OPs)",
    "Mean(OPs)",
    "Mean(s)",
    "Stonewall(s)",
    "Stonewall(MiB)",
    "Test#",
    "#Tasks",
    "tPN",
    "reps",
    "fPP",
    "reord",
    "reordoff",
    "reordrand",
    "seed",
    "segcnt",
    "blksiz",
    "xsize",
    "aggs(MiB)",
    "aggsize",
    "API",
    "RefNum",
    "#TPN",
    "Max(s)",
    "Min(s)",
];

fn check(columns: &[&str], at: usize) -> Result<(), SourceFault> {
    match columns.iter().find(|name| !KNOWN.contains(name)) {
        Some(name) => Err(SourceFault::new(format!("its column '{}' is not known", shown(name)), at)),
        None => Ok(()),
    }
}

fn row(
    sheet: &mut SourceSheet,
    columns: &[&str],
    settings: &[(&'static str, String)],
    line: &str,
    at: usize,
) -> Result<(), SourceFault> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if words.len() != columns.len() {
        let (has, names) = (words.len(), columns.len());
        return Err(SourceFault::new(format!("the row has {has} values and its heading {names}"), at));
    }
    let cell = |name: &str| columns.iter().position(|known| *known == name).map(|at| words[at]);
    let operation = words[0];
    let repetitions = cell("reps").and_then(|word| word.parse().ok()).unwrap_or(1);
    for (end, unit, scale, metric) in
        [("", "MiB", MIB, bytes_per_second("bytes")), ("_operations", "OPs", 1.0, rate("operations"))]
    {
        let find = |name: &str| cell(&format!("{name}({unit})"));
        let (Some(mean), Some(least), Some(greatest)) = (find("Mean"), find("Min"), find("Max")) else { continue };
        let value = need(mean, at)? * scale;
        let mut reading = SourceReading::new(format!("ior.{}{end}", snake(operation)), operation, value, metric);
        reading = reading.printed_in(mean, scale).counts(1, repetitions);
        if repetitions > 1 {
            let spread = SourceSpread::Range(need(least, at)? * scale, need(greatest, at)? * scale);
            reading = reading.spread(spread).note("the range is of repetitions of one invocation");
        }
        let axes = [
            ("api", "API"),
            ("tasks", "#Tasks"),
            ("per_node", "tPN"),
            ("block", "blksiz"),
            ("transfer", "xsize"),
            ("file_per_process", "fPP"),
        ];
        for (axis, name) in axes {
            if let Some(word) = cell(name) {
                let size = word.parse::<u64>().ok().filter(|_| ["block", "transfer"].contains(&axis));
                reading = reading.at(axis, size.map_or_else(|| axis_value(word), model::format_size));
            }
        }
        if let Some(segments) = cell("segcnt").filter(|count| *count != "1") {
            reading = reading.at("segments", axis_value(segments));
        }
        reading = settings.iter().fold(reading, |reading, (axis, value)| reading.at(axis, value.clone()));
        sheet.readings.push(reading);
    }
    Ok(())
}
