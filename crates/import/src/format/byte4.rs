//! The table of the BYTE benchmark, version 4: test, value, unit, time and samples on each line.

use super::unixbench::scaled;
use super::{Confidence, ImportFormat, Parsed, SourceText, likely};
use crate::sheet::{SourceReading, SourceSheet};
use crate::text::{SourceFault, lines, need, number};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "byte4",
    tool: "BYTE benchmark",
    about: "the table of BYTE's UNIX benchmark, version 4; no spread is stated",
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
        .max(likely(head, &["Arithmetic Test (type", " lps"]))
        .max(likely(head, &["Dhrystone 2 without register", " lps"]))
}

/// Tests of version 4 that later versions renamed or dropped, with this program's ids and points.
const OLDER: &[(&str, &str, &str)] = &[
    ("Arithmetic Test (type = arithoh)", "cpu.arithmetic", "type=overhead"),
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
    let mut sheet = SourceSheet { version: Some("4".to_owned()), ..SourceSheet::default() };
    for (at, line) in lines(source.text) {
        if let Some(name) = line.trim().strip_prefix("System -- ") {
            sheet.machine = name.split_whitespace().nth(1).unwrap_or_default().to_owned();
        }
        if line.contains("BYTE UNIX Benchmarks (Version") {
            sheet.begin_process();
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(unit) = words.iter().position(|word| UNITS.contains(word)).filter(|at| *at > 0) else { continue };
        if number(words[unit - 1]).is_none() && words[unit - 1].parse::<f64>().is_err() {
            continue;
        }
        source.took(at);
        let value = need(words[unit - 1], at)?;
        let name = words[..unit - 1].join(" ");
        let reading = scaled(&name, value, words[unit]);
        let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_ascii_lowercase();
        let older = OLDER.iter().find(|(begin, ..)| squeezed(&name).starts_with(&squeezed(begin)));
        sheet.readings.push(match older {
            Some((_, id, point)) => {
                SourceReading { id: (*id).to_owned(), point: point.parse().unwrap_or_default(), ..reading }
            }
            None => reading,
        });
    }
    Ok(Parsed::Sheets(vec![sheet]))
}
