//! Parts of sbc-bench's log: those of other tools by their rules, ramlat's table, ciphers without their heading.

use std::collections::BTreeMap;

use super::{
    BoardPart, Parsed, SourceFault, SourceReading, SourceSheet, SourceText, lines, openssl, parameter_value, seconds,
    text,
};
use crate::text::{name_value, need};
use crate::unread::LineLedger;

/// Reads a part by the rules of another tool. Its lines are numbered as they are in the log.
pub(super) fn within(
    source: &SourceText<'_>,
    part: &BoardPart<'_>,
    parse: fn(&SourceText<'_>) -> Result<Parsed, SourceFault>,
    mut keep: impl FnMut(SourceSheet),
) -> Result<(), SourceFault> {
    let inner = SourceText { text: part.text, ledger: LineLedger::default(), ..*source };
    let parsed = parse(&inner).map_err(|mut fault| {
        fault.place.line += part.at - 1;
        fault
    })?;
    for (line, content) in lines(part.text) {
        // Its own lines around them: what is executed, and the sums of all runs.
        let own = content.starts_with("Executing ")
            || ["Compression: ", "Decompression: ", "Total: "].iter().any(|begin| content.starts_with(begin));
        if own || inner.ledger.has(line) || is_known(content) {
            source.took(part.at + line - 1);
        }
    }
    if let Parsed::Sheets(sheets) = parsed {
        sheets.into_iter().for_each(&mut keep);
    }
    Ok(())
}

/// Lines of tinymembench's and 7-Zip's heads that their own rules leave.
fn is_known(line: &str) -> bool {
    let line = line.trim();
    ["bandwidth test", "latency test", "CFLAGS:", "p7zip Version", "64-bit", "Compiler:", "RAM usage:", "7-Zip"]
        .iter()
        .any(|begin| line.starts_with(begin))
        || line.starts_with("Linux :")
        || line.contains("# CPU hardware threads")
        || line.contains("(BIOS)")
}

/// `Executing ramlat on cpu0 (Cortex-A53), results in ns:`, a heading of ways to load and a row for each size.
pub(super) fn ramlat(source: &SourceText<'_>, part: &BoardPart<'_>) -> Result<Vec<SourceReading>, SourceFault> {
    if !part.heading.contains("results in ns") {
        return Err(SourceFault::new("the unit of ramlat's times is not known", part.at));
    }
    let mut columns: Vec<&str> = Vec::new();
    let mut readings: Vec<SourceReading> = Vec::new();
    for (line, content) in lines(part.text) {
        let at = part.at + line - 1;
        let Some((name, cells)) = content.split_once(':') else { continue };
        let cells: Vec<&str> = cells.split_whitespace().collect();
        if name.trim() == "size" {
            columns = cells;
        } else if let Some(size) = name.trim().strip_suffix('k').and_then(|size| size.parse::<u64>().ok()) {
            if cells.len() != columns.len() {
                let (has, names) = (cells.len(), columns.len());
                return Err(SourceFault::new(format!("the row has {has} values and its heading {names}"), at));
            }
            let size = size.checked_mul(1024).ok_or_else(|| SourceFault::new("its size is too large", at))?;
            for (column, cell) in columns.iter().zip(cells) {
                let value = need(cell, at)? * 1e-9;
                let reading = SourceReading::new("sbc_bench.ramlat", "Load latency", value, seconds("load"));
                let reading = reading.printed_in(cell, 1e-9).at("working_set", model::format_size(size));
                readings.push(reading.at("access", parameter_value(column)));
            }
        } else if !content.starts_with("Executing ") {
            continue;
        }
        source.took(at);
    }
    Ok(readings)
}

/// Rows of `openssl speed`, whose heading says its unit in the rows alone. `twice` says that the rows of a cipher are
/// processes; else they are of the clusters, by the name behind them or in their order.
pub(super) fn ciphers(
    sheet: &mut SourceSheet,
    source: &SourceText<'_>,
    part: &BoardPart<'_>,
) -> Result<(), SourceFault> {
    let twice = part.heading.contains(" twice ");
    let mut sizes: Vec<String> = Vec::new();
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    let mut processes: Vec<Vec<SourceReading>> = Vec::new();
    for (line, content) in lines(part.text) {
        let at = part.at + line - 1;
        let words: Vec<&str> = content.split_whitespace().collect();
        if words.first() == Some(&"type") {
            sizes = openssl::blocks(&words[1..], at)?;
        } else if content.starts_with("OpenSSL") {
            sheet.fact(text("openssl.version", &name_value(content), "output", &[]));
        } else if words.len() > 1 && !sizes.is_empty() && !content.starts_with('#') {
            let (row, core) = content.split_once('(').unwrap_or((content, ""));
            let core = core.split(')').next().unwrap_or_default().trim();
            let readings = openssl::of_blocks(&sizes, row.trim(), at)?;
            if readings.is_empty() {
                continue;
            }
            let count = times.entry(format!("{} {core}", words[0])).or_default();
            *count += 1;
            let order = (!twice && core.is_empty()).then(|| count.to_string());
            if processes.len() < *count {
                processes.resize_with(*count, Vec::new);
            }
            let placed = readings.into_iter().map(|reading| match &order {
                _ if !core.is_empty() => reading.at("core", parameter_value(core)),
                Some(order) => reading.at("order", order.clone()),
                None => reading,
            });
            processes[*count - 1].extend(placed);
        } else if !content.starts_with("Executing ") {
            continue;
        }
        source.took(at);
    }
    for readings in processes {
        if twice {
            sheet.begin_repetition();
        }
        sheet.readings.extend(readings);
    }
    Ok(())
}
