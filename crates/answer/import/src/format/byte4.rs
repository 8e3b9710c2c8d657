//! The table of the BYTE benchmark, versions 3 and 4: test, value, unit, time and samples on each line.

use super::unixbench::scaled;
use super::{CodeFormat, Confidence, Parsed, SourceText, likely};
use crate::date::ctime;
use crate::sheet::{SourceReading, SourceSheet, text};
use crate::text::{MOST_NAMES, SourceFault, between, lines, name_value, need, number};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "byte4",
    tool: "BYTE benchmark",
    about: "the table of BYTE's UNIX benchmark, versions 3 and 4, one run a system; no spread is stated",
    by_lines: true,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    let five = likely(head, &["Version 5"]).max(likely(head, &["System Benchmarks Index"]));
    if five != Confidence::No {
        return Confidence::No;
    }
    super::sure(head, &["BYTE UNIX Benchmarks (Version 4"])
        .max(super::sure(head, &["BYTE UNIX Benchmarks (Version 3"]))
        .max(likely(head, &["Arithmetic Test (type", " lps"]))
        .max(likely(head, &["Dhrystone 2 without register", " lps"]))
}

/// Tests of version 4 that later versions renamed or dropped, with this program's ids and sets of parameters.
const OLDER: &[(&str, &str, &str)] = &[
    ("Arithmetic Test (type = arithoh)", "cpu.arithmetic", "type=overhead"),
    ("Arithoh", "cpu.arithmetic", "type=overhead"),
    ("Arithmetic Test (type = register)", "cpu.arithmetic", "type=register"),
    ("Arithmetic Test (type = short)", "cpu.arithmetic", "type=short"),
    ("Arithmetic Test (type = int)", "cpu.arithmetic", "type=int"),
    ("Arithmetic Test (type = long)", "cpu.arithmetic", "type=long"),
    ("Arithmetic Test (type = float)", "cpu.arithmetic", "type=float"),
    ("Arithmetic Test (type = double)", "cpu.arithmetic", "type=double"),
    ("File Read  (10 seconds)", "file.read", "seconds=10"),
    ("File Write (10 seconds)", "file.write", "seconds=10"),
    ("File Copy  (10 seconds)", "file.copy", "seconds=10"),
    ("File Read  (30 seconds)", "file.read", "seconds=30"),
    ("File Write (30 seconds)", "file.write", "seconds=30"),
    ("File Copy  (30 seconds)", "file.copy", "seconds=30"),
    ("C Compiler Test", "shell.compile", "program=small,placement=free"),
    ("Shell scripts (1 concurrent)", "shell.script", "concurrent=1,placement=free"),
    ("Shell scripts (2 concurrent)", "shell.script", "concurrent=2,placement=free"),
    ("Shell scripts (4 concurrent)", "shell.script", "concurrent=4,placement=free"),
    ("Shell scripts (8 concurrent)", "shell.script", "concurrent=8,placement=free"),
];

const UNITS: [&str; 4] = ["lps", "lpm", "KBps", "MWIPS"];

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    // Each with the line that states its host and its kernel.
    let mut systems: Vec<(&str, SourceSheet)> = vec![("", SourceSheet::default())];
    let (mut present, mut version, mut fresh) = (0, None, false);
    for (at, line) in lines(source.text) {
        // Mails quote tables.
        let line = line.trim_start_matches(|c: char| c == '>' || c == '~' || c.is_whitespace()).trim_end();
        if let Some(found) = between(line, "BYTE UNIX Benchmarks (Version", ")") {
            (version, fresh) = (Some(found.to_owned()), true);
        } else if let Some(name) = line.strip_prefix("System -- ") {
            present = system(&mut systems, name, at)?;
        } else if let Some(date) = line.strip_prefix("Start Benchmark Run:") {
            let started = &mut systems[present].1.started;
            if started.is_empty() {
                *started = ctime(date);
            }
        } else if let Some(found) = reading(line, at)? {
            let sheet = &mut systems[present].1;
            if std::mem::take(&mut fresh) {
                sheet.begin_process();
                sheet.version.clone_from(&version);
            }
            sheet.readings.push(found);
        } else if line.starts_with("FINAL SCORE") || line.starts_with("AVERAGE") || line.starts_with("SUM of") {
            // Files choose the baseline of their index.
            let note = "its index is not read: it is relative to a baseline of its own";
            if !systems[present].1.notes.iter().any(|known| known == note) {
                systems[present].1.notes.push(note.to_owned());
            }
        } else if !is_index_row(line) {
            continue;
        }
        source.took(at);
    }
    let several = systems.len() > 1;
    let sheets = systems.into_iter().map(|(_, sheet)| sheet);
    Ok(Parsed::Sheets(sheets.filter(|sheet| !(several && sheet.readings.is_empty())).collect()))
}

/// The sheet of a system: `Linux host.lab 2.6.1 #1 Fri Sep 6 2002 i686`. What is stated again of it is a sample.
fn system<'a>(systems: &mut Vec<(&'a str, SourceSheet)>, name: &'a str, at: usize) -> Result<usize, SourceFault> {
    if let Some(found) = systems.iter().position(|(known, _)| *known == name) {
        return Ok(found);
    }
    if systems.len() > MOST_NAMES {
        return Err(SourceFault::new(format!("it has more than {MOST_NAMES} systems"), at));
    }
    let mut words = name.split_whitespace();
    let (kernel, host, release) = (words.next(), words.next(), words.next());
    let facts = text("os.name", kernel.unwrap_or_default(), "table", &[]).into_iter();
    let facts = facts.chain(text("kernel.release", release.unwrap_or_default(), "table", &[])).collect();
    let machine = name_value(host.unwrap_or_default());
    systems.push((name, SourceSheet { machine, facts, ..SourceSheet::default() }));
    Ok(systems.len() - 1)
}

/// `Execl Throughput Test    998.0 lps   (9 secs, 6 samples)`; none if the line is no result.
fn reading(line: &str, at: usize) -> Result<Option<SourceReading>, SourceFault> {
    // Behind the unit stand the time and the samples, in brackets; mail programs leave spaces out.
    let Some((front, _)) = line.rsplit_once('(').filter(|(_, rest)| rest.starts_with(|c: char| c.is_ascii_digit()))
    else {
        return Ok(None);
    };
    let front = front.trim_end();
    let Some((front, unit)) = UNITS.iter().find_map(|unit| Some((front.strip_suffix(unit)?.trim_end(), *unit))) else {
        return Ok(None);
    };
    let Some((name, digits)) = front.rsplit_once(char::is_whitespace) else { return Ok(None) };
    // The end of a result before it, which a mail program put on the same line.
    let name = name.rsplit_once("samples)").map_or(name, |(_, name)| name);
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let name = squeezed(name);
    // Lines that compare systems name them in square brackets.
    if name.is_empty() || name.ends_with(']') || (number(digits).is_none() && digits.parse::<f64>().is_err()) {
        return Ok(None);
    }
    let reading = scaled(&name, need(digits, at)?, unit).printed(digits);
    let same = |begin: &str| name.to_ascii_lowercase().starts_with(&squeezed(begin).to_ascii_lowercase());
    Ok(Some(match OLDER.iter().find(|(begin, ..)| same(begin)) {
        Some((_, id, parameters)) => {
            SourceReading { id: (*id).to_owned(), parameters: parameters.parse().unwrap_or_default(), ..reading }
        }
        None => reading,
    }))
}

/// A row of the table of indices: baseline, result and their ratio, which the results above imply.
fn is_index_row(line: &str) -> bool {
    let mut words = line.split_whitespace().rev();
    (0..3).all(|_| words.next().is_some_and(|word| word.contains('.') && number(word).is_some()))
        && words.next().is_some_and(|word| number(word).is_none())
}
