//! core-to-core-latency: the table that it writes as CSV, which has no heading: below its diagonal stand the times from
//! each CPU to each of a lower number, nanoseconds.

use super::{CodeFormat, Confidence, Parsed, SourceText};
use crate::sheet::{SourceReading, SourceSheet, seconds};
use crate::text::{SourceFault, lines, need};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "core-to-core-latency",
    tool: "core-to-core-latency",
    about: "the table of --csv: half a round trip of a cache line between every two CPUs; no spread is stated",
    by_lines: true,
    detect,
    parse,
};

/// CPUs, at most: every two are a result.
const MOST_CPUS: usize = 512;

/// The table has a row of commas alone and then, below each other, one number more a row; nothing names the tool.
fn detect(head: &[u8]) -> Confidence {
    let text = String::from_utf8_lossy(head);
    let mut rows = text.lines();
    let (first, second) = (rows.next().unwrap_or_default(), rows.next().unwrap_or_default());
    let empty = !first.is_empty() && first.bytes().all(|byte| byte == b',');
    let one = second.split_once(',').is_some_and(|(cell, rest)| {
        need(cell, 2).is_ok() && rest.len() + 1 == first.len() && rest.bytes().all(|byte| byte == b',')
    });
    if empty && one { Confidence::Sure } else { Confidence::No }
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let (mut cpus, mut rows) = (0, 0);
    for (at, line) in lines(source.text) {
        if line.is_empty() {
            continue;
        }
        let cells: Vec<&str> = line.split(',').collect();
        if rows == 0 {
            cpus = cells.len();
        }
        if cpus > MOST_CPUS {
            return Err(SourceFault::new(format!("it has more than {MOST_CPUS} CPUs"), at));
        }
        if cells.len() != cpus || rows == cpus {
            return Err(SourceFault::new("it is not a table of as many rows as columns", at));
        }
        if cells[rows..].iter().any(|cell| !cell.is_empty()) {
            return Err(SourceFault::new("a value stands on or above its diagonal", at));
        }
        for (other, cell) in cells[..rows].iter().enumerate() {
            let value = need(cell, at)? * 1e-9;
            let reading =
                SourceReading::new("core_to_core.latency", "Core to core", value, seconds("half a round trip"));
            // As many digits are printed as the binary number has: they say nothing of its precision.
            sheet.readings.push(reading.at("cpus", format!("{other}+{rows}")));
        }
        rows += 1;
        source.took(at);
    }
    if rows < cpus || cpus < 2 {
        return Err(SourceFault::new(format!("its table ends after {rows} of {cpus} rows"), rows.max(1)));
    }
    sheet.notes.push("which of its tests it was is not stated; by default a compare-and-swap of one line".to_owned());
    Ok(Parsed::Sheets(vec![sheet]))
}
