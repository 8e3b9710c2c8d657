//! mbw: copies of an array, each timed, all in one process.

use super::{ImportFormat, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, bytes_per_second};
use crate::text::{SourceFault, after, between, lines, need, snake};

/// Bytes of a MiB, the unit of mbw.
const MIB: f64 = 1_048_576.0;

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "mbw",
    tool: "mbw",
    about: "average, and least and greatest of the copies of one process as the range",
    by_lines: true,
    detect: |head| sure(head, &["Method: MEMCPY"]).max(sure(head, &["Method: DUMB", "MiB"])),
    parse,
};

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let mut copies: Vec<f64> = Vec::new();
    let mut open = None;
    for (at, line) in lines(source.text) {
        let Some(method) = between(line, "Method:", "Elapsed:") else {
            // What it is about to do.
            if line.starts_with("Long uses") {
                sheet.begin_process();
            }
            if ["Long uses", "Using ", "Getting down"].iter().any(|begin| line.starts_with(begin)) {
                source.took(at);
            }
            continue;
        };
        source.took(at);
        let copied = after(line, "Copy:").ok_or_else(|| SourceFault::new("the line ends early", at))?;
        let (rate, _) = copied.split_once("MiB/s").ok_or_else(|| SourceFault::new("the rate lacks its unit", at))?;
        let rate = need(rate, at)? * MIB;
        if !line.starts_with("AVG") {
            copies.push(rate);
            open = Some(at);
            continue;
        }
        let size = need(between(line, "MiB:", "Copy:").unwrap_or_default(), at)?;
        let reading =
            SourceReading::new(format!("mbw.{}", snake(method)), method, rate, bytes_per_second("bytes copied"));
        let least = copies.iter().copied().fold(rate, f64::min);
        let greatest = copies.iter().copied().fold(rate, f64::max);
        let spread = if copies.len() > 1 { SourceSpread::Range(least, greatest) } else { SourceSpread::None };
        let repetitions = u32::try_from(copies.len()).unwrap_or(u32::MAX);
        sheet.readings.push(reading.at("array", format!("{size}MiB")).spread(spread).counts(1, repetitions));
        copies.clear();
        open = None;
    }
    match open {
        Some(at) => Err(SourceFault::new("its last method has no average", at)),
        None => Ok(Parsed::Sheets(vec![sheet])),
    }
}
