//! sbc-bench: a board's log, whose parts are the outputs of  ramlat, `openssl speed` and `7z b`.

mod board;
mod parts;

use std::collections::BTreeSet;

use super::{CodeFormat, Confidence, Parsed, SourceText, openssl, parse_as, sure};
use crate::sheet::{SourceReading, SourceSheet, number, seconds, text};
use crate::text::{MOST_NAMES, SourceFault, lines, parameter_value};
use board::describe;
use parts::{ciphers, ramlat, within};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "sbc-bench",
    tool: "sbc-bench",
    about: "its parts by the rules of openssl-speed and 7zip, and ramlat's latencies, by processor if there are \
            several clusters; 7-Zip's runs on all processors are samples",
    by_lines: true,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    let log = sure(head, &["sbc-bench v", "####################"]);
    let part = |words| sure(head, &[words]);
    let test = part("tinymembench").max(part("Igor Pavlov")).max(part("type             16 bytes"));
    // The names of the tools whose outputs it holds are in it too.
    if log == Confidence::Sure && test == Confidence::Sure { Confidence::Certain } else { Confidence::No }
}

/// A part of a log.
struct BoardPart<'a> {
    /// Its first line, from 1.
    at: usize,
    /// The line that begins it, `Executing ...`, or nothing.
    heading: &'a str,
    text: &'a str,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheets: Vec<SourceSheet> = Vec::new();
    for (at, text) in logs(source.text) {
        if sheets.len() == MOST_NAMES {
            return Err(SourceFault::new(format!("it has more than {MOST_NAMES} logs"), at));
        }
        let log = log(source, at, text)?;
        // Logs of one board by one version are outputs of one machine.
        let same = |known: &&mut SourceSheet| {
            known.machine == log.machine && known.facts == log.facts && known.version == log.version
        };
        match sheets.iter_mut().find(same) {
            Some(known) => {
                let start = known.readings.len();
                known.processes.push(start);
                let before = known.processes.len();
                known.repetitions.extend(log.repetitions.iter().map(|place| before + place));
                known.processes.extend(log.processes.iter().map(|begin| start + begin));
                known.readings.extend(log.readings);
                known.notes.extend(log.notes.into_iter().filter(|note| !note.starts_with("rates of cpuminer")));
            }
            None => sheets.push(log),
        }
    }
    Ok(Parsed::Sheets(sheets))
}

/// The logs of a text, each with the number of its first line.
fn logs(text: &str) -> Vec<(usize, &str)> {
    let mut starts: Vec<(usize, usize)> = Vec::new();
    let mut from = 0;
    for (line, content) in (1..).zip(text.split_inclusive('\n')) {
        if content.starts_with("sbc-bench v") {
            starts.push((line, from));
        }
        from += content.len();
    }
    let ends = starts.iter().skip(1).map(|(_, start)| *start).chain([text.len()]);
    starts.iter().zip(ends).map(|((line, start), end)| (*line, &text[*start..end])).collect()
}

/// Parts begin at a rule and at a line that says what is executed.
fn parts(first: usize, text: &str) -> Vec<BoardPart<'_>> {
    let mut parts: Vec<BoardPart<'_>> = Vec::new();
    let (mut start, mut at, mut heading, mut from) = (0, first, "", 0);
    for (line, content) in (first..).zip(text.split_inclusive('\n')) {
        let begins = content.starts_with("########") || content.starts_with("Executing ");
        if begins && from > 0 {
            parts.push(BoardPart { at, heading, text: &text[start..from] });
            (start, at, heading) = (from, line, "");
        }
        if content.starts_with("Executing ") {
            heading = content.trim();
        }
        from += content.len();
    }
    parts.push(BoardPart { at, heading, text: &text[start..] });
    parts
}

/// The processor or the kind of processors that a heading names: `cpu4`, `little`, `cluster 0`.
fn label(heading: &str) -> Option<&str> {
    let rest = heading.split_once(" on ")?.1;
    let rest = rest.split([',', ':', '(']).next().unwrap_or(rest).trim();
    let named = rest.strip_prefix("a ").and_then(|rest| rest.strip_suffix(" core")).unwrap_or(rest);
    (named.starts_with("cpu") || named.starts_with("cluster") || ["little", "big"].contains(&named)).then_some(named)
}

fn log(source: &SourceText<'_>, first: usize, text: &str) -> Result<SourceSheet, SourceFault> {
    let parts = parts(first, text);
    // With one cluster there is nothing to tell apart.
    let of = |kind: &str| {
        parts
            .iter()
            .filter_map(|part| label(part.heading))
            .filter(|label| label.starts_with(kind))
            .collect::<BTreeSet<_>>()
            .len()
    };
    let several = of("cpu") > 1 || of("cluster") > 1 || of("little") + of("big") > 1;
    let mut sheet = SourceSheet::default();
    for part in &parts {
        let label = label(part.heading).filter(|_| several);
        let placed = |reading: SourceReading| match label {
            Some(label) => reading.at("cpu", parameter_value(label)),
            None => reading,
        };
        sheet.begin_repetition();
        let start = sheet.readings.len();
        if part.text.contains("tinymembench v") {
            within(source, part, |inner| parse_as("tinymembench", inner), |sub| sheet.readings.extend(sub.readings))?;
        } else if part.heading.contains("ramlat") {
            sheet.readings.extend(ramlat(source, part)?);
        } else if part.text.contains("Igor Pavlov") {
            seven(&mut sheet, source, part)?;
        } else if part.text.contains("type             16 bytes") {
            ciphers(&mut sheet, source, part)?;
        } else if part.text.contains("cpuminer") {
            sheet.notes.push("rates of cpuminer are not read".to_owned());
            all_taken(source, part);
        } else if part.heading.is_empty() {
            describe(&mut sheet, part, first);
            all_taken(source, part);
        }
        for reading in &mut sheet.readings[start..] {
            *reading = placed(reading.clone());
        }
    }
    Ok(sheet)
}

/// Its lines state nothing to keep, or what is kept of them is.
fn all_taken(source: &SourceText<'_>, part: &BoardPart<'_>) {
    (0..part.text.lines().count()).for_each(|line| source.took(part.at + line));
}

/// Several runs of 7-Zip: what is executed is said above them, or the first ones are of single processors.
fn seven(sheet: &mut SourceSheet, source: &SourceText<'_>, part: &BoardPart<'_>) -> Result<(), SourceFault> {
    // The sums below them say that they are of all processors.
    let said = !part.heading.is_empty() || part.text.contains("\nCompression: ");
    let found = within(
        source,
        part,
        |inner| parse_as("7zip", inner),
        |sub| {
            let start = sheet.readings.len();
            // Its first process has begun with the part.
            let begins: Vec<usize> = sub.processes.iter().copied().filter(|begin| *begin > 0).collect();
            if said {
                // The script runs 7-Zip several times.
                let before = sheet.processes.len();
                sheet.repetitions.extend(before..before + begins.len());
                sheet.processes.extend(begins.iter().map(|begin| start + begin));
            }
            for (place, reading) in sub.readings.into_iter().enumerate() {
                let order = begins.partition_point(|begin| *begin <= place) + 1;
                sheet.readings.push(if said { reading } else { reading.at("order", order.to_string()) });
            }
            sub.facts.into_iter().for_each(|fact| sheet.fact(Some(fact)));
        },
    );
    match found {
        // It was ended before its totals.
        Err(fault) if fault.reason.contains("no line of totals") => {
            sheet.notes.push(format!("7-Zip did not end at line {}", fault.place.line));
            Ok(())
        }
        other => other,
    }
}
