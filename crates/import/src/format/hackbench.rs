//! hackbench: the time that groups of senders and receivers take.

use super::{ImportFormat, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, seconds};
use crate::text::{SourceFault, axis_value, between, called, lines, need};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "hackbench",
    tool: "hackbench",
    about: "the time of each execution",
    by_lines: true,
    detect: |head| {
        let old = sure(head, &["Running with ", "*40 (== ", " tasks.", "Time: "]);
        old.max(sure(head, &["Running in ", " groups using ", "Each sender will pass"]))
    },
    parse,
};

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let (mut axes, mut open): (Vec<(&str, String)>, _) = (Vec::new(), None);
    // Whether it passes its messages through pipes is only known from its command.
    let mut pipes = false;
    for (at, line) in lines(source.text) {
        let trimmed = line.trim();
        if let Some(begun) = begun(trimmed) {
            sheet.begin_process();
            axes = begun;
            axes.extend(pipes.then(|| ("transport", "pipe".to_owned())));
            if let Some(place) = open.replace(at) {
                return Err(SourceFault::new("the run that begins here has no time", place));
            }
        } else if let Some(rest) = trimmed.strip_prefix("Each sender will pass ") {
            axes.push(("messages", axis_value(rest.split_whitespace().next().unwrap_or_default())));
            axes.push(("size", format!("{}B", axis_value(between(rest, "of ", " bytes").unwrap_or_default()))));
        } else if let Some(value) = trimmed.strip_prefix("Time:").filter(|_| open.is_some()) {
            let reading = SourceReading::new("hackbench.time", "Time", need(value, at)?, seconds("run"));
            let reading = axes
                .iter()
                .fold(reading.printed_in(value, 1.0), |reading, (axis, value)| reading.at(axis, value.clone()));
            sheet.readings.push(reading);
            open = None;
        } else if let Some((_, words)) = called(trimmed, "hackbench").filter(|(_, words)| is_command(trimmed, words)) {
            pipes = words.iter().any(|word| ["-p", "--pipe", "-pipe"].contains(word));
        } else if !is_wrapped(trimmed) {
            continue;
        }
        source.took(at);
    }
    match open {
        Some(place) => Err(SourceFault::new("the run that begins here has no time", place)),
        None => Ok(Parsed::Sheets(vec![sheet])),
    }
}

/// The line that begins a run: `Running in process mode with 10 groups using 40 file descriptors each (== 400 tasks)`,
/// or before it had options `Running with 10*40 (== 400) tasks.`
fn begun(line: &str) -> Option<Vec<(&'static str, String)>> {
    if let Some(rest) = line.strip_prefix("Running in ") {
        let field = |from: &str, to: &str| axis_value(between(rest, from, to).unwrap_or_default());
        return Some(vec![
            ("mode", axis_value(rest.split(" mode").next().unwrap_or_default())),
            ("groups", field("with ", " group")),
            ("descriptors", field("using ", " file descriptors")),
        ]);
    }
    let (groups, descriptors) = between(line, "Running with ", " (==")?.split_once('*')?;
    // Processes or threads, their messages and sizes are not printed.
    Some(vec![("groups", axis_value(groups)), ("descriptors", axis_value(descriptors))])
}

/// A command has options or numbers behind the name, or a prompt before it; a sentence has other words.
fn is_command(line: &str, words: &[&str]) -> bool {
    let known = ["process", "thread"];
    (!words.is_empty() || line.contains(['$', '#']))
        && words.iter().all(|word| word.starts_with('-') || known.contains(word) || word.parse::<u32>().is_ok())
}

/// The end of a first line that a mail program broke.
fn is_wrapped(line: &str) -> bool {
    line.ends_with("tasks)") && (line.starts_with("each (==") || line.starts_with("(=="))
}
