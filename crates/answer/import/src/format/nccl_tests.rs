//! NVIDIA's nccl-tests and AMD's rccl-tests: a row for each size of message.

use std::collections::BTreeSet;

use super::{CodeFormat, Confidence, Parsed, SourceText, likely, sure};
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, seconds, text};
use crate::text::{MOST_NAMES, SourceFault, after, lines, name_value, need, number, parameter_value, shown};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "nccl-tests",
    tool: "nccl-tests",
    about: "time and bus bandwidth by size, out of place and in place; no spread is stated",
    by_lines: true,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    let named = sure(head, &["# nThread ", "minBytes"]).max(sure(head, &["nccl-tests version"]));
    named.max(sure(head, &["rccl-tests version"])).max(likely(head, &["out-of-place", "in-place", "busbw"]))
}

const COLUMNS: [&str; 9] = ["size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong"];

const WRONG: &str = "the check of the data found wrong values";

/// What is known of the process whose output is read.
#[derive(Default)]
struct NcclRun {
    collective: String,
    ranks: u32,
    /// Numbers of the ranks that it lists.
    listed: BTreeSet<u32>,
    /// Hosts of the ranks.
    hosts: BTreeSet<String>,
    /// These are others than those of the first run of the file.
    elsewhere: bool,
    columns: Vec<String>,
    units: bool,
    /// Least and greatest size, over which the average is.
    sizes: String,
    /// Samples are recorded in a graph.
    graph: bool,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let mut run = NcclRun::default();
    // What the lines above a run name.
    let mut named = String::new();
    let mut hosts: Option<BTreeSet<String>> = None;
    for (at, line) in lines(source.text) {
        let trimmed = line.trim();
        let words: Vec<&str> = trimmed.trim_start_matches('#').split_whitespace().collect();
        if let Some(version) = after(trimmed, "ccl-tests version") {
            sheet.version = version.split_whitespace().next().map(str::to_owned);
        } else if let Some(name) = after(trimmed, "Collective test starting:") {
            named = parameter_value(name.trim_end_matches("_perf"));
        } else if trimmed.starts_with("# nThread") {
            run = begun(&words, std::mem::take(&mut named));
            // Without a name it is not known to be the same collective as one before.
            if !run.collective.is_empty() || sheet.processes.is_empty() {
                sheet.begin_process();
            }
        } else if trimmed.starts_with('#') && words.first() == Some(&"Rank") && trimmed.contains(" device ") {
            rank(&mut sheet, &mut run, trimmed, at)?;
        } else if trimmed.starts_with('#') && words.first() == Some(&"size") && words.contains(&"busbw") {
            if let Some(other) = words.iter().find(|name| !COLUMNS.contains(name) && **name != "error") {
                return Err(SourceFault::new(format!("its column '{}' is not known", shown(other)), at));
            }
            run.columns = words.iter().map(|name| (*name).to_owned()).collect();
            run.elsewhere = *hosts.get_or_insert_with(|| run.hosts.clone()) != run.hosts;
        } else if trimmed.starts_with('#') && words.first() == Some(&"(B)") {
            let known = ["(B)", "(elements)", "(us)", "(GB/s)"];
            if let Some(other) = words.iter().find(|unit| !known.contains(unit)) {
                return Err(SourceFault::new(format!("its unit '{}' is not known", shown(other)), at));
            }
            run.units = true;
        } else if let Some(value) = after(trimmed, "# Avg bus bandwidth").and_then(|rest| rest.strip_prefix(':')) {
            // Of one rank alone, nothing goes over a bus.
            let value = need(value, at)?;
            sheet.readings.extend((value != 0.0).then(|| average(&run, value * 1e9)));
        } else if !run.columns.is_empty() && trimmed.starts_with(|c: char| c.is_ascii_digit()) {
            row(&mut sheet, &run, trimmed, at)?;
        } else if !trimmed.starts_with('#') {
            continue;
        }
        source.took(at);
    }
    // Of one host, the results are those of that machine.
    if let Some(host) = hosts.and_then(|hosts| Some(hosts).filter(|hosts| hosts.len() == 1)?.pop_first()) {
        sheet.machine = host;
    }
    Ok(Parsed::Sheets(vec![sheet]))
}

/// A rank that it lists, with its host and its device.
fn rank(sheet: &mut SourceSheet, run: &mut NcclRun, line: &str, at: usize) -> Result<(), SourceFault> {
    run.ranks += 1;
    // Processes that were built without MPI do not know of each other.
    let number = after(line, "Rank").and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    if number.is_some_and(|number| !run.listed.insert(number)) {
        let reason = "it lists a rank twice: several programs built without MPI ran at once; import the output of one";
        return Err(SourceFault::new(reason, at));
    }
    if let Some(host) = host(line).filter(|_| run.hosts.len() < MOST_NAMES) {
        run.hosts.insert(host.to_owned());
    }
    let device = line.rsplit_once(']').map_or("", |(_, name)| name);
    sheet.fact(text("device.model", &name_value(device), "output", &[]));
    Ok(())
}

/// The bandwidth over all sizes of a run, bytes a second.
fn average(run: &NcclRun, value: f64) -> SourceReading {
    let metric = bytes_per_second("bytes on the bus");
    let reading = SourceReading::new("nccl.average_bandwidth", "Average bus bandwidth", value, metric);
    let reading = if run.sizes.is_empty() { reading } else { reading.at("sizes", run.sizes.clone()) };
    placed(reading, run)
}

/// The host of a rank: `#  Rank  0 Group  0 Pid   1000 on        box device  0 [0000:1b:00] Example GPU`.
fn host(line: &str) -> Option<&str> {
    line.split_once(" on ")?.1.split_whitespace().next()
}

/// `# nThread 1 nGpus 2 minBytes 8 maxBytes 1048576 ... graph: 0`
fn begun(words: &[&str], collective: String) -> NcclRun {
    let value = |name: &str| {
        let at = words.iter().position(|word| word.trim_end_matches(':') == name)?;
        words.get(at + 1)?.parse::<u64>().ok()
    };
    let sizes = value("minBytes").zip(value("maxBytes"));
    let sizes = sizes.map(|(least, most)| format!("{}-{}", model::format_size(least), model::format_size(most)));
    let graph = value("graph").is_some_and(|samples| samples > 0);
    NcclRun { collective, sizes: sizes.unwrap_or_default(), graph, ..NcclRun::default() }
}

fn placed(reading: SourceReading, run: &NcclRun) -> SourceReading {
    let reading = if run.graph { reading.at("graph", "yes") } else { reading };
    // Of an abridged list, the number of its lines says nothing.
    let all = run.listed.last().is_none_or(|greatest| u64::from(*greatest) + 1 == u64::from(run.ranks));
    let ranks = if all { run.ranks.to_string() } else { "unstated".to_owned() };
    let reading = if run.ranks > 0 { reading.at("ranks", ranks) } else { reading };
    // Ranks of several hosts speak over a network.
    let reading = if run.hosts.len() > 1 { reading.at("hosts", run.hosts.len().to_string()) } else { reading };
    let names = || run.hosts.iter().take(8).cloned().collect::<Vec<_>>().join("+");
    let reading = if run.elsewhere { reading.at("on", parameter_value(&names())) } else { reading };
    if run.collective.is_empty() { reading } else { reading.at("collective", run.collective.clone()) }
}

fn row(sheet: &mut SourceSheet, run: &NcclRun, line: &str, at: usize) -> Result<(), SourceFault> {
    let words: Vec<&str> = line.split_whitespace().collect();
    // Collectives without an operator leave its column, and that of the root, empty in some versions.
    let missing = run.columns.len().checked_sub(words.len());
    let columns: Vec<&str> = match missing {
        Some(0) => run.columns.iter().map(String::as_str).collect(),
        Some(1) => run.columns.iter().map(String::as_str).filter(|name| *name != "redop").collect(),
        Some(2) => run.columns.iter().map(String::as_str).filter(|name| !["redop", "root"].contains(name)).collect(),
        _ => Vec::new(),
    };
    if columns.len() != words.len() || !run.units {
        let reason = format!("the row has {} values and its heading {}", words.len(), run.columns.len());
        return Err(SourceFault::new(if run.units { reason } else { "the table has no line of units".to_owned() }, at));
    }
    let cell = |name: &str| columns.iter().position(|known| *known == name).map(|at| words[at]);
    let size: u64 = words[0].parse().map_err(|_| SourceFault::new("the size is not a whole number", at))?;
    let wrong = columns.iter().zip(&words).filter(|(name, _)| **name == "#wrong").filter_map(|(_, word)| number(word));
    if wrong.sum::<f64>() > 0.0 && !sheet.notes.iter().any(|note| note == WRONG) {
        sheet.notes.push(WRONG.to_owned());
    }
    let mut place = 0;
    for (column, word) in columns.iter().zip(&words) {
        let (id, scale, metric) = match *column {
            "time" => {
                place += 1;
                ("nccl.time", 1e-6, seconds("operation"))
            }
            "busbw" => ("nccl.bus_bandwidth", 1e9, bytes_per_second("bytes on the bus")),
            _ => continue,
        };
        let reading = SourceReading::new(id, id, need(word, at)? * scale, metric).printed_in(word, scale);
        let reading = reading.at("size", model::format_size(size)).at("place", if place == 1 { "out" } else { "in" });
        let parameters = [("type", cell("type")), ("operator", cell("redop").filter(|word| *word != "none"))];
        let reading = parameters.into_iter().fold(reading, |reading, (parameter, word)| match word {
            Some(word) => reading.at(parameter, parameter_value(word)),
            None => reading,
        });
        sheet.readings.push(placed(reading, run));
    }
    Ok(())
}
