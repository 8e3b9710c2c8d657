//! SPEC CPU 2006 and 2017: every iteration of every benchmark, and the overall values, from the reports as CSV and as
//! text, and from the raw file.

mod raw;
mod table;
mod text;

use model::{Metric, Primitive, Unit};

use super::{Confidence, ImportFormat, Parsed, SourceText, sure};
use crate::date;
use crate::sheet::{self, SourceReading, SourceSheet, SourceSpread};
use crate::text::{MOST_NAMES, SourceFault, axis_value, first_number, need, snake};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "spec-cpu",
    tool: "SPEC CPU",
    about: "the report as CSV or text, or the raw file: each benchmark's ratio or rate with its iterations, which are \
            executions of their own, and the overall values, for which no spread is stated",
    by_lines: true,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    let csv = sure(head, &["SPEC CPU20", "Results Table"]).max(sure(head, &["\"SPEC CPU"]));
    let text = sure(head, &["SPEC CPU(R)2017", "Benchmarks "]).max(sure(head, &["SPEC(R) C", "2006", "Benchmarks "]));
    csv.max(text).max(sure(head, &["spec.cpu20", ".results."]))
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

/// One iteration of one benchmark under one tuning.
struct SpecCpuIteration<'a> {
    benchmark: &'a str,
    tuning: &'static str,
    /// Whether copies or threads ran, and how many; empty if not stated.
    width: (&'static str, &'a str),
    value: &'a str,
    succeeded: bool,
}

/// One benchmark under one tuning, with the values of its iterations.
struct SpecCpuGroup {
    benchmark: String,
    tuning: &'static str,
    width: (&'static str, String),
    values: Vec<f64>,
    failed: usize,
}

/// All benchmarks.
#[derive(Default)]
struct SpecCpuGroups {
    groups: Vec<SpecCpuGroup>,
    places: std::collections::HashMap<(String, &'static str), usize>,
}

impl SpecCpuGroups {
    fn add(&mut self, iteration: &SpecCpuIteration<'_>, at: usize) -> Result<(), SourceFault> {
        let key = (iteration.benchmark.to_owned(), iteration.tuning);
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
                failed: 0,
            });
            groups.len() - 1
        });
        if iteration.succeeded {
            groups[place].values.push(need(iteration.value, at)?);
        } else {
            groups[place].failed += 1;
        }
        Ok(())
    }

    fn readings(self) -> impl Iterator<Item = SourceReading> {
        self.groups.into_iter().filter(|group| !group.values.is_empty()).map(reading)
    }
}

fn reading(group: SpecCpuGroup) -> SourceReading {
    let value = group.values.first().copied().unwrap_or_default();
    let mut reading =
        SourceReading::new(format!("spec_cpu.{}", snake(&group.benchmark)), group.benchmark, value, ratio());
    reading = reading.at("tuning", group.tuning);
    if !group.width.1.is_empty() {
        reading = reading.at(group.width.0, axis_value(&group.width.1));
    }
    if group.failed > 0 {
        reading = reading.note(format!("{} iterations did not succeed and are left out", group.failed));
    }
    reading.spread(SourceSpread::Launches(group.values))
}

fn ratio() -> Metric {
    Metric::higher(Unit::Ratio, "reference machine's speed")
}

/// An overall value: `SPECrate2017_int_base`, `Est. SPECrate(R)2017_int_base`.
fn overall(name: &str, value: &str, at: usize) -> Result<SourceReading, SourceFault> {
    let plain = name.trim_start_matches("Est. ").replace("(R)", "");
    let reading = SourceReading::new(format!("spec_cpu.{}", snake(&plain)), &plain, need(value, at)?, ratio());
    Ok(if name.starts_with("Est. ") { reading.note(ESTIMATE) } else { reading })
}

/// `500.perlbench_r`
fn is_benchmark(name: &str) -> bool {
    name.split_once('.').is_some_and(|(number, name)| {
        number.len() == 3 && number.bytes().all(|byte| byte.is_ascii_digit()) && !name.is_empty()
    })
}

/// What the report says of the machine; whether the name is one of those that are kept.
fn describe(sheet: &mut SourceSheet, name: &str, value: &str) -> bool {
    let clock = &[Primitive::CoreClock][..];
    let memory = &[Primitive::DramRead, Primitive::DramWrite][..];
    let cache = &[Primitive::CacheLatency][..];
    let name = name.trim().trim_end_matches(':');
    let known = match name {
        "CPU Name" => ("cpu.model", clock),
        "Hardware Model" => ("system.model", &[][..]),
        "Hardware Vendor" => ("system.vendor", &[][..]),
        "Memory" => ("memory.kind", memory),
        "OS" => ("os.name", &[][..]),
        "Compiler" => ("compiler", &[][..]),
        "File System" => ("file_system.type", &[][..]),
        "Enabled" | "CPU(s) enabled" => ("cpu.enabled", &[][..]),
        "Cache L1" | "Primary Cache" => ("cache.l1", cache),
        "L2" | "Secondary Cache" => ("cache.l2", cache),
        "L3" | "L3 Cache" => ("cache.l3", cache),
        "Max MHz" | "Nominal" | "CPU MHz" => {
            let fact = if name == "Max MHz" { "cpu.clock.max" } else { "cpu.clock" };
            let number =
                first_number(value).map(|clock_mhz| sheet::number(fact, clock_mhz * 1e6, "Hz", "report", clock));
            sheet.fact(number);
            return true;
        }
        "Date tested" | "Test date" => {
            sheet.started = date::month_year(value);
            sheet.notes.push(format!("tested in {}: the day is not stated", axis_value(value)));
            return true;
        }
        _ => return false,
    };
    if known.0 == "system.model" {
        value.clone_into(&mut sheet.summary);
        sheet.machine = axis_value(value);
    }
    if known.0 == "cpu.enabled" {
        let cores = value.split(',').find(|part| part.contains("core")).and_then(first_number);
        sheet.fact(cores.map(|cores| sheet::number("cpu.cores", cores, "1", "report", &[])));
    }
    let fact = sheet::text(known.0, value, "report", known.1);
    sheet.fact(fact);
    true
}
