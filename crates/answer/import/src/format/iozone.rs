//! Iozone: a table of file and record sizes, or the throughput of several processes.

use std::collections::BTreeSet;

use model::Metric;

use super::{CodeFormat, Confidence, Parsed, SourceText, likely, sure};
use crate::date::ctime;
use crate::differing::{Settings, differing};
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, rate, seconds};
use crate::text::{SourceFault, between, lines, name_value, need, number, parameter_value, shown, snake, spans};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "iozone",
    tool: "Iozone",
    about: "rates by file and record size, or of all processes together; no spread is stated",
    by_lines: true,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    let named = sure(head, &["Iozone: Performance Test of File I/O"]);
    named.max(sure(head, &["Children see throughput for"])).max(likely(head, &["reclen", "rewrite", "reread"]))
}

/// Bytes of its kB, which older versions write as KB.
const KILOBYTE: f64 = 1024.0;

/// Tests of the table, as its two lines of headings name them.
const TESTS: [&str; 13] = [
    "write",
    "rewrite",
    "read",
    "reread",
    "random read",
    "random write",
    "bkwd read",
    "record rewrite",
    "stride read",
    "fwrite",
    "frewrite",
    "fread",
    "freread",
];

/// A column of the table: its name and where the heading ends.
struct IozoneColumn {
    name: String,
    end: usize,
}

/// What a process has said of itself.
#[derive(Default)]
struct IozoneRun {
    /// Line of its first line, if it has one, and whether its last has come.
    begun: Option<usize>,
    complete: bool,
    first: usize,
    /// How it does its I/O, as far as it is unusual.
    modes: BTreeSet<String>,
    settings: Settings,
    /// What the numbers of its table are, if it says so.
    unit: Option<IozoneUnit>,
    /// Processes or threads, file and record size of a throughput test.
    sharing: &'static str,
    parameters: Vec<(&'static str, String)>,
    /// The upper line of the headings.
    upper: String,
    columns: Vec<IozoneColumn>,
    /// Its last line was a row.
    row: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum IozoneUnit {
    Bytes,
    Operations,
    Time,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let mut runs: Vec<IozoneRun> = vec![IozoneRun::default()];
    let mut last = 0;
    for (at, line) in lines(source.text) {
        let trimmed = line.trim();
        if trimmed.starts_with("Iozone: Performance Test") {
            sheet.begin_process();
            runs.push(IozoneRun { begun: Some(at), first: sheet.readings.len(), ..IozoneRun::default() });
        }
        let Some(run) = runs.last_mut() else { continue };
        let known = head(&mut sheet, run, trimmed, at)? || body(&mut sheet, run, line, at)?;
        if !known {
            continue;
        }
        (run.row, last) = (!run.columns.is_empty() && trimmed.starts_with(|c: char| c.is_ascii_digit()), at);
        source.took(at);
    }
    let cut = runs.last().is_some_and(|run| run.begun.is_some() && !run.complete && run.row);
    if cut && last == source.text.lines().count() && !source.text.ends_with('\n') {
        return Err(SourceFault::new("the output ends inside this row", last));
    }
    settle(&mut sheet, &runs);
    Ok(Parsed::Sheets(vec![sheet]))
}

/// Lines of the head that are no mode of its I/O.
const PLAIN: [&str; 22] = [
    "Iozone:",
    "Compiled for",
    "Build:",
    "Contributors:",
    "Run began:",
    "Auto Mode",
    "File size set to",
    "Record Size",
    "Using minimum file size",
    "Using maximum file size",
    "Using Minimum Record Size",
    "Using Maximum Record Size",
    "Excel chart generation",
    "Cross over of record size",
    "Machine =",
    "Time Resolution",
    "Processor cache",
    "File stride size",
    "Command line used",
    "Output is in",
    "Min process",
    "Max process",
];

/// Whether the line is one of the head, up to what precedes the results.
fn head(sheet: &mut SourceSheet, run: &mut IozoneRun, line: &str, at: usize) -> Result<bool, SourceFault> {
    if let Some(version) = between(line, "$Revision:", "$") {
        sheet.version.get_or_insert_with(|| name_value(version));
    } else if let Some(date) = line.strip_prefix("Run began:") {
        if sheet.started.is_empty() {
            sheet.started = ctime(date);
        }
        run.settings.insert("began".to_owned(), String::new());
    } else if let Some(system) = line.strip_prefix("Machine =") {
        if let (true, Some(host)) = (sheet.machine.is_empty(), system.split_whitespace().nth(1)) {
            sheet.machine = name_value(host);
        }
    } else if let Some(command) = line.strip_prefix("Command line used:") {
        run.settings.remove("began");
        let words: Vec<&str> = command.split_whitespace().collect();
        let path = words.iter().position(|word| ["-f", "-F"].contains(word)).and_then(|at| words.get(at + 1));
        run.settings.extend(path.map(|path| ("path".to_owned(), parameter_value(path))));
    } else if let Some(unit) = line.strip_prefix("Output is in") {
        run.settings.remove("began");
        run.unit = Some(unit_of(unit.trim(), at)?);
    } else if let Some(sharing) = line.strip_prefix("Throughput test with") {
        run.sharing = if sharing.contains("thread") { "threads" } else { "processes" };
    } else if let (true, Some(file)) = (line.starts_with("Each "), between(line, " a ", " file in")) {
        let record = between(line, " file in", " records").unwrap_or_default();
        run.parameters = vec![("file", size(file, at)?), ("record", size(record, at)?)];
    } else if PLAIN.iter().any(|begin| line.starts_with(begin)) {
        return Ok(true);
    } else if run.settings.contains_key("began") && !line.is_empty() {
        let known =
            [("Include fsync", "fsync"), ("Include close", "close"), ("O_DIRECT", "direct"), ("SYNC Mode", "sync")];
        let mode = known.iter().find(|(begin, _)| line.starts_with(begin)).map(|(_, mode)| (*mode).to_owned());
        run.modes.insert(mode.unwrap_or_else(|| snake(line)));
    } else {
        return Ok(false);
    }
    Ok(true)
}

fn unit_of(unit: &str, at: usize) -> Result<IozoneUnit, SourceFault> {
    match unit.trim_end_matches('.') {
        "kBytes/sec" | "Kbytes/sec" | "KBytes/sec" | "kB/sec" | "KB/sec" => Ok(IozoneUnit::Bytes),
        "ops/sec" | "operations per second" => Ok(IozoneUnit::Operations),
        "microseconds/op" | "microseconds per operation" | "usec/op" => Ok(IozoneUnit::Time),
        other => Err(SourceFault::new(format!("the unit '{}' is not known", shown(other)), at)),
    }
}

/// `2097152 kByte`
fn size(text: &str, at: usize) -> Result<String, SourceFault> {
    let (count, unit) = text.split_once(' ').unwrap_or((text, ""));
    let count: Option<u64> = count.parse::<u64>().ok().filter(|_| unit.to_ascii_lowercase().starts_with('k'));
    let count = count.and_then(|count| count.checked_mul(1024));
    count.map(model::format_size).ok_or_else(|| SourceFault::new(format!("'{}' is no size in kB", shown(text)), at))
}

/// Whether the line is one of the results.
fn body(sheet: &mut SourceSheet, run: &mut IozoneRun, line: &str, at: usize) -> Result<bool, SourceFault> {
    let trimmed = line.trim();
    let words: Vec<&str> = trimmed.split_whitespace().collect();
    if trimmed.starts_with("iozone test complete") {
        run.complete = true;
        run.columns.clear();
    } else if words.first() == Some(&"random") && words.contains(&"bkwd") {
        line.clone_into(&mut run.upper);
    } else if words.contains(&"reclen") && words.contains(&"write") {
        run.columns = columns(&run.upper, line, at)?;
    } else if let Some(rest) = trimmed.strip_prefix("Children see throughput for") {
        sheet.readings.push(together(run, rest, "", at)?);
    } else if let Some(rest) = trimmed.strip_prefix("Parent sees throughput for") {
        sheet.readings.push(together(run, rest, "_parent", at)?);
    } else if !run.columns.is_empty() && trimmed.starts_with(|c: char| c.is_ascii_digit()) {
        row(sheet, run, line, at)?;
    } else {
        // Of each process, and the same numbers once more as a table for a spreadsheet.
        let parts =
            ["Min throughput per", "Max throughput per", "Avg throughput per", "Min xfer", "Excel output", "\""];
        return Ok(parts.iter().any(|begin| trimmed.starts_with(begin)));
    }
    Ok(true)
}

/// Columns by both lines of headings: above the name of a test stands which of its kind it is.
fn columns(upper: &str, lower: &str, at: usize) -> Result<Vec<IozoneColumn>, SourceFault> {
    let above = spans(upper);
    let mut columns: Vec<IozoneColumn> = Vec::new();
    for (start, end) in spans(lower) {
        let name = &lower[start..end];
        let over = above.iter().find(|(from, to)| *from < end && *to > start);
        let name = match over {
            Some((from, to)) => format!("{} {name}", &upper[*from..*to]),
            None => name.to_owned(),
        };
        let size = columns.len() < 2 && ["kB", "KB", "reclen"].contains(&name.as_str());
        if !size && !TESTS.contains(&name.as_str()) {
            return Err(SourceFault::new(format!("its column '{}' is not known", shown(&name)), at));
        }
        if columns.iter().any(|column| column.name == name) {
            return Err(SourceFault::new(format!("two columns are named '{name}'"), at));
        }
        columns.push(IozoneColumn { name, end });
    }
    Ok(columns)
}

/// Tests that were not run leave their columns empty: a number belongs to the heading that ends nearest.
fn row(sheet: &mut SourceSheet, run: &IozoneRun, line: &str, at: usize) -> Result<(), SourceFault> {
    let cells = spans(line);
    let mut placed: Vec<(&str, &str)> = Vec::new();
    for (place, (start, end)) in cells.iter().enumerate() {
        let nearest = || run.columns.iter().min_by_key(|column| column.end.abs_diff(*end));
        let column = if cells.len() == run.columns.len() { run.columns.get(place) } else { nearest() };
        let column = column.filter(|column| cells.len() == run.columns.len() || column.end.abs_diff(*end) <= 3);
        let Some(column) = column.filter(|column| placed.iter().all(|(name, _)| *name != column.name)) else {
            let cell = shown(&line[*start..*end]);
            return Err(SourceFault::new(format!("'{cell}' stands under no heading of its own"), at));
        };
        placed.push((&column.name, &line[*start..*end]));
    }
    let sizes: Vec<&str> = placed.iter().take(2).map(|(_, value)| *value).collect();
    let [file, record] = sizes[..] else {
        return Err(SourceFault::new("the row has no file size and record size", at));
    };
    let unstated = "no line says what the table's numbers are: without an option they are kBytes/sec";
    if run.unit.is_none() && !sheet.notes.iter().any(|note| note == unstated) {
        sheet.notes.push(unstated.to_owned());
    }
    let (file, record) = (size(&format!("{file} k"), at)?, size(&format!("{record} k"), at)?);
    for (name, value) in placed.iter().skip(2).filter(|(_, value)| number(value) != Some(0.0)) {
        let id = format!("iozone.{}", snake(name));
        let reading = reading(run.unit.unwrap_or(IozoneUnit::Bytes), id, name, value, at)?;
        sheet.readings.push(reading.at("file", file.clone()).at("record", record.clone()));
    }
    Ok(())
}

fn reading(unit: IozoneUnit, id: String, title: &str, value: &str, at: usize) -> Result<SourceReading, SourceFault> {
    let (end, scale, metric): (&str, f64, Metric) = match unit {
        IozoneUnit::Bytes => ("", KILOBYTE, bytes_per_second("bytes")),
        IozoneUnit::Operations => ("_operations", 1.0, rate("operations")),
        IozoneUnit::Time => ("_time", 1e-6, seconds("operation")),
    };
    let value_in = need(value, at)? * scale;
    Ok(SourceReading::new(format!("{id}{end}"), title, value_in, metric).printed_in(value, scale))
}

/// `  4 initial writers  =  907733.81 kB/sec`
fn together(run: &IozoneRun, rest: &str, end: &str, at: usize) -> Result<SourceReading, SourceFault> {
    let ends_early = || SourceFault::new("the line ends early", at);
    let (test, value) = rest.split_once('=').ok_or_else(ends_early)?;
    let (count, test) = test.trim().split_once(' ').ok_or_else(ends_early)?;
    let (value, unit) = value.trim().split_once(' ').ok_or_else(ends_early)?;
    let id = format!("iozone.throughput_{}{end}", snake(test));
    let seen = if end.is_empty() { "" } else { ", as their parent sees them" };
    let title = format!("{}{seen}", test.trim());
    let reading = reading(unit_of(unit.trim(), at)?, id, &title, value, at)?;
    let sharing = if run.sharing.is_empty() { "processes" } else { run.sharing };
    let reading =
        run.parameters.iter().fold(reading, |reading, (parameter, value)| reading.at(parameter, value.clone()));
    Ok(reading.at(sharing, parameter_value(count)))
}

/// Makes parameters of modes, and of the path where processes differ in it; says which of them did not end.
fn settle(sheet: &mut SourceSheet, runs: &[IozoneRun]) {
    let ends: Vec<usize> = runs.iter().skip(1).map(|next| next.first).chain([sheet.readings.len()]).collect();
    let stated = runs.iter().zip(&ends).filter(|(run, end)| run.begun.is_some() && run.first < **end);
    let found = differing(stated.map(|(run, _)| (String::new(), &run.settings)));
    for (run, end) in runs.iter().zip(ends) {
        let modes = run.modes.iter().cloned().collect::<Vec<_>>().join("+");
        let path = run.settings.get("path").filter(|_| found.values().any(|names| names.contains("path")));
        for reading in &mut sheet.readings[run.first..end] {
            if !modes.is_empty() {
                reading.parameters = std::mem::take(&mut reading.parameters).with("mode", &modes);
            }
            if let Some(path) = path {
                reading.parameters = std::mem::take(&mut reading.parameters).with("path", path);
            }
        }
        if let Some(line) = run.begun.filter(|_| !run.complete && run.first < end) {
            sheet.notes.push(format!("the run that begins at line {line} does not say that it is complete"));
        }
    }
}
