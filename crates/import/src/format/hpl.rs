//! High-Performance Linpack: one line for each configuration.

use super::{ImportFormat, Parsed, SourceText, sure};
use crate::date::ctime;
use crate::sheet::{SourceReading, SourceSheet, rate};
use crate::text::{SourceFault, after, axis_value, column, lines};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "hpl",
    tool: "HPL",
    about: "floating-point rate of each configuration whose residual passed; no spread is stated",
    by_lines: true,
    detect: |head| sure(head, &["HPLinpack"]),
    parse,
};

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    // A result is used after its residual was checked.
    let mut waiting: Option<(usize, SourceReading)> = None;
    for (at, line) in lines(source.text) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some(rest) = after(line, "HPLinpack") {
            sheet.version = rest.split_whitespace().next().map(str::to_owned);
        } else if let Some(rest) = after(line, "HPL_pdgesv() start time") {
            if sheet.started.is_empty() {
                sheet.started = ctime(rest);
            }
        } else if words.len() >= 7 && is_variant(words[0]) {
            let flops = column(line, 6, at)? * 1e9;
            let mut reading = SourceReading::new("hpl.flops", "Linpack", flops, rate("floating-point operations"));
            for (axis, word) in [("variant", 0), ("n", 1), ("nb", 2), ("p", 3), ("q", 4)] {
                reading = reading.at(axis, axis_value(words[word]));
            }
            if let Some((place, _)) = waiting.replace((at, reading)) {
                return Err(SourceFault::new("this result has no residual check", place));
            }
        } else if line.contains("PASSED") {
            sheet.readings.extend(waiting.take().map(|(_, reading)| reading));
        } else if let Some((place, _)) = line.contains("FAILED").then(|| waiting.take()).flatten() {
            sheet.notes.push(format!("the result at line {place} failed its residual check and is left out"));
        }
    }
    match waiting {
        Some((place, _)) => Err(SourceFault::new("this result has no residual check", place)),
        None => Ok(Parsed::Sheets(vec![sheet])),
    }
}

/// `WR11C2R4`, `WC00R2L1`: W, process mapping, depth, broadcast, recursion.
fn is_variant(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.len() == 8 && bytes[0] == b'W' && matches!(bytes[1], b'R' | b'C') && bytes[2].is_ascii_digit()
}
