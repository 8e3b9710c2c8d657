//! RAMspeed and RAMspeed/SMP: reading and writing by block size, and the four kernels of its `mem` tests.

use model::{KIB, format_size};

use super::{Confidence, ImportFormat, Parsed, SourceText, likely, sure};
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second};
use crate::text::{SourceFault, after, between, lines, need, number, snake};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "ramspeed",
    tool: "RAMspeed",
    about: "rates by block size and of the copy, scale, add and triad tests; no spread is stated",
    by_lines: true,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    sure(head, &["RAMspeed"])
        .max(likely(head, &["Kb block:", "& WRITING"]))
        .max(likely(head, &["Kb block:", "& READING"]))
}

/// Units of the rates: `MB/s` counts 10^6 bytes, `Mb/s` (its option -r) 2^20.
const UNITS: [(&str, f64); 2] = [("MB/s", 1e6), ("Mb/s", 1_048_576.0)];

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let mut processes = None;
    for (at, line) in lines(source.text) {
        if let Some(rest) = after(line, "RAMspeed").and_then(|rest| after(rest, ") v")) {
            sheet.version = rest.split_whitespace().next().map(str::to_owned);
            begin(&mut sheet, &mut processes);
        } else if let Some(count) = between(line, "per pass mode,", "processes").and_then(number) {
            processes = Some(count);
        } else if let Some((value, scale)) = rated(line) {
            let Some(reading) = reading(line, need(value, at)? * scale, at)? else { continue };
            sheet.readings.push(reading.printed_in(value, scale));
        } else if !["per pass mode", "BatchRun mode"].iter().any(|words| line.contains(words)) {
            continue;
        }
        source.took(at);
    }
    begin(&mut sheet, &mut processes);
    Ok(Parsed::Sheets(vec![sheet]))
}

/// The output of a process ends, and perhaps that of another begins.
fn begin(sheet: &mut SourceSheet, processes: &mut Option<f64>) {
    if let Some(processes) = processes.take() {
        sheet.process_at("threads", &processes.to_string());
    }
    sheet.begin_process();
}

/// The reading of a line with a rate; none if it does not name what was measured.
fn reading(line: &str, value: f64, at: usize) -> Result<Option<SourceReading>, SourceFault> {
    // A page may show the line as a comment.
    let head = line.trim_start_matches(|c: char| c == '#' || c.is_whitespace());
    let head = head.split(':').next().unwrap_or_default().trim();
    if let Some((kind, size)) = block(head) {
        return blocks(kind, size, value, at).map(Some);
    }
    let Some((kind, name)) = head.rsplit_once(' ') else { return Ok(None) };
    let reading = SourceReading::new(format!("ramspeed.{}", snake(name)), head, value, bytes_per_second("bytes"));
    Ok(Some(reading.at("kind", snake(kind))))
}

/// The number before the unit at a line's end, and the unit in bytes.
fn rated(line: &str) -> Option<(&str, f64)> {
    let (_, rest) = line.rsplit_once(':')?;
    UNITS.iter().find_map(|(unit, scale)| rest.split_once(unit).map(|(value, _)| (value.trim(), *scale)))
}

/// `INTEGER & WRITING      1 Kb block`: the kind and the size.
fn block(head: &str) -> Option<(&str, &str)> {
    let words = head.strip_suffix("Kb block")?.trim_end();
    words.rsplit_once(' ').map(|(kind, size)| (kind.trim(), size))
}

fn blocks(kind: &str, size: &str, value: f64, at: usize) -> Result<SourceReading, SourceFault> {
    let kilobytes: u64 = size.parse().map_err(|_| SourceFault::new("the block size is not a whole number", at))?;
    let size = format_size(kilobytes.saturating_mul(KIB));
    let (registers, direction) = kind.split_once('&').unwrap_or((kind, ""));
    let (registers, direction) = (registers.trim(), direction.trim());
    // `memory.read` and `memory.write` have the same definition as its ordinary accesses; non-temporal ones keep its
    // own id.
    let id = match direction {
        "READING" if !registers.contains("(nt)") => "memory.read",
        "WRITING" if !registers.contains("(nt)") => "memory.write",
        _ => {
            return Ok(SourceReading::new(format!("ramspeed.{}", snake(kind)), kind, value, bytes_per_second("bytes"))
                .at("block", size));
        }
    };
    let reading = SourceReading::new(id, kind, value, bytes_per_second("bytes")).at("working_set", size);
    Ok(match registers {
        "INTEGER" => reading.at("width", "integer"),
        "FL-POINT" => reading.at("width", "double"),
        "SSE" | "AVX" => reading.at("width", "vector").note(format!("RAMspeed's {registers} registers")),
        other => reading.at("registers", snake(other)),
    })
}
