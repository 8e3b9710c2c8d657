//! What cyclictest writes with `--json`.

use serde::Deserialize;

use super::run::{CyclicRun, CyclicThread, LatencyUnit, options_of, settle};
use super::{Parsed, SourceFault, SourceSheet, SourceText};
use crate::date::mail;
use crate::json::{BoundedMap, Scalar, documents, read_document};
use crate::sheet::text;
use crate::text::{MOST_NAMES, name_value, parameter_value};

#[derive(Deserialize)]
struct CyclicDocument {
    #[serde(default, alias = "cmdline:")]
    cmdline: String,
    #[serde(default, alias = "rt_test_version:")]
    rt_test_version: String,
    #[serde(default)]
    start_time: String,
    return_code: i64,
    #[serde(default)]
    sysinfo: BoundedMap<Scalar>,
    /// 1 where its times are nanoseconds.
    resolution_in_ns: u8,
    thread: BoundedMap<CyclicEntry>,
    #[serde(default, rename = "file_version")]
    _file_version: Scalar,
    #[serde(default, rename = "num_threads")]
    _num_threads: Scalar,
    #[serde(default, rename = "end_time")]
    _end_time: Scalar,
}

#[derive(Deserialize)]
struct CyclicEntry {
    #[serde(default)]
    histogram: BoundedMap<u64>,
    cycles: u64,
    min: f64,
    max: f64,
    avg: f64,
    #[serde(default)]
    cpu: Scalar,
    #[serde(default, rename = "node")]
    _node: Scalar,
}

pub(super) fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let found = documents(source.text);
    if found.len() > MOST_NAMES {
        return Err(SourceFault::new(format!("it has more than {MOST_NAMES} runs"), found[MOST_NAMES].0 + 1));
    }
    let mut sheets: Vec<(SourceSheet, Vec<CyclicRun>)> = Vec::new();
    for place in found {
        let document: CyclicDocument = read_document(place, &source.ledger)?;
        let words = |name: &str| document.sysinfo.0.get(name).map(Scalar::words).unwrap_or_default();
        let machine = name_value(&words("nodename"));
        let mut sheet = SourceSheet { machine, started: mail(&document.start_time), ..SourceSheet::default() };
        sheet.version = Some(document.rt_test_version.clone()).filter(|version| !version.is_empty());
        sheet.fact(text("kernel.release", &words("release"), "output", &[]));
        sheet.fact(text("kernel.version", &words("version"), "output", &[]));
        sheet.fact(text("cpu.architecture", &words("machine"), "output", &[]));
        sheet.command = document.cmdline.split_whitespace().map(str::to_owned).collect();
        let same = |(known, _): &(SourceSheet, _)| known.machine == sheet.machine && known.facts == sheet.facts;
        let at = sheets.iter().position(same).unwrap_or_else(|| {
            sheets.push((sheet, Vec::new()));
            sheets.len() - 1
        });
        let (sheet, runs) = &mut sheets[at];
        if document.return_code != 0 {
            sheet.notes.push(format!("a run ended with code {}, and is no result", document.return_code));
            continue;
        }
        let mut run = run(&document, place.0 + 1)?;
        run.end(sheet)?;
        runs.push(run);
    }
    let settled = sheets.into_iter().map(|(mut sheet, runs)| {
        settle(&mut sheet, &runs);
        sheet
    });
    Ok(Parsed::Sheets(settled.collect()))
}

fn run(document: &CyclicDocument, at: usize) -> Result<CyclicRun, SourceFault> {
    let words: Vec<&str> = document.cmdline.split_whitespace().skip(1).collect();
    let mut run = CyclicRun { settings: options_of(&words), at, ..CyclicRun::default() };
    let unit = match document.resolution_in_ns {
        0 => LatencyUnit::Microseconds,
        1 => LatencyUnit::Nanoseconds,
        other => return Err(SourceFault::new(format!("its resolution of {other} is not known"), at)),
    };
    for (name, entry) in &document.thread.0 {
        let number = name.parse::<u32>().map_err(|_| SourceFault::new("a thread is no number", at))?;
        let mut counts: Vec<(u64, u64)> =
            entry.histogram.0.iter().filter_map(|(delay, count)| Some((delay.parse().ok()?, *count))).collect();
        counts.sort_unstable();
        // What is beyond the histogram is counted in the cycles alone.
        let inside: u64 = counts.iter().fold(0, |sum: u64, (_, count)| sum.saturating_add(*count));
        if !counts.is_empty() && inside < entry.cycles {
            counts.push((u64::MAX, entry.cycles - inside));
        }
        let thread = CyclicThread {
            at,
            cycles: entry.cycles as f64,
            least: entry.min,
            average: entry.avg,
            greatest: entry.max,
            unit,
            digit: Some(0.01),
            cpu: entry.cpu.number().map(|cpu| parameter_value(&cpu.to_string())),
            counts,
            ..CyclicThread::default()
        };
        run.threads.insert(number, thread);
    }
    Ok(run)
}
