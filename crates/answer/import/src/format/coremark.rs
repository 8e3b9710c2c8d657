//! CoreMark: iterations a second of one process.

use super::{CodeFormat, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, rate, text};
use crate::text::{SourceFault, lines, need, parameter_value};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "coremark",
    tool: "CoreMark",
    about: "iterations a second; no spread is stated",
    by_lines: true,
    detect: |head| sure(head, &["CoreMark Size"]).max(sure(head, &["CoreMark 1.0 :"])),
    parse,
};

/// The begin of a run's last line: the rate, the compiler with its flags, and where the data are.
const LAST: &str = "CoreMark 1.0 :";

/// The run whose lines are read.
#[derive(Default)]
struct CoremarkRun {
    /// Readings before it.
    start: usize,
    /// What it runs, where that is not the usual performance run of 2000 bytes.
    kind: String,
    /// Compiler, its flags, and where the data are.
    build: Vec<String>,
    /// The duration as printed: some boards count whole seconds.
    seconds: String,
    /// Its rate was read, or is known to be of no use.
    rated: bool,
    /// Its last line was read, which only a valid run prints.
    ended: bool,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet { version: Some("1.0".to_owned()), ..SourceSheet::default() };
    let mut runs: Vec<CoremarkRun> = Vec::new();
    let (mut open, mut kind) = (None, String::new());
    for (at, line) in lines(source.text) {
        if line.contains("run parameters for coremark") {
            kind = line.trim().trim_end_matches(" run parameters for coremark.").to_ascii_lowercase();
        } else if line.contains("CoreMark Size") {
            sheet.begin_process();
            let kind = std::mem::take(&mut kind);
            runs.push(CoremarkRun { start: sheet.readings.len(), kind, ..CoremarkRun::default() });
            open = Some(at);
        } else if line.trim_start().starts_with(LAST) && runs.last().is_none_or(|run| run.ended) {
            // The last line alone, as pages quote it.
            sheet.begin_process();
            runs.push(CoremarkRun { start: sheet.readings.len(), ..CoremarkRun::default() });
        } else if line.trim_start().starts_with("Correct operation validated") {
            open = None;
        }
        if is_error(&mut sheet, line, at)? {
            source.took(at);
        }
        let (Some((name, value)), Some(run)) = (line.split_once(':'), runs.last_mut()) else { continue };
        let value = value.trim();
        match name.trim() {
            "Iterations/Sec" => take_rate(&mut sheet, run, value, at)?,
            "Total time (secs)" => value.clone_into(&mut run.seconds),
            "Compiler version" => {
                sheet.fact(text("compiler", value, "output", &[]));
                run.build.push(value.trim().to_owned());
            }
            "Compiler flags" => {
                sheet.fact(text("compiler.flags", value, "output", &[]));
                run.build.push(value.trim().to_owned());
            }
            "Memory location" => run.build.push(value.trim().to_owned()),
            name if name.starts_with("Parallel") => {
                if let Some(reading) = sheet.readings.last_mut() {
                    reading.parameters = std::mem::take(&mut reading.parameters).with("copies", parameter_value(value));
                }
            }
            name if name.contains("crcfinal") => open = None,
            "CoreMark 1.0" => {
                (open, run.ended) = (None, true);
                take_rate(&mut sheet, run, value, at)?;
            }
            "CoreMark Size" | "Total ticks" | "Iterations" | "seedcrc" => {}
            name if name.starts_with('[') => {}
            _ => continue,
        }
        source.took(at);
    }
    place(&mut sheet, &runs);
    match open {
        Some(at) => Err(SourceFault::new("the run that begins here has no checksums", at)),
        None => Ok(Parsed::Sheets(vec![sheet])),
    }
}

/// Whether a line tells of an error, with which a run is invalid; wrong results are no rate.
fn is_error(sheet: &mut SourceSheet, line: &str, at: usize) -> Result<bool, SourceFault> {
    let error = line.contains("ERROR!");
    if error && line.contains(" crc ") {
        return Err(SourceFault::new("CoreMark says itself that its results are wrong", at));
    }
    let told = error || line.contains("Errors detected");
    if told && !sheet.notes.iter().any(|note| note == INVALID) {
        sheet.notes.push(INVALID.to_owned());
    }
    Ok(told)
}

const INVALID: &str = "CoreMark reports errors: a run is invalid by its rules";

/// Takes a run's rate, from its own line or from the last one, which also says how it was built.
fn take_rate(sheet: &mut SourceSheet, run: &mut CoremarkRun, value: &str, at: usize) -> Result<(), SourceFault> {
    if run.rated {
        return Ok(());
    }
    run.rated = true;
    let mut parts = value.split(" / ");
    match rate_of(parts.next().unwrap_or_default().trim(), &run.seconds, at)? {
        Some(reading) => sheet.readings.push(reading),
        None => sheet.notes.push("a rate of 0, from a duration in whole seconds, is left out".to_owned()),
    }
    run.build.extend(parts.map(|part| part.trim().to_owned()));
    Ok(())
}

/// The rate, as exact as the duration behind it; none if it was rounded to nothing.
fn rate_of(value: &str, seconds: &str, at: usize) -> Result<Option<SourceReading>, SourceFault> {
    let iterations = need(value, at)?;
    let reading = SourceReading::new("coremark.iterations", "CoreMark", iterations, rate("iterations"));
    // Without floating point, what is beyond the last whole second is cut off.
    let whole = seconds.parse::<u32>().ok().filter(|seconds| *seconds > 0);
    Ok(match whole {
        _ if iterations <= 0.0 => None,
        Some(seconds) => Some(reading.rounded(1.0 / f64::from(seconds)).note(format!(
            "from a duration in whole seconds ({seconds} s): up to {:.0}% too high",
            100.0 / f64::from(seconds)
        ))),
        None => Some(reading),
    })
}

/// Runs of one file that differ in what they run, or in how they were built, are results of their own.
fn place(sheet: &mut SourceSheet, runs: &[CoremarkRun]) {
    let differ = runs.iter().any(|run| run.build != runs[0].build);
    for (index, reading) in sheet.readings.iter_mut().enumerate() {
        let Some(run) = runs[..runs.partition_point(|run| run.start <= index)].last() else { continue };
        if !run.kind.is_empty() && run.kind != "2k performance" {
            reading.parameters = std::mem::take(&mut reading.parameters).with("run", parameter_value(&run.kind));
        }
        if differ {
            reading.parameters =
                std::mem::take(&mut reading.parameters).with("build", parameter_value(&run.build.join(" / ")));
        }
    }
}
