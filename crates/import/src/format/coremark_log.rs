//! The log of CoreMark-PRO and of FPMark: a line for each execution of a workload, with its contexts, workers and time.
//! The tables of marks are computed from its medians.

use super::SourceText;
use crate::sheet::{SourceReading, SourceSheet, rate};
use crate::text::{SourceFault, axis_value, lines, need, number, snake};

/// Beginning of the heading, above every workload.
pub(super) const HEADING: &str = "#UID            Suite Name";

/// Reads every execution that was a measurement: those that verify come before, and medians repeat.
pub(super) fn read(source: &SourceText<'_>, suite: &str) -> Result<SourceSheet, SourceFault> {
    let mut sheet = SourceSheet::default();
    let (mut measures, mut failed) = (false, 0);
    for (at, line) in lines(source.text) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if line.starts_with('#') {
            measures = line.contains("for performance runs");
            source.took(at);
            continue;
        }
        let [_, _, name, contexts, workers, fails, time, _, printed, ..] = words[..] else { continue };
        if number(contexts).is_none() || number(printed).is_none() {
            continue;
        }
        source.took(at);
        if !measures {
            continue;
        }
        if fails != "0" {
            failed += 1;
            continue;
        }
        let value = need(printed, at)?;
        let mut reading = SourceReading::new(format!("{suite}.{}", snake(name)), name, value, rate("iterations"));
        // Of 0.007 s, no digit of the rate is exact.
        let of = |digits: &str| {
            let seconds = number(digits).unwrap_or_default();
            SourceReading::new("", "", seconds, rate("")).printed(digits).rounding
        };
        if let Some(rounding) = of(printed).zip(of(time)).map(|(rate, time)| rate.max(time)) {
            reading = reading.rounded(rounding);
        }
        let alone = contexts == "1" && workers == "1";
        reading = reading.at("contexts", if alone { "one".to_owned() } else { axis_value(contexts) });
        if workers != "1" {
            reading = reading.at("workers", axis_value(workers));
        }
        // Each execution is a process of its own.
        sheet.begin_repetition();
        sheet.readings.push(reading);
    }
    if failed > 0 {
        sheet.notes.push(format!("{failed} executions failed and are left out"));
    }
    Ok(sheet)
}
