//! High-Performance Linpack: one line for each configuration.

use super::{CodeFormat, Parsed, SourceText, sure};
use crate::date::ctime;
use crate::sheet::{SourceReading, SourceSheet, rate};
use crate::text::{SourceFault, after, axis_value, lines, need, shown};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "hpl",
    tool: "HPL",
    about: "floating-point rate of each configuration whose residual passed; no spread is stated",
    by_lines: true,
    detect: |head| sure(head, &["HPLinpack"]),
    parse,
};

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    // A result is used after its residuals were checked; version 1 checks three of each.
    let mut waiting: Option<HplResult> = None;
    let mut columns: Vec<&str> = Vec::new();
    // With a negative threshold it checks nothing, and says so at its end.
    let unchecked = source.text.contains(UNCHECKED);
    for (at, line) in lines(source.text) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some(rest) = after(line, "HPLinpack ").filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
            keep(&mut sheet, waiting.take())?;
            sheet.version = rest.split_whitespace().next().map(str::to_owned);
            sheet.begin_process();
        } else if let Some(build) = words.first().filter(|word| word.starts_with("HPL-")) {
            let version = words.get(1).copied().unwrap_or_default();
            sheet.notes.push(format!("built as {} {}", shown(build), shown(version)));
        } else if let Some(rest) = after(line, "HPL_pdgesv() start time") {
            if sheet.started.is_empty() {
                sheet.started = ctime(rest);
            }
        } else if words.first() == Some(&"T/V") && words.contains(&"Gflops") {
            columns = heading(&words, at)?;
        } else if !columns.is_empty() && words.first().is_some_and(|word| is_variant(word)) {
            let reading = result(&columns, &words, at)?;
            keep(&mut sheet, waiting.take())?;
            if unchecked {
                sheet.readings.push(reading.note("the residual was not checked"));
            } else {
                waiting = Some(HplResult { at, reading, passed: None });
            }
        } else if let Some(passed) = checked(line) {
            if let Some(result) = &mut waiting {
                result.passed = Some(passed && result.passed.unwrap_or(true));
            }
        } else if !(is_setting(line) || columns.is_empty() && is_more(line)) {
            continue;
        }
        source.took(at);
    }
    keep(&mut sheet, waiting)?;
    Ok(Parsed::Sheets(vec![sheet]))
}

/// A result whose residuals are being checked.
struct HplResult {
    at: usize,
    reading: SourceReading,
    /// Whether all checks so far passed; none before the first.
    passed: Option<bool>,
}

/// Keeps a result if its residuals passed.
fn keep(sheet: &mut SourceSheet, result: Option<HplResult>) -> Result<(), SourceFault> {
    let Some(HplResult { at, reading, passed }) = result else { return Ok(()) };
    match passed {
        Some(true) => sheet.readings.push(reading),
        Some(false) => {
            sheet.notes.push(format!("the result at line {at} failed its residual check and is left out"));
        }
        None => return Err(SourceFault::new("this result has no residual check", at)),
    }
    Ok(())
}

/// Whether a line says that a residual passed or failed its check.
fn checked(line: &str) -> Option<bool> {
    match (line.contains("PASSED"), line.contains("FAILED")) {
        (true, false) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

const UNCHECKED: &str = "tests completed without checking";

/// The parameters above the results, the progress of vendors' builds, and the summary: their values stand in the
/// results themselves.
fn is_setting(line: &str) -> bool {
    let name = line.split(':').next().unwrap_or_default().trim();
    let parameter = ["N", "NB", "P", "Q", "NBMIN", "NDIV", "DEPTH", "SWAP", "ALIGN", "PMAP", "BCAST", "MXSWP"];
    parameter.contains(&name)
        || (line.contains("Fraction=") && line.contains("Mflops="))
        || (line.contains("Prog=") && line.contains("GF="))
        || ["tests completed", "tests with the following", "tests skipped"].iter().any(|words| line.contains(words))
        || ["eps) is taken to be", "scaled residuals are less than", "end time"]
            .iter()
            .any(|words| line.contains(words))
}

/// Whether a line continues the values of a parameter: eight stand on one line.
fn is_more(line: &str) -> bool {
    line.starts_with(' ') && line.split_whitespace().all(|word| word.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The columns of results; a build may add some, and an unknown one is refused.
fn heading<'a>(words: &[&'a str], at: usize) -> Result<Vec<&'a str>, SourceFault> {
    let known = ["T/V", "SWP", "N", "NB", "P", "Q", "Time", "Gflops"];
    // Builds that count a rate for each process print it after the sum, in brackets or under its own name.
    let names: Vec<&str> = words.iter().copied().filter(|word| !["(", ")", "per", "GPU)"].contains(word)).collect();
    match names.iter().find(|name| !known.contains(name)) {
        Some(name) => Err(SourceFault::new(format!("its column '{}' is not known", shown(name)), at)),
        None => Ok(names),
    }
}

fn result(columns: &[&str], words: &[&str], at: usize) -> Result<SourceReading, SourceFault> {
    if words.len() < columns.len() {
        let (has, names) = (words.len(), columns.len());
        return Err(SourceFault::new(format!("the row has {has} values and its heading {names}"), at));
    }
    let cell = |name: &str| columns.iter().position(|known| *known == name).map(|at| words[at]);
    let digits = cell("Gflops").unwrap_or_default();
    let flops = need(digits, at)? * 1e9;
    let reading = SourceReading::new("hpl.flops", "Linpack", flops, rate("floating-point operations"));
    let mut reading = reading.printed_in(digits, 1e9);
    for (axis, name) in [("variant", "T/V"), ("swap", "SWP"), ("n", "N"), ("nb", "NB"), ("p", "P"), ("q", "Q")] {
        if let Some(word) = cell(name) {
            reading = reading.at(axis, axis_value(word));
        }
    }
    Ok(reading)
}

/// `WR11C2R4`, `WC00R2L1`, and of vendors' builds `WRC06R8C30c`, `WR101C2R4` and `WC0`: W, process mapping, then depth,
/// broadcast, factorisations.
fn is_variant(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next() == Some('W')
        && letters.next().is_some_and(|c| matches!(c, 'R' | 'C'))
        && (3..=14).contains(&word.len())
        && word.chars().all(|c| c.is_ascii_alphanumeric())
        && word.chars().any(|c| c.is_ascii_digit())
}
