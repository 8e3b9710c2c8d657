//! mdtest: rates of operations on files and directories.

use super::{CodeFormat, Parsed, SourceText, sure};
use crate::date::month_day_year;
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, rate};
use crate::text::{SourceFault, after, axis_value, between, lines, need, shown, snake};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "mdtest",
    tool: "mdtest",
    about: "operations a second on files and directories: the mean over iterations of one invocation, their least and \
            greatest the range",
    by_lines: true,
    detect: |head| {
        sure(head, &["SUMMARY rate", "Operation", "File creation"]).max(sure(head, &["mdtest-", "was launched with"]))
    },
    parse,
};

/// The invocation whose table is read.
#[derive(Default)]
struct MdtestRun {
    tasks: String,
    nodes: String,
    files: String,
    iterations: u32,
    columns: Vec<String>,
    /// The table states times. Its heading calls them times of an operation, and they are those of all operations.
    times: bool,
    /// Sizes and places that the command sets, which no line repeats.
    options: Vec<(&'static str, String)>,
}

const TIMES: &str = "its table of times is not read: of the time of all operations, the rates state the same";

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let (mut run, mut open) = (MdtestRun::default(), None);
    for (at, line) in lines(source.text) {
        let trimmed = line.trim();
        if let Some((version, rest)) = trimmed.split_once(" was launched with ") {
            sheet.states_version(version.trim_start_matches("mdtest-").to_owned());
            sheet.begin_process();
            run = MdtestRun { iterations: 1, ..MdtestRun::default() };
            run.tasks = axis_value(rest.split_whitespace().next().unwrap_or_default());
            run.nodes = axis_value(between(rest, " on ", " node").unwrap_or_default());
            if let Some(place) = open.replace(at) {
                return Err(SourceFault::new("the run that begins here has no summary", place));
            }
        } else if trimmed.contains(" tasks, ") && trimmed.contains(" files") {
            run.files = axis_value(between(trimmed, " tasks, ", " files").unwrap_or_default());
        } else if trimmed.starts_with("SUMMARY") {
            run.iterations = between(trimmed, "(of", "iterations").and_then(|count| count.parse().ok()).unwrap_or(1);
            run.times = trimmed.starts_with("SUMMARY time");
            if run.times && !sheet.notes.iter().any(|note| note == TIMES) {
                sheet.notes.push(TIMES.to_owned());
            }
            run.columns.clear();
        } else if let Some(date) = trimmed.strip_prefix("-- started at ") {
            if sheet.started.is_empty() {
                sheet.started = month_day_year(date);
            }
        } else if let Some(command) = after(trimmed, "Command line used:") {
            run.options = options(command);
        } else if trimmed.starts_with("Operation") {
            run.columns = columns(trimmed, at)?;
            open = None;
        } else if run.columns.is_empty() || trimmed.starts_with('-') {
            let known = ["FS", "Path", "Nodemap", "random seed", "V-0: Rank", "-- finished"];
            if !known.iter().any(|begin| trimmed.starts_with(begin)) {
                continue;
            }
        } else if let Some(reading) = row(&run, trimmed, at)? {
            sheet.readings.extend(reading);
        } else {
            continue;
        }
        source.took(at);
    }
    match open {
        Some(place) => Err(SourceFault::new("the run that begins here has no summary", place)),
        None => Ok(Parsed::Sheets(vec![sheet])),
    }
}

/// Options of a command that define its figures: bytes written to and read from each file, seconds after which it stops
/// creating, how many ranks further each phase's files are, and a directory for each task.
fn options(command: &str) -> Vec<(&'static str, String)> {
    let words: Vec<&str> = command.split_whitespace().map(|word| word.trim_matches(['\'', '"'])).collect();
    let value = |option: &str| {
        let at = words.iter().position(|word| *word == option)?;
        words.get(at + 1).filter(|value| value.parse::<u64>().is_ok_and(|bytes| bytes > 0))
    };
    let numbers = [("written", "-w", "B"), ("read", "-e", "B"), ("deadline", "-W", "s"), ("shift", "-N", "")];
    let stated = |(axis, option, unit): &(&'static str, &str, &str)| Some((*axis, format!("{}{unit}", value(option)?)));
    let mut found: Vec<(&'static str, String)> = numbers.iter().filter_map(stated).collect();
    if words.contains(&"-u") {
        found.push(("directories", "one a task".to_owned()));
    }
    found
}

/// The columns after the operation, two blanks apart. Those of single ranks stand before those of iterations.
fn columns(line: &str, at: usize) -> Result<Vec<String>, SourceFault> {
    let mut columns = Vec::new();
    let mut of = "";
    for name in line.split("  ").map(str::trim).filter(|name| !name.is_empty()).skip(1) {
        let rest = name.strip_prefix("per Rank:").map(|rest| ("rank ", rest));
        let rest = rest.or_else(|| name.strip_prefix("per Iteration:").map(|rest| ("", rest)));
        let name = rest.map_or(name, |(group, rest)| {
            of = group;
            rest.trim()
        });
        if name.is_empty() {
            continue;
        }
        if !["Max", "Min", "Mean", "Std Dev"].contains(&name) {
            return Err(SourceFault::new(format!("its column '{}' is not known", shown(name)), at));
        }
        columns.push(format!("{of}{name}"));
    }
    Ok(columns)
}

/// `File creation  :  2943.697  2943.674  2943.686  0.006`; older versions have no colon. None inside: not a row. An
/// operation that was not asked for is printed with zeros.
fn row(run: &MdtestRun, line: &str, at: usize) -> Result<Option<Option<SourceReading>>, SourceFault> {
    let words: Vec<&str> = line.split_whitespace().filter(|word| *word != ":").collect();
    let Some(first) = words.len().checked_sub(run.columns.len()).filter(|count| *count > 0) else { return Ok(None) };
    let cells = &words[first..];
    if !cells.iter().all(|cell| cell.starts_with(|c: char| c.is_ascii_digit())) {
        return Ok(None);
    }
    let name = words[..first].join(" ");
    let cell = |name: &str| run.columns.iter().position(|known| known == name).map_or("", |at| cells[at]);
    let (mean, least, greatest) = (need(cell("Mean"), at)?, need(cell("Min"), at)?, need(cell("Max"), at)?);
    if greatest == 0.0 || run.times {
        return Ok(Some(None));
    }
    let name = name.trim_end_matches(':').trim();
    let mut reading = SourceReading::new(format!("mdtest.{}", snake(name)), name, mean, rate("operations"));
    reading = reading.printed_in(cell("Mean"), 1.0).counts(1, run.iterations);
    if run.iterations > 1 {
        reading =
            reading.spread(SourceSpread::Range(least, greatest)).note("the range is of iterations of one invocation");
    }
    reading = run.options.iter().fold(reading, |reading, (axis, value)| reading.at(axis, value.clone()));
    for (axis, value) in [("tasks", &run.tasks), ("nodes", &run.nodes), ("files", &run.files)] {
        if !value.is_empty() {
            reading = reading.at(axis, value.clone());
        }
    }
    Ok(Some(Some(reading)))
}
