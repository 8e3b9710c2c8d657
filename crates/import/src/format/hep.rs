//! The HEP benchmark suite's JSON: profiles with their scores, and the runs of each workload.

use std::collections::BTreeSet;

use model::{Metric, Primitive, Unit};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{CodeFormat, Parsed, SourceText, sure};
use crate::date::iso;
use crate::json::{self, BoundedMap, Scalar};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, number, rate, text};
use crate::text::{MOST_NAMES, SourceFault, axis_value, name_value, shown, snake};

pub(super) static FORMAT: CodeFormat = CodeFormat {
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
    /// Copies of each benchmark that ran at once.
    #[serde(default)]
    copies: Scalar,
    /// Which of SPEC's benchmarks ran.
    #[serde(default)]
    bset: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    app_info: HepName,
    #[serde(default)]
    settings: HepName,
    #[serde(default)]
    benchmarks: BoundedMap<BoundedMap<HepEntry>>,
    /// Scores of workloads whose runs are not stated, and of the reference machine, whose names end in `_ref`.
    #[serde(default, rename = "wl-scores")]
    scores: BoundedMap<BoundedMap<Scalar>>,
}

/// The name of the set of workloads, such as `HEPscore19`.
#[derive(Deserialize, Default)]
struct HepName {
    #[serde(default)]
    name: String,
}

/// A member of a workload: a run, how its runs were made, or anything else.
#[derive(Deserialize)]
#[serde(untagged)]
enum HepEntry {
    Run { report: HepReport },
    Made { copies: u32, threads_per_copy: u32 },
    Word(String),
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
        sheet.machine = name_value(&host.hostname);
        describe(&mut sheet, host);
    }
    for (name, profile) in &document.profiles.0 {
        if !["", "success", "SUCCESS"].contains(&profile.status.as_str()) {
            sheet.notes.push(format!("profile {}: {}", name_value(name), name_value(&profile.status)));
        }
        sheet.readings.extend(overall(name, profile));
        for (workload, entries) in &profile.benchmarks.0 {
            runs(&mut sheet, workload, entries)?;
        }
        let alone = profile.scores.0.iter().filter(|(workload, _)| !profile.benchmarks.0.contains_key(*workload));
        for (workload, parts) in alone {
            for (part, score) in parts.0.iter().filter(|(part, _)| !part.ends_with("_ref")) {
                sheet.readings.extend(score.number().map(|value| score_of(workload, part, value)));
            }
        }
    }
    Ok(Parsed::Sheets(vec![sheet]))
}

/// The score of a profile. Those of other sets of workloads, and of other numbers of copies, are other figures.
fn overall(name: &str, profile: &Profile) -> Option<SourceReading> {
    let value = profile.value.number().or_else(|| profile.score.number())?;
    let per = profile.unit.clone().unwrap_or_else(|| "score".to_owned());
    let metric = Metric { per: per.into(), ..Metric::higher(Unit::Count, "") };
    let reading = SourceReading::new(format!("hep.{}", snake(name)), name, value, metric);
    let named = [&profile.app_info.name, &profile.settings.name].into_iter().find(|name| !name.is_empty());
    let axes = [
        ("workloads", named.cloned().unwrap_or_default()),
        ("benchmarks", profile.bset.clone()),
        ("copies", profile.copies.words()),
    ];
    let stated = axes.into_iter().filter(|(_, value)| !value.is_empty());
    Some(stated.fold(reading, |reading, (axis, value)| reading.at(axis, axis_value(&value))))
}

fn score_of(workload: &str, part: &str, value: f64) -> SourceReading {
    let reading = SourceReading::new("hep.workload", "Workload score", value, rate("events"));
    reading.at("workload", axis_value(workload)).at("part", axis_value(part))
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
        ("cpu.architecture", words(cpu, "Architecture")),
        ("cache.l2", words(cpu, "L2_cache")),
        ("cache.l3", words(cpu, "L3_cache")),
    ] {
        sheet.facts.extend(text(fact, &value, "suite", &[]));
    }
    let count = |map: &BoundedMap<Scalar>, name: &str| map.0.get(name).and_then(Scalar::number);
    sheet.facts.extend(count(cpu, "CPU").map(|count| number("cpu.count", count, "1", "suite", &[])));
    let clock = count(cpu, "CPU_Max_Speed_MHz").filter(|clock| *clock > 0.0);
    let clock = clock.map(|clock| number("cpu.clock.max", clock * 1e6, "Hz", "suite", &[Primitive::CoreClock]));
    sheet.facts.extend(clock);
    sheet.facts.extend(count(cpu, "Sockets").map(|count| number("cpu.sockets", count, "1", "suite", &[])));
    let memory =
        count(&host.hardware.memory, "Mem_Total").map(|kib| number("memory.total", kib * 1024.0, "B", "suite", &[]));
    sheet.facts.extend(memory);
    sheet.summary = words(cpu, "CPU_Model");
}

/// The runs of a workload in order: `run0`, `run1`, ...
fn runs(sheet: &mut SourceSheet, workload: &str, entries: &BoundedMap<HepEntry>) -> Result<(), SourceFault> {
    let mut runs: Vec<(usize, &HepReport)> = Vec::new();
    let (mut made, mut version) = (None, None);
    for (name, entry) in &entries.0 {
        let number = name.strip_prefix("run").and_then(|number| number.parse().ok());
        match (number, entry) {
            (Some(number), HepEntry::Run { report }) => runs.push((number, report)),
            (None, HepEntry::Word(word)) if name == "version" => version = Some(word),
            (None, HepEntry::Made { copies, threads_per_copy }) => made = Some((*copies, *threads_per_copy)),
            _ => {}
        }
    }
    runs.sort_by_key(|(number, _)| *number);
    // A run that failed has no scores.
    let parts: BTreeSet<&String> = runs.iter().flat_map(|(_, report)| report.scores.0.keys()).collect();
    if parts.len() > MOST_NAMES {
        return Err(SourceFault::new(format!("workload '{}' has more than {MOST_NAMES} parts", shown(workload)), 0));
    }
    for part in parts {
        let values: Vec<f64> = runs.iter().filter_map(|(_, report)| report.scores.0.get(part)).copied().collect();
        let mut reading = score_of(workload, part, values.first().copied().unwrap_or_default());
        // Another version of a workload is another program.
        if let Some(version) = version {
            reading = reading.at("version", axis_value(version));
        }
        if let Some((copies, threads)) = made {
            reading = reading.at("copies", copies.to_string()).at("threads", threads.to_string());
        }
        if values.len() < runs.len() {
            reading = reading.note(format!("{} of its {} runs state no score", runs.len() - values.len(), runs.len()));
        }
        sheet.readings.push(reading.spread(SourceSpread::Launches(values)));
    }
    Ok(())
}
