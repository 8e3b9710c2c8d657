//! hackbench: the time that groups of senders and receivers take.

use super::{ImportFormat, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, seconds};
use crate::text::{SourceFault, axis_value, between, lines, need};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "hackbench",
    tool: "hackbench",
    about: "the time of each execution; those with the same settings are launches",
    by_lines: true,
    detect: |head| sure(head, &["file descriptors each (== ", "Each sender will pass"]),
    parse,
};

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let (mut axes, mut open): (Vec<(&str, String)>, _) = (Vec::new(), None);
    for (at, line) in lines(source.text) {
        let trimmed = line.trim();
        if let Some(rest) = trimmed.strip_prefix("Running in ") {
            sheet.begin_process();
            let field = |from: &str, to: &str| axis_value(between(rest, from, to).unwrap_or_default());
            axes = vec![
                ("mode", axis_value(rest.split(" mode").next().unwrap_or_default())),
                ("groups", field("with ", " group")),
                ("descriptors", field("using ", " file descriptors")),
            ];
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
        } else {
            continue;
        }
        source.took(at);
    }
    match open {
        Some(place) => Err(SourceFault::new("the run that begins here has no time", place)),
        None => Ok(Parsed::Sheets(vec![sheet])),
    }
}
