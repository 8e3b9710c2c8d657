//! RandomAccess of HPC Challenge, where it runs alone or as one section: updates of a table a second.

use super::{CodeFormat, Confidence, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, rate};
use crate::text::{SourceFault, after, axis_value, between, lines, need, number, shown};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "random-access",
    tool: "RandomAccess",
    about: "updates a second of the whole table by its words and processes, of one process alone and of all at once; \
            where several processes are stated, the least and greatest are a range",
    by_lines: true,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    // Beside it stand other tests of HPC Challenge, whose summary has it too.
    sure(head, &["Billion(10^9) Updates", "[GUP/s]"])
}

/// What the run whose lines are read has said.
#[derive(Default)]
struct UpdatesState {
    /// The section of HPC Challenge.
    section: Option<String>,
    processes: Option<String>,
    words: Option<String>,
    /// Its rate is the last reading.
    rated: bool,
    least: Option<(String, f64)>,
    average: Option<(String, f64)>,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let (mut sheet, mut state) = (SourceSheet::default(), UpdatesState::default());
    for (at, line) in lines(source.text) {
        let line = line.trim();
        if let Some(section) = between(line, "Begin of ", " section") {
            state = UpdatesState { section: Some(axis_value(section)), ..UpdatesState::default() };
        } else if line.starts_with("End of ") && line.ends_with("section.") {
            state = UpdatesState::default();
        } else if let Some(count) = between(line, "Running on ", " processor") {
            state =
                UpdatesState { section: state.section, processes: Some(axis_value(count)), ..UpdatesState::default() };
        } else if line.starts_with("Total Main table size") || line.starts_with("Main table size") {
            state.words = between(line, "= 2^", " ").map(|power| format!("2^{}", axis_value(power)));
        } else if let Some((value, unit)) = line.split_once(" Billion(10^9) Updates") {
            updates(&mut sheet, &mut state, value, unit, at)?;
        } else if let Some((name, value)) = line.split_once(" GUP/s ") {
            of_processes(&mut sheet, &mut state, name, value, at)?;
        } else if let Some(found) = after(line, "Found ").filter(|found| found.contains("errors in")) {
            if found.contains("failed") {
                let found = shown(found).replace(" (failed).", "");
                note(&mut sheet, &state, &format!("it failed its verification: {found}"));
            }
        } else if line == "Verification failed!" {
            note(&mut sheet, &state, "it failed its verification");
        } else if !is_other(line) {
            continue;
        }
        source.took(at);
    }
    Ok(Parsed::Sheets(vec![sheet]))
}

/// `0.0079 Billion(10^9) Updates    per second [GUP/s]`; the line below it, `Updates/PE`, is the same divided by the
/// processes.
fn updates(
    sheet: &mut SourceSheet,
    state: &mut UpdatesState,
    value: &str,
    unit: &str,
    at: usize,
) -> Result<(), SourceFault> {
    let unit: Vec<&str> = unit.split_whitespace().collect();
    match unit[..] {
        ["per", "second", "[GUP/s]"] => {}
        ["/PE", "per", "second", "[GUP/s]"] => return Ok(()),
        _ => return Err(SourceFault::new(format!("its unit '{}' is not known", shown(&unit.join(" "))), at)),
    }
    let giga = need(value, at)?;
    // Without a time it prints -1 times the updates.
    if giga > 0.0 || value.contains('.') && giga == 0.0 {
        sheet.begin_process();
        let reading = placed(state, giga, value);
        sheet.readings.push(reading);
        state.rated = true;
    }
    Ok(())
}

/// `Minimum GUP/s 0.02`, `Average`, `Maximum` over the processes that ran at once, `Single` of one alone.
fn of_processes(
    sheet: &mut SourceSheet,
    state: &mut UpdatesState,
    name: &str,
    value: &str,
    at: usize,
) -> Result<(), SourceFault> {
    let giga = need(value, at)?;
    match name {
        "Minimum" => state.least = Some((value.to_owned(), giga)),
        "Average" => state.average = Some((value.to_owned(), giga)),
        "Maximum" => {
            let Some((text, average)) = state.average.take().filter(|(_, average)| *average > 0.0) else {
                return Ok(());
            };
            // The rate above is that of the first of them.
            if state.rated {
                sheet.readings.pop();
            } else {
                sheet.begin_process();
            }
            let least = state.least.take().map_or(average, |(_, least)| least.min(average));
            let range = SourceSpread::Range(least * 1e9, giga.max(average) * 1e9);
            let reading = placed(state, average, &text).spread(range);
            sheet.readings.push(reading.note("the mean of a process, while all of them ran; the range is over them"));
        }
        "Single" if giga > 0.0 => {
            sheet.begin_process();
            sheet.readings.push(placed(state, giga, value));
        }
        "Single" => {}
        _ => return Err(SourceFault::new(format!("its rate '{}' is not known", shown(name)), at)),
    }
    Ok(())
}

fn placed(state: &UpdatesState, giga: f64, text: &str) -> SourceReading {
    let reading = SourceReading::new("random_access.updates", "Updates", giga * 1e9, rate("updates"));
    let reading = reading.printed_in(text, 1e9);
    let axes = [("test", &state.section), ("processes", &state.processes), ("words", &state.words)];
    axes.into_iter().fold(reading, |reading, (axis, value)| match value {
        Some(value) => reading.at(axis, value.clone()),
        None => reading,
    })
}

fn note(sheet: &mut SourceSheet, state: &UpdatesState, note: &str) {
    if let Some(last) = sheet.readings.last_mut().filter(|_| state.rated) {
        last.notes.push(note.to_owned());
    }
}

/// Lines of the test that state sizes, counts and times behind the rate.
fn is_other(line: &str) -> bool {
    let begins = [
        "PE Main table size",
        "Default number of updates",
        "Number of updates",
        "CPU time used",
        "Real time used",
        "Verification:",
        "Node(s) with error",
        "Node selected",
        "Current time",
    ];
    begins.iter().any(|words| line.starts_with(words)) && line.chars().any(|c| c.is_ascii_digit())
        || line.starts_with("PE")
            && line.contains("updates:")
            && number(line.rsplit(':').next().unwrap_or_default()).is_some()
}
