//! SPEC CPU 2006 and 2017: every iteration of every benchmark, and the overall values, from the reports as CSV and as
//! text, from the raw file, and from the tables that a run prints.

mod machine;
mod raw;
mod table;
mod text;

use model::{Metric, Unit};

use super::{CodeFormat, Confidence, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread};
use crate::text::{MOST_NAMES, SourceFault, between, need, parameter_value, shown, snake};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "spec-cpu",
    tool: "SPEC CPU",
    about: "each benchmark's ratio or rate (or time, with other inputs than the reference's) with its iterations as \
            samples, and the overall values, from the CSV, text or raw report or a run's tables",
    by_lines: true,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    let csv = sure(head, &["SPEC CPU20", "Results Table"]).max(sure(head, &["\"SPEC CPU"]));
    // The first versions of 2017 put the mark behind the first word.
    let text = ["SPEC CPU(R)2017", "SPEC(R) CPU2017", "SPEC(R) CINT2006", "SPEC(R) CFP2006"];
    let text = text.map(|title| sure(head, &[title, "Benchmarks "])).into_iter().max().unwrap_or(Confidence::No);
    // What runs print themselves has no title: the overall values below the table name the suite.
    let screen = sure(head, &["Benchmarks ", "Run Time", "----- ", " SPEC", "2006"])
        .max(sure(head, &["Benchmarks ", "Run Time", "----- ", " SPEC", "2017_"]));
    csv.max(text).max(screen).max(sure(head, &["spec.cpu20", ".results."]))
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let sheet = if source.text.contains("spec.cpu20") && source.text.contains(".results.") {
        raw::read(source)?
    } else if source.text.contains("Results Table") {
        table::read(source)?
    } else {
        text::read(source)?
    };
    Ok(Parsed::Sheets(vec![sheet]))
}

/// Note of runs that do not follow all of SPEC's rules.
const ESTIMATE: &str = "the report calls its results estimates: the run was not a reportable one";

/// Note of runs that break SPEC's rules.
const INVALID: &str = "the report marks the run as invalid by SPEC's rules";

/// Note of runs with inputs that the reference machine was not measured with.
const UNRATED: &str = "ratios are of the reference's inputs alone: with others the time is what is stated";

/// What is said of files that several reports were written into: their systems would be mixed.
const ANOTHER: &str = "another report begins here: give each report as a file of its own";

/// Whether a line is the title of a report: `SPEC(R) CPU2017 Integer Rate Result`, `SPEC(R) CINT2006 Summary`.
fn is_title(line: &str) -> bool {
    let line = line.trim();
    let ends = [" Result", " Results", " Summary"].iter().any(|end| line.ends_with(end));
    line.starts_with("SPEC") && line.contains("20") && ends
}

/// Which inputs a report names: `refspeed (ref)`, `test`.
fn inputs(words: &str) -> &str {
    between(words, "(", ")").unwrap_or(words).trim()
}

/// Adds a note of the whole report, once.
fn note(sheet: &mut SourceSheet, words: &str) {
    if !sheet.notes.iter().any(|note| note == words) {
        sheet.notes.push(words.to_owned());
    }
}

/// One iteration of one benchmark under one tuning.
struct SpecCpuIteration<'a> {
    benchmark: &'a str,
    tuning: &'static str,
    /// Whether copies or threads ran, and how many; empty if not stated.
    width: (&'static str, &'a str),
    value: &'a str,
    /// Its seconds, for which there is a ratio with the inputs of the reference alone.
    time: &'a str,
    /// Which inputs it had, if that is stated.
    input: &'a str,
    /// Which of the report's tables it is in.
    table: usize,
    /// How it ended: `S` and `*` are success.
    status: &'a str,
}

/// One benchmark under one tuning, with the values of its iterations.
struct SpecCpuGroup {
    benchmark: String,
    tuning: &'static str,
    width: (&'static str, String),
    values: Vec<f64>,
    /// Seconds of iterations without a ratio.
    times: Vec<f64>,
    input: String,
    /// The first of them as printed: the text has three digits, the other forms six decimals.
    printed: String,
    failed: usize,
    /// How the first of those that failed ended.
    ending: String,
}

/// All benchmarks.
#[derive(Default)]
struct SpecCpuGroups {
    groups: Vec<SpecCpuGroup>,
    places: std::collections::HashMap<(String, &'static str, usize), usize>,
}

impl SpecCpuGroups {
    fn add(&mut self, iteration: &SpecCpuIteration<'_>, at: usize) -> Result<(), SourceFault> {
        let key = (iteration.benchmark.to_owned(), iteration.tuning, iteration.table);
        if !self.places.contains_key(&key) && self.groups.len() >= 2 * MOST_NAMES {
            return Err(SourceFault::new(format!("it has more than {MOST_NAMES} benchmarks"), at));
        }
        let groups = &mut self.groups;
        let place = *self.places.entry(key).or_insert_with(|| {
            groups.push(SpecCpuGroup {
                benchmark: iteration.benchmark.to_owned(),
                tuning: iteration.tuning,
                width: (iteration.width.0, iteration.width.1.to_owned()),
                values: Vec::new(),
                times: Vec::new(),
                input: iteration.input.to_owned(),
                printed: String::new(),
                failed: 0,
                ending: String::new(),
            });
            groups.len() - 1
        });
        let group = &mut groups[place];
        let succeeded = ["S", "*", "1"].contains(&iteration.status);
        let stated = |cell: &str| !["", "--"].contains(&cell);
        let (result, results) = if stated(iteration.value) {
            (iteration.value, &mut group.values)
        } else {
            (iteration.time, &mut group.times)
        };
        if succeeded && stated(result) {
            results.push(need(result, at)?);
            if group.printed.is_empty() {
                result.clone_into(&mut group.printed);
            }
        } else {
            group.failed += 1;
            if group.ending.is_empty() {
                group.ending = if succeeded { "no result".to_owned() } else { shown(iteration.status) };
            }
        }
        Ok(())
    }

    /// Gives the readings to the sheet, and tells of which benchmark there is none.
    fn tell(self, sheet: &mut SourceSheet) {
        let without = |group: &&SpecCpuGroup| !group.has_result();
        let named = |group: &SpecCpuGroup| format!("{} ({}: {})", shown(&group.benchmark), group.tuning, group.ending);
        let lost: Vec<String> = self.groups.iter().filter(without).map(named).collect();
        if !lost.is_empty() {
            sheet.notes.push(format!("no iteration succeeded of {}", lost.join(", ")));
        }
        if self.groups.iter().any(|group| group.values.is_empty() && !group.times.is_empty()) {
            note(sheet, UNRATED);
        }
        sheet.readings.extend(self.groups.into_iter().filter(SpecCpuGroup::has_result).map(reading));
    }

    /// Whether any iteration has a result.
    fn has_result(&self) -> bool {
        self.groups.iter().any(SpecCpuGroup::has_result)
    }
}

impl SpecCpuGroup {
    const fn has_result(&self) -> bool {
        !self.values.is_empty() || !self.times.is_empty()
    }
}

fn reading(group: SpecCpuGroup) -> SourceReading {
    let id = format!("spec_cpu.{}", snake(&group.benchmark));
    let rated = !group.values.is_empty();
    let values = if rated { group.values } else { group.times };
    let value = values.first().copied().unwrap_or_default();
    let mut reading = if rated {
        SourceReading::new(id, group.benchmark, value, ratio())
    } else {
        let seconds = Metric::lower(Unit::Seconds, "run");
        SourceReading::new(format!("{id}_time"), format!("{}, time", group.benchmark), value, seconds)
    };
    reading = reading.printed(&group.printed).at("tuning", group.tuning);
    if !rated && !group.input.is_empty() {
        reading = reading.at("input", parameter_value(&group.input));
    }
    if !group.width.1.is_empty() {
        reading = reading.at(group.width.0, parameter_value(&group.width.1));
    }
    if group.failed > 0 {
        reading = reading.note(format!("{} iterations did not succeed and are left out", group.failed));
    }
    reading.spread(SourceSpread::Samples(values))
}

fn ratio() -> Metric {
    Metric::higher(Unit::Ratio, "reference machine's speed")
}

/// An overall value: `SPECrate2017_int_base`, `Est. SPECrate(R)2017_int_base`.
fn overall(name: &str, value: &str, at: usize) -> Result<SourceReading, SourceFault> {
    let plain = name.trim_start_matches("Est. ").replace("(R)", "");
    let reading = SourceReading::new(format!("spec_cpu.{}", snake(&plain)), &plain, need(value, at)?, ratio());
    let reading = reading.printed(value);
    Ok(if name.starts_with("Est. ") { reading.note(ESTIMATE) } else { reading })
}

/// `500.perlbench_r`
fn is_benchmark(name: &str) -> bool {
    name.split_once('.').is_some_and(|(number, name)| {
        number.len() == 3 && number.bytes().all(|byte| byte.is_ascii_digit()) && !name.is_empty()
    })
}

/// Whether a word names an overall value: `SPECrate2017_int_base`, `SPECint(R)_base2006`.
fn is_overall(name: &str) -> bool {
    ["SPECrate", "SPECspeed", "SPECint", "SPECfp"].iter().any(|begin| name.starts_with(begin))
}

/// Whether notes, flags and versions of compilers begin with a heading: words for people until the report's end.
fn is_prose(heading: &str) -> bool {
    let words: Vec<&str> = heading.split_whitespace().collect();
    let (first, last) = (words.first().copied().unwrap_or_default(), words.last().copied().unwrap_or_default());
    let of_tuning = ["Base", "Peak"].contains(&first) && ["Invocation", "Flags", "Environment"].contains(&last);
    (2..=5).contains(&words.len()) && (last == "Notes" || of_tuning)
}

/// Note of reports that have such a part.
const PROSE: &str = "what the report's notes say of settings, compilers and flags is not read";
