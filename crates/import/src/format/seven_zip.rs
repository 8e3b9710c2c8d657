//! `7z b`: the averages over dictionaries and passes of one process.

use model::{Metric, Unit};

use super::{ImportFormat, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, rate, text};
use crate::text::{SourceFault, axis_value, between, column, first_number, lines};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "7zip",
    tool: "7-Zip",
    about: "the averages of `7z b`: speed and rating of compressing and decompressing; no spread is stated",
    by_lines: true,
    detect: |head| sure(head, &["7-Zip", "Dict", "Compressing"]),
    parse,
};

pub(super) fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let (mut threads, mut last) = (None, 0);
    // Dictionaries that are averaged, as exponents of 2.
    let mut dictionaries: Vec<u32> = Vec::new();
    for (at, line) in lines(source.text) {
        last = at;
        if line.contains("7-Zip") && line.contains("Igor Pavlov") {
            sheet.begin_process();
            (threads, dictionaries) = (None, Vec::new());
            sheet.version = line.split_whitespace().find(|word| word.contains('.')).map(str::to_owned);
        } else if let Some(rest) = line.find("Benchmark threads:").map(|from| &line[from..]) {
            threads = first_number(rest);
        } else if line.contains("CPU @") || line.starts_with("Intel") || line.starts_with("AMD") {
            sheet.facts.extend(text("cpu.model", line, "output", &[]));
        } else if line.starts_with("Avr:") {
            averages(&mut sheet, line, at)?;
        } else if line.starts_with("Tot:") {
            let usage = column(line, 1, at)? / 100.0;
            let metric = Metric::higher(Unit::Ratio, "CPUs used");
            sheet.readings.push(SourceReading::new("seven_zip.usage", "CPU usage", usage, metric));
            let total = column(line, 3, at)? * 1e6;
            sheet.readings.push(SourceReading::new(
                "seven_zip.rating",
                "Total rating",
                total,
                rate("7-Zip instructions"),
            ));
            // An average over other dictionaries than the usual ones is another figure.
            if let Some(range) = range(&dictionaries).filter(|range| range != USUAL) {
                sheet.process_at("dictionaries", &range);
            }
            // The totals end the output of a process.
            if let Some(threads) = threads {
                sheet.process_at("threads", &axis_value(&threads.to_string()));
            }
        } else if !is_row(line) {
            continue;
        } else if let Some(exponent) = line.split(':').next().and_then(|head| head.trim().parse().ok()) {
            dictionaries.push(exponent);
        }
        source.took(at);
    }
    if !sheet.readings.iter().any(|reading| reading.id == "seven_zip.rating") {
        return Err(SourceFault::new("it has no line of totals", last));
    }
    if let Some(words) = between(source.text, "RAM size:", "MB") {
        sheet.notes.push(format!("memory as 7-Zip sees it: {words} MB"));
    }
    Ok(Parsed::Sheets(vec![sheet]))
}

/// Dictionaries of 4 to 32 MiB, which it averages unless told otherwise.
const USUAL: &str = "22-25";

/// `18-20`, or `18` alone.
fn range(dictionaries: &[u32]) -> Option<String> {
    let (least, greatest) = (dictionaries.iter().min()?, dictionaries.iter().max()?);
    Some(if least == greatest { least.to_string() } else { format!("{least}-{greatest}") })
}

/// The rows of single dictionaries, of which the averages follow, and the frequencies of single threads.
fn is_row(line: &str) -> bool {
    let rows = line.split_once(':').is_some_and(|(head, rest)| {
        head.bytes().all(|byte| byte.is_ascii_digit()) && !head.is_empty() && rest.contains('|')
    });
    rows || line.contains("Freq (MHz)") || line.starts_with("RAM size:") || line.contains("CPU Freq")
}

/// The line of averages: speed (newer versions), usage, rating per usage and rating, of either direction.
fn averages(sheet: &mut SourceSheet, line: &str, at: usize) -> Result<(), SourceFault> {
    let (left, right) = line.split_once('|').ok_or_else(|| SourceFault::new("the line ends early", at))?;
    let left = left.strip_prefix("Avr:").unwrap_or(left);
    for (title, half) in [("compress", left), ("decompress", right)] {
        let words = half.split_whitespace().count();
        if words >= 4 {
            let speed = column(half, 0, at)? * 1024.0;
            sheet.readings.push(SourceReading::new(
                format!("seven_zip.{title}"),
                title,
                speed,
                bytes_per_second("bytes"),
            ));
        }
        let rating = column(half, words.max(3) - 1, at)? * 1e6;
        let id = format!("seven_zip.{title}_rating");
        sheet.readings.push(SourceReading::new(id, format!("{title} rating"), rating, rate("7-Zip instructions")));
    }
    Ok(())
}
