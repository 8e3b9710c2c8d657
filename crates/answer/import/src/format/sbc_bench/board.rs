//! What sbc-bench says of the board before its tests.

use super::{BoardPart, SourceSheet, number, text};
use crate::date::mail;
use crate::text::name_value;

/// Facts of the part that begins a log; the others state the state of the board.
pub(super) fn describe(sheet: &mut SourceSheet, part: &BoardPart<'_>, first: usize) {
    if part.at != first {
        return;
    }
    for line in part.text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some(rest) = line.strip_prefix("sbc-bench v") {
            title(sheet, rest.trim());
        } else if let Some(name) = line.strip_prefix("Description:") {
            sheet.fact(text("os.name", name, "output", &[]));
        } else if line.starts_with("/usr/bin/gcc ") {
            sheet.fact(text("compiler", &name_value(line), "output", &[]));
        } else if let ["Linux", release, host, ..] = words[..] {
            let host = host.trim_matches(['(', ')']);
            if sheet.machine.is_empty() {
                sheet.machine = name_value(host);
            }
            sheet.fact(text("kernel.release", release, "output", &[]));
            let architecture = words.iter().find_map(|word| word.strip_prefix('_')?.strip_suffix('_'));
            sheet.fact(architecture.and_then(|name| text("cpu.architecture", name, "output", &[])));
            let count = words.iter().find_map(|word| word.strip_prefix('(')?.parse::<u32>().ok());
            sheet.fact(count.map(|count| number("cpu.count", f64::from(count), "1", "output", &[])));
        } else if let ["Mem:", total, ..] = words[..] {
            sheet.fact(memory(total).map(|total| number("memory.total", total, "B", "output", &[])));
        }
    }
}

/// `0.9.40 BQ-H616 (Wed, 12 Apr 2023 14:57:58 +0800)`, or `0.4 -- Sun, 29 Jul 2018 14:00:53 +0000`.
fn title(sheet: &mut SourceSheet, rest: &str) {
    let (version, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    sheet.version = Some(name_value(version));
    let rest = rest.trim();
    let (device, date) = match rest.strip_prefix("-- ") {
        Some(date) => ("", date),
        None => rest.rsplit_once('(').map_or((rest, ""), |(device, date)| (device, date.trim_end_matches(')'))),
    };
    sheet.started = mail(date);
    let device = device.trim().trim_start_matches('/').trim();
    sheet.fact(text("system.model", &name_value(device), "output", &[]).filter(|_| !device.is_empty()));
}

/// What `free -h` prints, which counts in 1024: `986Mi`, `3.8G`.
fn memory(word: &str) -> Option<f64> {
    let (value, unit) = crate::text::split_unit(word)?;
    let scale = match unit.trim_end_matches('i') {
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return None,
    };
    Some(value * 2.0_f64.powi(scale))
}
