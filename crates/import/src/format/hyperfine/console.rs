//! What hyperfine prints on the terminal: the mean of the executions, their deviation, and their range.

use crate::format::{Confidence, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, seconds};
use crate::text::{SourceFault, after, axis_value, between, half_digit, lines, need, number, one_line, plain, shown};

/// What stands before the mean, and before the time of a single execution.
const TIMES: [&str; 2] = ["Time (mean \u{b1} \u{3c3}):", "Time (abs \u{2261}):"];

pub(super) fn detect(head: &[u8]) -> Confidence {
    TIMES.iter().map(|time| sure(head, &["Benchmark ", time])).max().unwrap_or(Confidence::No)
}

/// Whether a text is what the terminal showed.
pub(super) fn is_terminal(text: &str) -> bool {
    TIMES.iter().any(|time| text.contains(time))
}

pub(super) fn parse(sheet: &mut SourceSheet, source: &SourceText<'_>) -> Result<(), SourceFault> {
    let mut command = String::new();
    // A command that stands there again may be one of another directory or file: it is an occurrence, no launch.
    let mut summary = false;
    for (at, line) in lines(source.text) {
        let shown_line = plain(line);
        // A mail quotes what it answers.
        let line = shown_line.trim_start_matches(['>', ' ', '\t', '|']).trim_end();
        if let Some(name) = benchmark(line) {
            (command, summary) = (axis_value(name), false);
        } else if let Some(times) = TIMES.iter().find_map(|time| after(line, time)) {
            let mean = time_of(times, at)?;
            let mut reading = SourceReading::new("hyperfine.mean", "Wall time, mean", mean.0, seconds("execution"));
            reading = reading.rounded(mean.1 / mean.0).at("command", command.clone());
            if let Some((user, system)) = between(times, "[User:", "]").and_then(|words| words.split_once(", System:"))
            {
                let (user, system) = (user.trim(), system.trim());
                reading = reading.note(format!("on average {user} in user mode and {system} in the kernel"));
            }
            if let Some(deviation) = after(times, "\u{b1}").and_then(|rest| rest.split('[').next()) {
                reading = reading.note(shown(&format!("standard deviation over its executions {}", deviation.trim())));
            }
            sheet.readings.push(reading);
        } else if let Some(range) = after(line, "Range (min \u{2026} max):") {
            let Some(last) = sheet.readings.last_mut() else {
                return Err(SourceFault::new("the range has no mean above it", at));
            };
            let (least, rest) =
                range.split_once('\u{2026}').ok_or_else(|| SourceFault::new("its range has no end", at))?;
            let (least, greatest) = (time_of(least, at)?.0, time_of(rest, at)?.0);
            // Both are rounded more than the mean is.
            last.spread = SourceSpread::Range(least.min(last.value), greatest.max(last.value));
            let runs = rest.split_whitespace().rev().nth(1).and_then(number);
            if let Some(runs) = runs.filter(|_| rest.ends_with(" runs")) {
                last.notes.push(format!("the mean of {runs} executions, each in a process of its own"));
            }
        } else if line == "Summary" {
            summary = true;
        } else if let Some(warning) = line.strip_prefix("Warning:") {
            // The first sentence says what happened, the others what to do.
            let what = warning.trim().split(". ").next().unwrap_or_default().trim_end_matches('.');
            sheet
                .readings
                .last_mut()
                .into_iter()
                .for_each(|last| last.notes.push(format!("hyperfine warns: {}", one_line(what, 100))));
        } else if !(summary && line.contains("times ") || line.contains("hyperfine ")) {
            continue;
        }
        source.took(at);
    }
    Ok(())
}

/// The command of `Benchmark 2: sort file`; before version 1.12 a `#` stands before the number.
fn benchmark(line: &str) -> Option<&str> {
    let (number, command) = line.strip_prefix("Benchmark ")?.split_once(": ")?;
    number.trim_start_matches('#').parse::<u32>().ok().map(|_| command)
}

/// A time in seconds, and half a unit of its last digit, of `6.0 ms ± ...`.
fn time_of(text: &str, at: usize) -> Result<(f64, f64), SourceFault> {
    let mut words = text.split_whitespace();
    let (word, unit) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let scale = match unit {
        "s" => 1.0,
        "ms" => 1e-3,
        "\u{b5}s" | "\u{3bc}s" | "us" => 1e-6,
        _ => return Err(SourceFault::new(format!("the time's unit '{}' is not known", shown(unit)), at)),
    };
    Ok((need(word, at)? * scale, half_digit(word) * scale))
}
