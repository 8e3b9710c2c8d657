//! UnixBench 5: the log of a run, with a block for each number of parallel copies.

use super::{CodeFormat, Parsed, SourceText, sure};
use crate::date::ctime;
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, number, rate, text};
use crate::text::{
    SourceFault, between, first_number, lines, name_value, need, number as plain_number, parameter_value, snake, spans,
};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "unixbench",
    tool: "UnixBench",
    about: "the results of a run's log, one run a number of copies, or of the table of indices where an excerpt has that \
            alone; only the number of samples is stated, no spread",
    by_lines: true,
    detect: |head| {
        let table = sure(head, &["System Benchmarks Index Values"]);
        sure(head, &["BYTE UNIX Benchmarks (Version 5"])
            .max(table)
            .max(sure(head, &["System Benchmarks Partial Index "]))
    },
    parse,
};

/// Tests whose definition with one copy is that of a benchmark: beginning of the name, id and parameters.
pub(super) const TESTS: &[(&str, &str, &str)] = &[
    ("Dhrystone 2 using register", "cpu.dhrystone", "registers=yes"),
    ("Dhrystone 2 without register", "cpu.dhrystone", "registers=no"),
    ("Double-Precision Whetstone", "cpu.whetstone", ""),
    ("Execl Throughput", "os.exec", "linking=dynamic"),
    ("File Copy 256 ", "file.copy", "buffer=256B,durability=none"),
    ("File Copy 1024 ", "file.copy", "buffer=1KiB,durability=none"),
    ("File Copy 4096 ", "file.copy", "buffer=4KiB,durability=none"),
    ("File Read 256 ", "file.read", "buffer=256B"),
    ("File Read 1024 ", "file.read", "buffer=1KiB"),
    ("File Read 4096 ", "file.read", "buffer=4KiB"),
    ("File Write 256 ", "file.write", "buffer=256B,durability=none"),
    ("File Write 1024 ", "file.write", "buffer=1KiB,durability=none"),
    ("File Write 4096 ", "file.write", "buffer=4KiB,durability=none"),
    ("Pipe Throughput", "ipc.pipe_throughput", ""),
    ("Pipe-based Context Switching", "os.pipe_switch", "placement=free"),
    ("Process Creation", "os.fork_exit", ""),
    ("Shell Scripts (1 concurrent)", "shell.script", "concurrent=1,placement=free"),
    ("Shell Scripts (8 concurrent)", "shell.script", "concurrent=8,placement=free"),
    ("System Call Overhead", "os.syscall_mix", ""),
    ("Recursion Test", "cpu.hanoi", ""),
    ("Dc: sqrt(2)", "shell.dc", ""),
    ("C Compiler Throughput", "shell.compile", "program=small,placement=free"),
];

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheets: Vec<SourceSheet> = Vec::new();
    let (mut head, mut copies, mut open) = (SourceSheet::default(), UnixbenchCopies::Stated(1.0), None);
    // What a line above a table of indices says that stands without its run, and whether such a table is read.
    let (mut above, mut excerpt) = (UnixbenchCopies::Unstated, false);
    for (at, line) in lines(source.text) {
        let trimmed = line.trim_start_matches(['>', ' ', '\t']).trim_end();
        if let Some(version) = between(trimmed, "BYTE UNIX Benchmarks (Version", ")") {
            // A further log may be of another machine.
            head = SourceSheet { version: Some(version.to_owned()), ..SourceSheet::default() };
        } else if let Some(version) = trimmed.strip_prefix("Version 5").filter(|_| sheets.is_empty()) {
            // The banner, where the output of the whole run is kept.
            head.version = Some(format!("5{}", version.split_whitespace().next().unwrap_or_default()));
        } else if system(&mut head, trimmed) {
        } else if let Some(date) = trimmed.strip_prefix("Benchmark Run:") {
            (copies, excerpt) = (UnixbenchCopies::Stated(1.0), false);
            sheets.push(begun(&head, date));
            if let Some(place) = open.replace(at) {
                return Err(SourceFault::new("the run that begins here has no index score", place));
            }
        } else if let Some(count) = between(trimmed, "running", "parallel cop") {
            copies = UnixbenchCopies::Stated(need(count, at)?);
            above = copies;
            let cpus = trimmed.split_once(" in system").and_then(|(count, _)| first_number(count));
            if let Some(sheet) = sheets.last_mut() {
                sheet.fact(cpus.map(|count| number("cpu.count", count, "1", "log", &[])));
            }
        } else if let (Some(samples), Some(sheet)) = (between(trimmed, " s, ", " samples)"), sheets.last_mut()) {
            sheet.readings.push(copies.placed(reading(trimmed, samples, at)?));
        } else if open.is_none() && is_index_heading(trimmed) {
            (copies, excerpt) = (std::mem::replace(&mut above, UnixbenchCopies::Unstated), true);
            sheets.push(begun(&head, ""));
        } else if let Some(sheet) = sheets.last_mut().filter(|_| trimmed.starts_with("System Benchmarks Index Score")) {
            let score = need(trimmed.split_whitespace().last().unwrap_or_default(), at)?;
            let reading = index(sheet, score, trimmed.contains("(Partial Only)"));
            sheet.readings.push(copies.of_index(reading));
            (open, excerpt) = (None, false);
        } else if let (true, Some(found), Some(sheet)) = (excerpt, of_index_row(trimmed), sheets.last_mut()) {
            sheet.readings.push(copies.placed(found));
        } else if !(open.is_some() && is_index_row(trimmed) || is_progress(trimmed)) {
            continue;
        }
        source.took(at);
    }
    match open {
        Some(place) => Err(SourceFault::new("the run that begins here has no index score", place)),
        None => Ok(Parsed::Sheets(sheets)),
    }
}

/// How many copies of the tests ran at once.
#[derive(Clone, Copy)]
enum UnixbenchCopies {
    Stated(f64),
    /// Of an excerpt, which may be of one copy or of as many as there are processors.
    Unstated,
}

impl UnixbenchCopies {
    /// A reading of a test: only that of one copy has the definition of a benchmark.
    fn placed(self, reading: SourceReading) -> SourceReading {
        if matches!(self, Self::Stated(count) if count <= 1.0) {
            return reading;
        }
        let id = format!("unixbench.{}", snake(&reading.title));
        self.of_index(SourceReading { id, parameters: model::Parameters::none(), ..reading })
    }

    fn of_index(self, reading: SourceReading) -> SourceReading {
        match self {
            Self::Stated(count) if count > 1.0 => reading.at("copies", count.to_string()),
            Self::Stated(_) => reading,
            Self::Unstated => reading.at("copies", "unstated"),
        }
    }
}

/// Takes a line about the machine from the head of a log; whether it was one.
fn system(head: &mut SourceSheet, line: &str) -> bool {
    if let Some(name) = line.strip_prefix("System: ") {
        head.machine = name.split(':').next().unwrap_or_default().to_owned();
    } else if let Some(words) = line.strip_prefix("OS: ") {
        head.facts.extend(text("os.name", words, "log", &[]));
        let release = words.split(" -- ").nth(1).unwrap_or_default();
        head.facts.extend(text("kernel.release", release, "log", &[]));
    } else if let Some(machine) = line.strip_prefix("Machine: ") {
        let architecture = machine.split_whitespace().next().unwrap_or_default();
        head.facts.extend(text("cpu.architecture", architecture, "log", &[]));
    } else if let Some(model) = model(line) {
        head.fact(text("cpu.model", model, "log", &[]));
    } else if let Some(load) = line.split_once("load average").filter(|_| line.contains(" up ")) {
        let load = load.1.trim_start_matches(['s', ':']).split(';').next().unwrap_or_default();
        head.notes.push(format!("load averages when it began: {}", name_value(load)));
    } else {
        return false;
    }
    true
}

/// Whether a line is the heading of the table of indices.
fn is_index_heading(line: &str) -> bool {
    line.starts_with("System Benchmarks ")
        && line.ends_with("INDEX")
        && line.contains("BASELINE")
        && line.contains("RESULT")
}

/// The result of a row of the table of indices, which an excerpt has without the results above it. A test without an
/// index has dashes beside its result. Units are those that the tests always have.
fn of_index_row(line: &str) -> Option<SourceReading> {
    let words = spans(line);
    let [.., (end, _), result, _] = words[..] else { return None };
    let cell = |at: usize| words.get(words.len() - at).map_or("", |&(start, end)| &line[start..end]);
    let stated = |word: &str| word.starts_with("--") || plain_number(word).is_some();
    let (name, printed) = (line[..end].trim_end(), &line[result.0..result.1]);
    let script = ["Shell Scripts (", "C Compiler", "Dc: "].iter().any(|begin| name.starts_with(begin));
    let known = script || TESTS.iter().any(|(begin, ..)| name.starts_with(begin.trim_end()));
    let value = plain_number(printed).filter(|_| known && stated(cell(3)) && stated(cell(1)))?;
    let unit = match name {
        _ if script => "lpm",
        name if name.starts_with("Double-Precision Whetstone") => "MWIPS",
        name if name.starts_with("File ") => "KBps",
        _ => "lps",
    };
    let reading = scaled(name, value, unit).printed(printed);
    Some(reading.note("from the table of indices alone: how many samples there were is not stated"))
}

/// A run of the machine that the head of its log names, which began and ended at these times.
fn begun(head: &SourceSheet, times: &str) -> SourceSheet {
    SourceSheet {
        version: head.version.clone(),
        machine: head.machine.clone(),
        facts: head.facts.clone(),
        notes: head.notes.clone(),
        started: ctime(times.split(" - ").next().unwrap_or_default()),
        ..SourceSheet::default()
    }
}

/// The model of a processor, `CPU 14: Example CPU (5200.0 bogomips)`; empty where the system does not know it.
fn model(line: &str) -> Option<&str> {
    let (number, model) = line.strip_prefix("CPU ")?.split_once(':')?;
    let counted = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    counted.then(|| model.rsplit_once('(').map_or(model, |(model, _)| model).trim())
}

/// A test under way, `16 x Execl Throughput  1 2 3`.
fn is_progress(line: &str) -> bool {
    line.split_once(" x ").is_some_and(|(copies, test)| {
        copies.bytes().all(|byte| byte.is_ascii_digit()) && TESTS.iter().any(|(name, ..)| test.starts_with(name.trim()))
    })
}

/// The index over all tests, or over those that ran: that of other tests is another result.
fn index(sheet: &SourceSheet, score: f64, partial: bool) -> SourceReading {
    if !partial {
        return SourceReading::new(
            "unixbench.index",
            "System Benchmarks Index",
            score,
            rate("index sets of parameters"),
        );
    }
    let tests: Vec<String> = sheet.readings.iter().map(|reading| snake(&reading.title)).collect();
    SourceReading::new("unixbench.partial_index", "Partial index", score, rate("index sets of parameters"))
        .at("tests", parameter_value(&tests.join("+")))
}

/// A row of the table of indices: baseline, result and their ratio, which the results above imply.
fn is_index_row(line: &str) -> bool {
    let mut words = line.split_whitespace().rev();
    (0..3).all(|_| words.next().is_some_and(|word| word.parse::<f64>().is_ok())) && words.next().is_some()
}

/// `Execl Throughput    4735.8 lps   (29.8 s, 2 samples)`
fn reading(line: &str, samples: &str, at: usize) -> Result<SourceReading, SourceFault> {
    let (front, _) = line.rsplit_once('(').ok_or_else(|| SourceFault::new("the line ends early", at))?;
    let mut words = front.split_whitespace().rev();
    let unit = words.next().unwrap_or_default();
    let printed = words.next().unwrap_or_default();
    let value = need(printed, at)?;
    let name = front.trim_end().strip_suffix(unit).unwrap_or(front).trim_end();
    let name = name.rsplit_once(char::is_whitespace).map_or(name, |(name, _)| name).trim_end();
    let samples = first_number(samples).unwrap_or(1.0) as u32;
    let note = format!("{samples} samples, each in a process of its own; their spread is not stated");
    let mut reading = scaled(name, value, unit).printed(printed).note(note).counts(samples, 1);
    if line.contains("(0.0 s,") {
        reading = reading.note("its samples took 0.0 s: the value is not plausible");
    }
    Ok(reading)
}

/// A test's value in base units, under this program's id if the definition is the same.
pub(super) fn scaled(name: &str, value: f64, unit: &str) -> SourceReading {
    let (value, metric, note) = match unit {
        "KBps" => (value * 1024.0, bytes_per_second("bytes"), Some("its KB is 1024 bytes")),
        "lpm" => (value / 60.0, rate("loops"), None),
        "MWIPS" => (value * 1e6, rate("Whetstone instructions"), None),
        _ => (value, rate("loops"), None),
    };
    let known = TESTS.iter().find(|(begin, ..)| name.to_ascii_lowercase().starts_with(&begin.to_ascii_lowercase()));
    let mut reading = match known {
        Some((_, id, parameters)) => {
            let reading = SourceReading::new(*id, name, value, metric);
            SourceReading { parameters: parameters.parse().unwrap_or_default(), ..reading }
        }
        None => SourceReading::new(format!("unixbench.{}", snake(name)), name, value, metric),
    };
    reading.notes.extend(note.map(str::to_owned));
    reading
}
