//! The HEP benchmark suite's JSON: profiles with their scores, and the runs of each workload.

use model::{Metric, Unit};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{ImportFormat, Parsed, SourceText, sure};
use crate::date::iso;
use crate::json::{self, BoundedMap, Scalar};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, number, rate, text};
use crate::text::{MOST_NAMES, SourceFault, axis_value, shown, snake};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "hep-benchmark-suite",
    tool: "HEP benchmark suite",
    about: "profiles' scores, and each workload's score with its runs, which are executions of their own",
    by_lines: false,
    detect: |head| {
        sure(head, &["\"host\"", "\"suite\"", "\"profiles\""]).max(sure(head, &["\"profiles\"", "\"json_version\""]))
    },
    parse,
};

#[derive(Deserialize)]
struct HepDocument {
    host: Option<Host>,
    suite: Option<HepSuite>,
    #[serde(default, rename = "_timestamp")]
    timestamp: String,
    profiles: BoundedMap<Profile>,
}

#[derive(Deserialize)]
struct Host {
    #[serde(default)]
    hostname: String,
    #[serde(default, rename = "SW")]
    software: BoundedMap<Scalar>,
    #[serde(default, rename = "HW")]
    hardware: HepHardware,
}

#[derive(Deserialize, Default)]
struct HepHardware {
    #[serde(default, rename = "CPU")]
    cpu: BoundedMap<Scalar>,
    #[serde(default, rename = "MEMORY")]
    memory: BoundedMap<Scalar>,
}

#[derive(Deserialize)]
struct HepSuite {
    version: Option<String>,
}

#[derive(Deserialize)]
struct Profile {
    #[serde(default)]
    value: Scalar,
    #[serde(default)]
    score: Scalar,
    unit: Option<String>,
    #[serde(default)]
    benchmarks: BoundedMap<BoundedMap<HepEntry>>,
}

/// A member of a workload: a run, or anything else.
#[derive(Deserialize)]
#[serde(untagged)]
enum HepEntry {
    Run { report: HepReport },
    Other(IgnoredAny),
}

#[derive(Deserialize)]
struct HepReport {
    #[serde(default, rename = "wl-scores")]
    scores: BoundedMap<f64>,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let document: HepDocument = json::read_noting(source.text, &source.ledger)?;
    let mut sheet = SourceSheet {
        version: document.suite.and_then(|suite| suite.version),
        started: iso(&document.timestamp),
        ..SourceSheet::default()
    };
    if let Some(host) = &document.host {
        sheet.machine = axis_value(&host.hostname);
        describe(&mut sheet, host);
    }
    for (name, profile) in &document.profiles.0 {
        if let Some(value) = profile.value.number().or_else(|| profile.score.number()) {
            let per = profile.unit.clone().unwrap_or_else(|| "score".to_owned());
            let metric = Metric { per: per.into(), ..Metric::higher(Unit::Count, "") };
            sheet.readings.push(SourceReading::new(format!("hep.{}", snake(name)), name.clone(), value, metric));
        }
        for (workload, entries) in &profile.benchmarks.0 {
            runs(&mut sheet, workload, entries)?;
        }
    }
    Ok(Parsed::Sheets(vec![sheet]))
}

fn describe(sheet: &mut SourceSheet, host: &Host) {
    let words = |map: &BoundedMap<Scalar>, name: &str| map.0.get(name).map(Scalar::words).unwrap_or_default();
    let (software, cpu) = (&host.software, &host.hardware.cpu);
    for (fact, value) in [
        ("os.name", words(software, "os_version")),
        ("kernel.release", words(software, "kernel_version")),
        ("compiler", words(software, "gcc_version")),
        ("cpu.model", words(cpu, "CPU_Model")),
        ("cpu.governor", words(cpu, "Power_Policy")),
        ("cpu.smt", words(cpu, "SMT_Enabled?")),
    ] {
        sheet.facts.extend(text(fact, &value, "suite", &[]));
    }
    let count = |map: &BoundedMap<Scalar>, name: &str| map.0.get(name).and_then(Scalar::number);
    sheet.facts.extend(count(cpu, "CPU").map(|count| number("cpu.count", count, "1", "suite", &[])));
    let memory =
        count(&host.hardware.memory, "Mem_Total").map(|kib| number("memory.total", kib * 1024.0, "B", "suite", &[]));
    sheet.facts.extend(memory);
    sheet.summary = words(cpu, "CPU_Model");
}

/// The runs of a workload in order: `run0`, `run1`, ...
fn runs(sheet: &mut SourceSheet, workload: &str, entries: &BoundedMap<HepEntry>) -> Result<(), SourceFault> {
    let mut runs: Vec<(usize, &HepReport)> = Vec::new();
    for (name, entry) in &entries.0 {
        let number = name.strip_prefix("run").and_then(|number| number.parse().ok());
        if let (Some(number), HepEntry::Run { report }) = (number, entry) {
            runs.push((number, report));
        }
    }
    runs.sort_by_key(|(number, _)| *number);
    let Some((_, first)) = runs.first() else { return Ok(()) };
    if first.scores.0.len() > MOST_NAMES {
        return Err(SourceFault::new(format!("workload '{}' has more than {MOST_NAMES} parts", shown(workload)), 0));
    }
    for part in first.scores.0.keys() {
        let values: Vec<f64> = runs.iter().filter_map(|(_, report)| report.scores.0.get(part)).copied().collect();
        let value = values.first().copied().unwrap_or_default();
        let reading = SourceReading::new("hep.workload", "Workload score", value, rate("events"));
        let reading = reading.at("workload", axis_value(workload)).at("part", axis_value(part));
        sheet.readings.push(reading.spread(SourceSpread::Launches(values)));
    }
    Ok(())
}
