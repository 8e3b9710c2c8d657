//! IOR: the summary of each run, by operation, or its single results where it has no summary.

use std::collections::HashMap;

use super::{CodeFormat, Parsed, SourceText, sure};
use crate::date::ctime;
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, bytes_per_second, rate};
use crate::text::{MOST_ITEMS, SourceFault, after, lines, name_value, need, number, parameter_value, shown, snake};

/// Bytes of a MiB, the unit of IOR's rates.
const MIB: f64 = 1_048_576.0;

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "ior",
    tool: "IOR",
    about: "rates of writing and reading, from the summary or the single results: the mean over repetitions of one \
            invocation, with their range",
    by_lines: true,
    detect: |head| sure(head, &["MPI Coordinated Test of Parallel I/O"]),
    parse,
};

/// One invocation.
#[derive(Default)]
struct IorRun<'a> {
    /// The line of its banner.
    at: usize,
    /// Settings that no table repeats, as parameters.
    settings: Vec<(&'static str, String)>,
    /// What it prints of itself above its results.
    options: HashMap<&'a str, &'a str>,
    /// Columns of the summary; none before it.
    summary: Vec<&'a str>,
    /// A rate of its summary is no number: IOR divides by repetitions that it did not make.
    unaveraged: bool,
    /// Whether it said that it had finished.
    done: bool,
    /// Columns of single results, and the results.
    columns: Vec<&'a str>,
    results: Vec<Vec<&'a str>>,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let mut run: Option<IorRun<'_>> = None;
    for (at, line) in lines(source.text) {
        let trimmed = line.trim();
        if let Some((version, _)) = trimmed.split_once(": MPI Coordinated Test of Parallel I/O") {
            finish(&mut sheet, run.replace(IorRun { at, ..IorRun::default() }))?;
            sheet.states_version(version.trim_start_matches("IOR-").to_owned());
            sheet.begin_process();
            source.took(at);
            continue;
        }
        let Some(run) = run.as_mut() else { continue };
        if let Some(date) = after(trimmed, "Began").filter(|_| trimmed.starts_with("Began")) {
            if sheet.started.is_empty() {
                sheet.started = ctime(date.trim_start_matches(':'));
            }
        } else if let Some(machine) = trimmed.strip_prefix("Machine").and_then(|rest| rest.trim().strip_prefix(": ")) {
            sheet.machine = name_value(machine.split_whitespace().last().unwrap_or_default());
        } else if trimmed.starts_with("Operation") && trimmed.contains("Max(MiB)") {
            run.summary = trimmed.split_whitespace().collect();
            check(&run.summary, at)?;
        } else if trimmed.starts_with("access") && trimmed.contains("bw(MiB/s)") {
            run.columns = trimmed.split_whitespace().collect();
        } else if trimmed.starts_with("Finished") {
            run.done = true;
        } else if !run.summary.is_empty() && !run.done && is_row(trimmed) {
            if trimmed.contains("nan") {
                run.unaveraged = true;
            } else {
                row(&mut sheet, run, trimmed, at)?;
            }
        } else if let Some(words) = single(run, trimmed) {
            if run.results.len() == MOST_ITEMS {
                return Err(SourceFault::new(format!("it has more than {MOST_ITEMS} results"), at));
            }
            run.results.push(words);
        } else if !setting(run, trimmed) && !is_detail(trimmed) {
            continue;
        }
        source.took(at);
    }
    finish(&mut sheet, run)?;
    Ok(Parsed::Sheets(vec![sheet]))
}

/// Whether a line of the summary is of an operation: on pages, other words stand below it.
fn is_row(line: &str) -> bool {
    ["write", "read", "remove"].contains(&line.split_whitespace().next().unwrap_or_default())
}

/// A run ends. Some callers of IOR turn its summary off, and pages leave it out: then its single results are read.
fn finish(sheet: &mut SourceSheet, run: Option<IorRun<'_>>) -> Result<(), SourceFault> {
    let Some(run) = run.filter(|run| run.summary.is_empty() || run.unaveraged) else { return Ok(()) };
    if run.results.is_empty() {
        return Err(SourceFault::new("the run that begins here has no result", run.at));
    }
    let lacks = if run.unaveraged { "a summary without a mean (nan)" } else { "no summary" };
    let at = run.at;
    sheet
        .notes
        .push(format!("the run that begins at line {at} has {lacks}: of its single results, the rates are read"));
    let mut operations: Vec<&str> = run.results.iter().map(|words| words[0]).collect();
    operations.dedup();
    for operation in operations {
        results(sheet, &run, operation)?;
    }
    Ok(())
}

/// The words of a single result, `write 361270 ...`. Removing has no rate.
fn single<'a>(run: &IorRun<'a>, line: &'a str) -> Option<Vec<&'a str>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let fits = !run.columns.is_empty() && words.len() == run.columns.len();
    Some(words).filter(|words| fits && ["write", "read"].contains(&words[0]) && number(words[1]).is_some())
}

/// Adds the rate of an operation over all single results, with the parameters of a summary.
fn results(sheet: &mut SourceSheet, run: &IorRun<'_>, operation: &str) -> Result<(), SourceFault> {
    let id = format!("ior.{}", snake(operation));
    if sheet.readings[sheet.processes.last().copied().unwrap_or_default()..].iter().any(|reading| reading.id == id) {
        return Ok(());
    }
    let cell = |words: &[&str], name: &str| {
        run.columns.iter().position(|known| *known == name).and_then(|at| words.get(at)).map(|word| (*word).to_owned())
    };
    let all: Vec<&Vec<&str>> = run.results.iter().filter(|words| words[0] == operation).collect();
    let printed = all.iter().filter_map(|words| cell(words, "bw(MiB/s)")).collect::<Vec<_>>();
    let rates = printed.iter().map(|word| need(word, run.at)).collect::<Result<Vec<f64>, _>>()?;
    let (Some(first), Some(digits)) = (all.first(), printed.first()) else { return Ok(()) };
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let mut reading = SourceReading::new(id, operation, mean * MIB, bytes_per_second("bytes"));
    reading = reading.printed_in(digits, MIB).counts(1, u32::try_from(rates.len()).unwrap_or(u32::MAX));
    if rates.len() > 1 {
        let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = rates.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        reading = reading.spread(SourceSpread::Range(least * MIB, greatest * MIB)).note(REPETITIONS);
    }
    let option = |name: &str| run.options.get(name).map(|value| (*value).to_owned());
    let sized = |name: &str, column: &str| size(&option(name)?, &cell(first, column)?).map(model::format_size);
    let per_file = option("access").map(|access| u8::from(access == "file-per-process").to_string());
    let parameters = [
        ("api", option("api")),
        ("tasks", option("tasks")),
        ("per_node", option("clients per node")),
        ("block", sized("blocksize", "block(KiB)")),
        ("transfer", sized("xfersize", "xfer(KiB)")),
        ("file_per_process", per_file),
        ("segments", option("segments").filter(|count| count != "1")),
    ];
    let stated = parameters.into_iter().filter_map(|(parameter, value)| Some((parameter, value?)));
    let reading = stated.fold(reading, |reading, (parameter, value)| reading.at(parameter, parameter_value(&value)));
    sheet
        .readings
        .push(run.settings.iter().fold(reading, |reading, (parameter, value)| reading.at(parameter, value.clone())));
    Ok(())
}

/// A size in bytes: `47008 bytes`, `2 MiB`; one with decimals is rounded, and stands in KiB beside the results.
fn size(stated: &str, kib: &str) -> Option<u64> {
    let (count, unit) = stated.split_once(' ')?;
    let units = [("bytes", 0), ("KiB", 10), ("MiB", 20), ("GiB", 30), ("TiB", 40)];
    let (_, shift) = units.iter().find(|(name, _)| *name == unit)?;
    match count.parse::<u64>() {
        Ok(count) => count.checked_mul(1 << shift),
        Err(_) => number(kib).map(|kib| (kib * 1024.0).round() as u64),
    }
}

/// Keeps a setting, `ordering in a file  : random`, `type : collective`, or with `=` in version 3.0; whether it defines
/// a rate and no table repeats it. The usual ones are no parameters.
fn setting<'a>(run: &mut IorRun<'a>, line: &'a str) -> bool {
    let Some((name, value)) = line.split_once([':', '=']) else { return false };
    let (name, value) = (name.trim(), value.trim());
    run.options.insert(name, value);
    let parameter = match name {
        "ordering in a file" => Some(("order", parameter_value(value))).filter(|_| !value.starts_with("sequential")),
        // Who reads what others wrote does not read it from its own cache.
        "ordering inter file" => Some(("readers", parameter_value(value))).filter(|_| !value.starts_with("no task")),
        "type" => Some(("type", parameter_value(value))).filter(|_| value != "independent"),
        "stonewallingTime" => Some(("deadline", format!("{}s", parameter_value(value)))).filter(|_| value != "0"),
        "stoneWallingWearOut" => Some(("wear_out", "yes".to_owned())).filter(|_| value == "1"),
        _ => return false,
    };
    run.settings.retain(|(known, _)| parameter.as_ref().is_none_or(|(new, _)| known != new));
    run.settings.extend(parameter);
    true
}

const REPETITIONS: &str = "the range is of repetitions of one invocation";

/// Settings that the summary repeats, and single repetitions.
fn is_detail(line: &str) -> bool {
    let begins = [
        "write ",
        "read ",
        "remove ",
        "Max Write:",
        "Max Read:",
        "Commencing",
        "FS ",
        "TestID",
        "StartTime",
        "Start time",
        "Command line",
        "WARNING: Expected aggregate",
        "WARNING: Stat() of",
        "WARNING: Using actual aggregate",
        "stonewalling pairs",
        "Pairs deadline",
    ];
    let settings = [
        "Participating tasks",
        "segments",
        "nodes",
        "tasks",
        "clients per node",
        "repetitions",
        "xfersize",
        "blocksize",
        "aggregate filesize",
        "verbose",
        "stonewall",
        "memoryBuffer",
        "memoryPerTask",
        "dataAccess",
        "GPUDirect",
        "task offset",
        "reorder random seed",
        "access ",
        "api",
        "test filename",
        "Path",
    ];
    begins.iter().chain(&settings).any(|begin| line.starts_with(begin))
}

const KNOWN: [&str; 30] = [
    "Operation",
    "Max(MiB)",
    "Min(MiB)",
    "Mean(MiB)",
    "StdDev",
    "Max(OPs)",
    "Min(OPs)",
    "Mean(OPs)",
    "Mean(s)",
    "Stonewall(s)",
    "Stonewall(MiB)",
    "Test#",
    "#Tasks",
    "tPN",
    "reps",
    "fPP",
    "reord",
    "reordoff",
    "reordrand",
    "seed",
    "segcnt",
    "blksiz",
    "xsize",
    "aggs(MiB)",
    "aggsize",
    "API",
    "RefNum",
    "#TPN",
    "Max(s)",
    "Min(s)",
];

fn check(columns: &[&str], at: usize) -> Result<(), SourceFault> {
    match columns.iter().find(|name| !KNOWN.contains(name)) {
        Some(name) => Err(SourceFault::new(format!("its column '{}' is not known", shown(name)), at)),
        None => Ok(()),
    }
}

fn row(sheet: &mut SourceSheet, run: &IorRun<'_>, line: &str, at: usize) -> Result<(), SourceFault> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let columns = &run.summary;
    if words.len() != columns.len() {
        let (has, names) = (words.len(), columns.len());
        return Err(SourceFault::new(format!("the row has {has} values and its heading {names}"), at));
    }
    let cell = |name: &str| columns.iter().position(|known| *known == name).map(|at| words[at]);
    let operation = words[0];
    let repetitions = cell("reps").and_then(|word| word.parse().ok()).unwrap_or(1);
    for (end, unit, scale, metric) in
        [("", "MiB", MIB, bytes_per_second("bytes")), ("_operations", "OPs", 1.0, rate("operations"))]
    {
        let find = |name: &str| cell(&format!("{name}({unit})"));
        let (Some(mean), Some(least), Some(greatest)) = (find("Mean"), find("Min"), find("Max")) else { continue };
        let value = need(mean, at)? * scale;
        let mut reading = SourceReading::new(format!("ior.{}{end}", snake(operation)), operation, value, metric);
        reading = reading.printed_in(mean, scale).counts(1, repetitions);
        if repetitions > 1 {
            let spread = SourceSpread::Range(need(least, at)? * scale, need(greatest, at)? * scale);
            reading = reading.spread(spread).note(REPETITIONS);
        }
        let parameters = [
            ("api", "API"),
            ("tasks", "#Tasks"),
            ("per_node", "tPN"),
            ("block", "blksiz"),
            ("transfer", "xsize"),
            ("file_per_process", "fPP"),
        ];
        for (parameter, name) in parameters {
            if let Some(word) = cell(name) {
                let size = word.parse::<u64>().ok().filter(|_| ["block", "transfer"].contains(&parameter));
                reading = reading.at(parameter, size.map_or_else(|| parameter_value(word), model::format_size));
            }
        }
        if let Some(segments) = cell("segcnt").filter(|count| *count != "1") {
            reading = reading.at("segments", parameter_value(segments));
        }
        reading = run.settings.iter().fold(reading, |reading, (parameter, value)| reading.at(parameter, value.clone()));
        sheet.readings.push(reading);
    }
    Ok(())
}
