//! The report as text: columns stand under dashes, and a letter after the results says how the iteration ended.

use super::machine::SpecCpuSystem;
use super::{
    ANOTHER, ESTIMATE, INVALID, PROSE, SpecCpuGroups, SpecCpuIteration, inputs, is_benchmark, is_overall, is_prose,
    is_title, note, overall,
};
use crate::format::SourceText;
use crate::sheet::SourceSheet;
use crate::text::{SourceFault, lines, name_value, number, parameter_value, shown, spans};

/// Begin and end of a column, its tuning and its name.
struct SpecCpuColumn {
    begin: usize,
    end: usize,
    tuning: &'static str,
    name: String,
}

/// What was read so far.
#[derive(Default)]
struct SpecCpuReport<'a> {
    sheet: SourceSheet,
    system: SpecCpuSystem,
    groups: SpecCpuGroups,
    columns: Vec<SpecCpuColumn>,
    /// How many tables have begun: what runs print has one for each suite and each set of inputs.
    table: usize,
    input: &'a str,
    tunings: &'a str,
    heading: &'a str,
    /// Lines of the title that were read: the suite, the vendor, the system.
    title: usize,
    /// Whether the iterations that were selected have begun, which stand above already.
    selected: bool,
    /// Whether notes and flags have begun.
    prose: bool,
}

pub(super) fn read(source: &SourceText<'_>) -> Result<SourceSheet, SourceFault> {
    let mut report = SpecCpuReport::default();
    for (at, line) in lines(source.text) {
        if report.take(line.trim_start_matches('\u{feff}'), at)? {
            source.took(at);
        }
    }
    if report.groups.groups.is_empty() {
        return Err(SourceFault::new("it has no table of results", source.text.lines().count()));
    }
    report.system.tell(&mut report.sheet);
    report.groups.tell(&mut report.sheet);
    Ok(report.sheet)
}

impl<'a> SpecCpuReport<'a> {
    /// Takes a line; whether it was understood.
    fn take(&mut self, line: &'a str, at: usize) -> Result<bool, SourceFault> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(first) = words.first().copied() else {
            self.system.close();
            return Ok(true);
        };
        // A box of such lines says why the run is invalid, above the title and once more at the end.
        if line.starts_with('#') {
            if line.contains("INVALID RUN") {
                note(&mut self.sheet, INVALID);
            }
            return Ok(true);
        }
        if self.system.tested(line) {
            return Ok(true);
        }
        if is_title(line) && !self.columns.is_empty() {
            return Err(SourceFault::new(ANOTHER, at));
        }
        if self.prose || is_prose(line) {
            self.prose = true;
            note(&mut self.sheet, PROSE);
        } else if self.columns.is_empty() && self.titles(line) {
            self.take_title(line);
        } else if first == "Estimated" && words.iter().all(|word| *word == "Estimated") {
            note(&mut self.sheet, ESTIMATE);
        } else if words.iter().all(|word| ["Base", "Peak"].contains(word)) && words.len() >= 3 {
            self.tunings = line;
        } else if first == "Benchmarks" {
            self.heading = line;
        } else if first.starts_with("-----") && !self.heading.is_empty() {
            self.columns = layout(line, self.tunings, self.heading, at)?;
            self.heading = "";
            self.table += 1;
        } else if line.starts_with("=====") && !self.columns.is_empty() {
            self.selected = true;
        } else if is_benchmark(first) && !self.columns.is_empty() {
            if !self.selected {
                self.iteration(line, at)?;
            }
        } else if is_overall(line.trim().trim_start_matches("Est. ")) {
            self.take_overall(line, at)?;
        } else {
            return Ok(self.take_fact(line));
        }
        Ok(true)
    }

    /// Whether a line above the table belongs to the title, which what a run prints has none of.
    fn titles(&self, line: &str) -> bool {
        if self.title == 0 { line.trim().starts_with("SPEC") } else { self.title < 3 && !line.contains(':') }
    }

    fn take_title(&mut self, line: &str) {
        self.title += 1;
        match self.title {
            1 => self.sheet.notes.push(name_value(line)),
            2 => _ = self.system.state("Hardware Vendor", line),
            _ => _ = self.system.state("Hardware Model", line),
        }
        self.system.close();
    }

    /// Takes a line of a table.
    fn iteration(&mut self, line: &str, at: usize) -> Result<(), SourceFault> {
        let columns = &self.columns;
        let benchmark = line.split_whitespace().next().unwrap_or_default();
        for tuning in ["base", "peak"] {
            let find = |names: &[&str]| {
                columns.iter().find(|column| column.tuning == tuning && names.contains(&column.name.as_str()))
            };
            let cell =
                |names: &[&str]| find(names).map(|column| above(line, column.begin, column.end)).unwrap_or_default();
            let Some(result) = find(&["Rate", "Ratio"]) else { continue };
            let value = cell(&["Rate", "Ratio"]);
            // The letter stands behind the result, or a code in its place: S and * succeeded, others say what
            // went wrong.
            let status = line.get(result.end..).and_then(|rest| rest.split_whitespace().next()).unwrap_or_default();
            // Under this tuning the benchmark was not run.
            if number(&value).is_none() && (value == "NR" || ["", "NR"].contains(&status)) {
                continue;
            }
            let (copies, time) = (cell(&["Copies"]), cell(&["Run Time"]));
            let threads = cell(&["Threads"]);
            let width = if copies.is_empty() { ("threads", threads.as_str()) } else { ("copies", copies.as_str()) };
            let (value, time, input, table) = (&value, &time, self.input, self.table);
            self.groups.add(&SpecCpuIteration { benchmark, tuning, width, value, time, input, table, status }, at)?;
        }
        Ok(())
    }

    fn take_overall(&mut self, line: &str, at: usize) -> Result<(), SourceFault> {
        let line = line.trim();
        let (estimate, plain) = line.split_at(line.len() - line.trim_start_matches("Est. ").len());
        let mut words = plain.split_whitespace();
        let name = words.next().unwrap_or_default();
        if let Some(value) = words.next_back().filter(|value| number(value).is_some()) {
            self.sheet.readings.push(overall(&format!("{estimate}{name}"), value, at)?);
        }
        Ok(())
    }

    /// Takes a line on the system. Names end, and values begin, in columns of their own.
    fn take_fact(&mut self, line: &'a str) -> bool {
        // A report that does not state the system has a shorter title.
        self.title = 3;
        if let Some((_, date)) = line.split_once("Test date:") {
            let known = self.system.state("Test date", date.split_whitespace().next().unwrap_or_default());
            self.system.close();
            return known;
        }
        if line.len() - line.trim_start().len() >= 20 && self.system.more(line) {
            return true;
        }
        if let Some(kept) = self.take_progress(line.trim()) {
            return kept;
        }
        line.split_once(':').is_some_and(|(name, value)| self.system.state(name, value))
    }

    /// Takes a line that a run prints about its reports; whether it was understood, none if it is none of those.
    fn take_progress(&mut self, line: &'a str) -> Option<bool> {
        let (name, value) = line.split_once(':')?;
        match name {
            "size" => self.input = inputs(value),
            "ext" => note(&mut self.sheet, &format!("label of the build: {}", parameter_value(value))),
            "mach" | "set" | "format" | "Success" => {}
            _ => return None,
        }
        Some(true)
    }
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
