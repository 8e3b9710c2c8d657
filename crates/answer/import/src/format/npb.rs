//! NAS Parallel Benchmarks: the block of results at the end of each.

use std::collections::BTreeSet;

use model::{Better, Unit};

use super::{CodeFormat, Confidence, Parsed, SourceText, likely, sure};
use crate::differing::{Settings, differing};
use crate::sheet::{SourceReading, SourceSheet, metric, seconds, text};
use crate::text::{SourceFault, between, lines, need, parameter_value, shown, snake};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "npb",
    tool: "NAS Parallel Benchmarks",
    about: "time and rate of operations of each run that passed its verification; no spread is stated",
    by_lines: true,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    let named = sure(head, &["NAS Parallel Benchmarks", " Benchmark Completed"]);
    let block = sure(head, &[" Benchmark Completed", "Mop/s total", "Verification"]);
    // The block may stand far below.
    named.max(block).max(likely(head, &["NAS Parallel Benchmarks", " Benchmark\n"]))
}

/// Where the reading of a run is.
#[derive(Default, PartialEq)]
enum NpbPlace {
    #[default]
    Outside,
    /// Between its first line and its results, where it prints what it computes.
    Progress,
    Results,
    /// Its compiler's options.
    Options,
}

/// The results of one run.
#[derive(Default)]
struct NpbRun {
    /// Line of its first line or of its results.
    line: usize,
    name: String,
    /// It says on its way that it does not verify.
    unverified: bool,
    time: Option<(String, usize)>,
    rate: Option<(String, usize)>,
    operations: String,
    verification: String,
    /// Class, size and numbers of processes and threads.
    parameters: Vec<(&'static str, String)>,
    settings: Settings,
}

/// A run with its results in the sheet, and where they begin.
struct NpbKept {
    first: usize,
    group: String,
    settings: Settings,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let (mut place, mut run) = (NpbPlace::Outside, NpbRun::default());
    let mut kept: Vec<NpbKept> = Vec::new();
    for (at, line) in lines(source.text) {
        // Mails quote it.
        let line = line.trim_start_matches(['>', ' ']).trim();
        if let Some(name) = banner(line) {
            end(&mut sheet, &mut kept, &place, std::mem::take(&mut run))?;
            (place, run) = (NpbPlace::Progress, NpbRun { line: at, name, ..NpbRun::default() });
            let variant = between(line, "(", ")").map(parameter_value);
            run.settings.extend(variant.map(|variant| ("variant".to_owned(), variant)));
        } else if let Some(name) = completed(line) {
            if place != NpbPlace::Progress {
                end(&mut sheet, &mut kept, &place, std::mem::take(&mut run))?;
            }
            if !name.is_empty() {
                name.clone_into(&mut run.name);
            }
            (place, run.line) = (NpbPlace::Results, at);
            if run.name.is_empty() {
                return Err(SourceFault::new("no line says which benchmark these results are of", at));
            }
        } else {
            match place {
                NpbPlace::Outside => continue,
                // What it computes on its way is no result.
                NpbPlace::Progress => run.unverified |= line == "No verification performed",
                NpbPlace::Results | NpbPlace::Options if line.starts_with("Compile options") => {
                    place = NpbPlace::Options;
                }
                NpbPlace::Results if line.is_empty() => {}
                NpbPlace::Results => {
                    if !result(&mut sheet, &mut run, line, at) {
                        continue;
                    }
                }
                NpbPlace::Options => match line.split_once('=') {
                    Some((name, value)) if name.trim().len() < 20 => {
                        run.settings.insert(name.trim().to_owned(), parameter_value(value));
                    }
                    _ => {
                        end(&mut sheet, &mut kept, &place, std::mem::take(&mut run))?;
                        place = NpbPlace::Outside;
                        continue;
                    }
                },
            }
        }
        source.took(at);
    }
    if place == NpbPlace::Progress {
        return Err(SourceFault::new("the run that begins here has no results", run.line));
    }
    end(&mut sheet, &mut kept, &place, run)?;
    settle(&mut sheet, &kept);
    Ok(Parsed::Sheets(vec![sheet]))
}

/// `NAS Parallel Benchmarks 3.4 -- FT Benchmark`, `NAS Parallel Benchmarks (NPB3.4-OMP) - CG Benchmark`
fn banner(line: &str) -> Option<String> {
    let rest = line.strip_prefix("NAS Parallel Benchmarks")?.strip_suffix("Benchmark")?;
    let (_, name) = rest.rsplit_once("- ")?;
    name.split_whitespace().next().map(str::to_owned)
}

/// `FT Benchmark Completed.`, with an empty name where none is printed.
fn completed(line: &str) -> Option<&str> {
    let name = line.strip_suffix('.').unwrap_or(line).strip_suffix("Benchmark Completed")?.trim();
    (name.len() < 20 && !name.contains(' ')).then_some(name)
}

/// A line of the results: `Time in seconds =                     0.05`
fn result(sheet: &mut SourceSheet, run: &mut NpbRun, line: &str, at: usize) -> bool {
    let Some((name, value)) = line.split_once('=') else { return false };
    let value = value.trim();
    let mut parameter = |parameter, value: &str| run.parameters.push((parameter, parameter_value(value)));
    match name.trim() {
        "Class" => parameter("class", value),
        "Size" => parameter("size", &value.split_whitespace().collect::<String>()),
        "Total processes" => parameter("processes", value),
        "Total threads" | "Threads" => parameter("threads", value),
        "Active processes" | "Avail threads" | "Compiled procs" | "Iterations" => {
            run.settings.insert(name.trim().to_owned(), parameter_value(value));
        }
        "Time in seconds" => run.time = Some((value.to_owned(), at)),
        "Mop/s total" => run.rate = Some((value.to_owned(), at)),
        // What the others tell already.
        "Mop/s/process" | "Mop/s/thread" | "Compile date" => {}
        "Operation type" => run.operations = parameter_value(value),
        "Verification" => run.verification = parameter_value(value),
        "Version" => {
            sheet.version.get_or_insert_with(|| parameter_value(value));
            run.settings.insert("version".to_owned(), parameter_value(value));
        }
        _ => return false,
    }
    true
}

/// Keeps the results of a run whose results are whole and verified.
fn end(sheet: &mut SourceSheet, kept: &mut Vec<NpbKept>, place: &NpbPlace, run: NpbRun) -> Result<(), SourceFault> {
    match place {
        NpbPlace::Outside => return Ok(()),
        NpbPlace::Progress => {
            sheet.notes.push(format!("{} that begins at line {} has no results", run.name, run.line));
            return Ok(());
        }
        NpbPlace::Results | NpbPlace::Options => {}
    }
    let verified = run.verification == "SUCCESSFUL";
    if run.verification.is_empty() {
        return Err(SourceFault::new("the results that begin here have no verification", run.line));
    }
    let skipped = run.unverified || run.verification == "NOT PERFORMED";
    if !verified && !skipped {
        let said = shown(&run.verification);
        sheet.notes.push(format!("{} at line {} failed its verification ({said})", run.name, run.line));
        return Ok(());
    }
    let id = format!("npb.{}", snake(&run.name));
    let first = sheet.readings.len();
    sheet.begin_process();
    if let Some((word, at)) = &run.rate {
        let of = match run.operations.as_str() {
            "floating point" => "floating-point operations",
            "" => "operations",
            other => other,
        };
        let value = need(word, *at)? * 1e6;
        // Of a time that is printed as 0 no rate was computed.
        if value != 0.0 {
            let rate = SourceReading::new(&id, &run.name, value, metric(Unit::PerSecond, of, Better::Higher));
            sheet.readings.push(rate.printed(word));
        }
    }
    if let Some((word, at)) = &run.time {
        let time = SourceReading::new(format!("{id}_time"), &run.name, need(word, *at)?, seconds("run"));
        sheet.readings.push(time.printed_in(word, 1.0));
    }
    if sheet.readings.len() == first {
        return Err(SourceFault::new("the results that begin here state no time and no rate", run.line));
    }
    for reading in &mut sheet.readings[first..] {
        for (parameter, value) in run.parameters.clone() {
            reading.parameters = std::mem::take(&mut reading.parameters).with(parameter, value);
        }
        if skipped {
            reading.notes.push("its result was not verified".to_owned());
        }
    }
    let group = run.parameters.iter().fold(id, |group, (parameter, value)| format!("{group} {parameter}={value}"));
    kept.push(NpbKept { first, group, settings: run.settings });
    Ok(())
}

/// Makes parameters of what runs of one benchmark differ in, and facts of what is the same in all.
fn settle(sheet: &mut SourceSheet, kept: &[NpbKept]) {
    let mut found = differing(kept.iter().map(|run| (run.group.clone(), &run.settings)));
    // An excerpt may lack some of them.
    for run in kept {
        if let Some(names) = found.get_mut(&run.group) {
            names.retain(|name| run.settings.contains_key(name));
        }
    }
    for (place, run) in kept.iter().enumerate() {
        let end = kept.get(place + 1).map_or(sheet.readings.len(), |next| next.first);
        let Some(names) = found.get(&run.group) else { continue };
        for reading in &mut sheet.readings[run.first..end] {
            for (name, value) in run.settings.iter().filter(|(name, _)| names.contains(*name)) {
                reading.parameters = std::mem::take(&mut reading.parameters).with(snake(name), value);
            }
        }
    }
    let facts =
        [("compiler", &["FC", "F77", "MPIFC", "MPIF77", "CC"][..]), ("compiler.flags", &["FFLAGS", "CFLAGS"][..])];
    for (fact, names) in facts {
        let of = |run: &NpbKept| names.iter().find_map(|name| run.settings.get(*name).cloned());
        let values: BTreeSet<String> = kept.iter().filter_map(of).collect();
        if let (1, Some(value)) = (values.len(), values.first()) {
            sheet.fact(text(fact, value, "output", &[]));
        }
    }
}
