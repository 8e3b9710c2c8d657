//! Intel's Memory Latency Checker: matrices between nodes, mixes of traffic, latencies under load and between caches.

use std::collections::HashSet;

use super::{CodeFormat, Confidence, Parsed, SourceText, likely, sure};
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, seconds};
use crate::text::{SourceFault, after, between, lines, need, parameter_value, shown};
use crate::units::TIMES;

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "mlc",
    tool: "Intel MLC",
    about: "idle latencies and bandwidths by node, peak bandwidths by mix, loaded latencies, cache-to-cache \
            latencies; no spread is stated",
    by_lines: true,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    let part = |title| likely(head, &[title, "Numa node"]).max(likely(head, &[title, "Memory node"]));
    let tables = part("Measuring idle latencies").max(part("Measuring Memory Bandwidths between nodes"));
    let loaded = likely(head, &["Measuring Loaded Latencies for the system", "Inject"]);
    let named = sure(head, &["Intel(R) Memory Latency Checker"]);
    named.max(tables).max(loaded).max(likely(head, &["Injection Memory Bandwidths for the system", "Reads"]))
}

/// Bytes of its MB, which every table spells out.
const MB: f64 = 1e6;

/// What is measured, by the line that says so.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum MlcPart {
    Idle,
    /// Between nodes.
    Bandwidth,
    Peak,
    Greatest,
    Loaded,
    Caches,
}

const PARTS: [(&str, MlcPart); 7] = [
    ("Measuring idle latencies", MlcPart::Idle),
    ("Measuring Memory Bandwidths between nodes", MlcPart::Bandwidth),
    ("Measuring Peak Injection Memory Bandwidths", MlcPart::Peak),
    ("Measuring Peak Memory Bandwidths", MlcPart::Peak),
    ("Measuring Maximum Memory Bandwidths", MlcPart::Greatest),
    ("Measuring Loaded Latencies", MlcPart::Loaded),
    ("Measuring cache-to-cache transfer latency", MlcPart::Caches),
];

/// Begins the result of a single idle latency.
const SINGLE: &str = "Each iteration took";

/// What the process whose output is read has said.
#[derive(Default)]
struct MlcState {
    part: Option<MlcPart>,
    /// Parts of this process.
    done: HashSet<MlcPart>,
    /// It has stated a result.
    results: bool,
    /// The part has not.
    fresh: bool,
    /// Its command line without what it measures.
    options: Option<String>,
    buffer: Option<String>,
    /// Latencies are of random accesses.
    random: bool,
    /// Settings of the part.
    parameters: Vec<(&'static str, &'static str)>,
    /// The next part has small pages.
    small: bool,
    /// The first line of the source that states 0, and how many do.
    zeros: Option<(usize, usize)>,
    /// What the rows of a matrix are, and its columns.
    rows: &'static str,
    columns: Vec<String>,
    /// At which end of a transfer between sockets the data are.
    home: &'static str,
    /// The table of delays is open.
    delays: bool,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let mut state = MlcState::default();
    for (at, line) in lines(source.text) {
        let line = line.trim();
        if let Some((_, version)) = line.split_once("Memory Latency Checker - v") {
            sheet.states_version(version.split_whitespace().next().unwrap_or_default().to_owned());
            begin(&mut sheet, &mut state);
        } else if let Some((title, part)) = PARTS.iter().find(|(title, _)| line.starts_with(title)) {
            if state.done.contains(part) {
                // Without the line above it, a part that comes again is another process's.
                begin(&mut sheet, &mut state);
            }
            open(&mut state, *part, &line[title.len()..]);
        } else if line.starts_with(SINGLE) && state.done.contains(&MlcPart::Idle) {
            begin(&mut sheet, &mut state);
            record(&mut sheet, &mut state, line, at)?;
        } else if !setting(&mut sheet, &mut state, line, at)? && !record(&mut sheet, &mut state, line, at)? {
            continue;
        }
        source.took(at);
    }
    if let Some((first, count)) = state.zeros {
        sheet.notes.push(format!("0 is no value: line {first} states it, the first of {count}"));
    }
    Ok(Parsed::Sheets(vec![sheet]))
}

/// Whether the line is one of the open part's.
fn record(sheet: &mut SourceSheet, state: &mut MlcState, line: &str, at: usize) -> Result<bool, SourceFault> {
    let Some(readings) = results(state, line, at)? else { return Ok(false) };
    state.results |= !readings.is_empty();
    state.fresh &= readings.is_empty();
    // No access takes no time, and a node without memory has no rate.
    let (readings, nothing): (Vec<_>, Vec<_>) = readings.into_iter().partition(|reading| reading.value != 0.0);
    if !nothing.is_empty() {
        let (first, count) = state.zeros.unwrap_or((at, 0));
        state.zeros = Some((first, count + 1));
    }
    sheet.readings.extend(readings.into_iter().map(|reading| placed(reading, state)));
    Ok(true)
}

fn begin(sheet: &mut SourceSheet, state: &mut MlcState) {
    sheet.begin_process();
    let small = state.small && state.part.is_none();
    *state = MlcState { small, zeros: state.zeros, ..MlcState::default() };
}

fn open(state: &mut MlcState, part: MlcPart, rest: &str) {
    state.done.insert(part);
    (state.part, state.fresh, state.delays, state.home) = (Some(part), true, false, "");
    (state.rows, state.columns, state.parameters) = ("", Vec::new(), Vec::new());
    state.random |= part == MlcPart::Idle && rest.contains("random access");
    if std::mem::take(&mut state.small) {
        state.parameters.push(("pages", "small"));
    }
}

/// Whether the line states how it measures, or names the units.
fn setting(sheet: &mut SourceSheet, state: &mut MlcState, line: &str, at: usize) -> Result<bool, SourceFault> {
    let command = after(line, "Command line parameters:").filter(|_| line.starts_with("Command line"));
    let buffer = after(line, "Using buffer size of").filter(|_| line.starts_with("Using buffer"));
    if command.is_some() || buffer.is_some() {
        if state.results {
            begin(sheet, state);
        }
        if let Some(command) = command {
            let options: Vec<&str> = command.split_whitespace().filter(|word| !word.starts_with("--")).collect();
            state.options = Some(options.join(" "));
        }
        if let Some(buffer) = buffer {
            let size = buffer.split("/thread").next().unwrap_or(buffer);
            state.buffer = Some(parameter_value(size.trim_end_matches('B').trim_end_matches('i')) + "iB");
        }
    } else if line.contains("enabling random access for latency") {
        state.random = true;
    } else if line.starts_with("Using Read-only traffic type") {
        state.parameters.push(("traffic", "read-only"));
    } else if line.starts_with("Using only one thread from each core") {
        state.parameters.push(("threads", "one a core"));
    } else if line.starts_with("Using small pages") {
        match state.part {
            Some(_) if state.fresh => state.parameters.push(("pages", "small")),
            _ => state.small = true,
        }
    } else if let Some(unit) = after(line, "Bandwidths are in").filter(|_| line.starts_with("Bandwidths")) {
        if !unit.starts_with("MB/sec (1 MB/sec = 1,000,000 Bytes/sec)") && unit != "MB/sec" {
            return Err(SourceFault::new(format!("the unit '{}' is not known", shown(unit)), at));
        }
    } else {
        return Ok(line.starts_with("Using all the threads") || line.starts_with("Using traffic with"));
    }
    Ok(true)
}

/// The results of a line of the open part; none if it is not one of its lines.
fn results(state: &mut MlcState, line: &str, at: usize) -> Result<Option<Vec<SourceReading>>, SourceFault> {
    if let Some(rest) = line.strip_prefix(SINGLE) {
        state.done.insert(MlcPart::Idle);
        return single(rest, at).map(|reading| Some(vec![reading]));
    }
    let Some(part) = state.part else { return Ok(None) };
    match part {
        MlcPart::Peak | MlcPart::Greatest => mix(part, line, at),
        MlcPart::Loaded => loaded(state, line, at),
        MlcPart::Idle | MlcPart::Bandwidth | MlcPart::Caches => matrix(state, part, line, at),
    }
}

fn placed(reading: SourceReading, state: &MlcState) -> SourceReading {
    let latency = ["mlc.idle_latency", "mlc.loaded_latency"].contains(&reading.id.as_str());
    let mut reading =
        state.parameters.iter().fold(reading, |reading, (parameter, value)| reading.at(parameter, *value));
    if latency && state.random {
        reading = reading.at("access", "random");
    }
    // Which buffer it takes by itself depends on the caches: then it is of memory.
    match (&state.options, &state.buffer) {
        (Some(options), _) if options.is_empty() => reading,
        (Some(options), _) => reading.at("options", parameter_value(options)),
        (None, Some(buffer)) => reading.at("buffer", buffer.clone()),
        (None, None) => reading,
    }
}

/// ` 200.5 base frequency clocks (  95.7  ns)`
fn single(rest: &str, at: usize) -> Result<SourceReading, SourceFault> {
    let time = between(rest, "(", ")").ok_or_else(|| SourceFault::new("the line ends early", at))?;
    let (value, unit) = time.split_once(char::is_whitespace).unwrap_or((time, ""));
    let Some((_, scale)) = TIMES.iter().find(|(name, _)| *name == unit.trim()) else {
        return Err(SourceFault::new(format!("the unit '{}' is not known", shown(unit)), at));
    };
    latency("mlc.idle_latency", "Idle latency", value, *scale, at)
}

fn latency(id: &str, title: &str, value: &str, scale: f64, at: usize) -> Result<SourceReading, SourceFault> {
    Ok(SourceReading::new(id, title, need(value, at)? * scale, seconds("load")).printed_in(value, scale))
}

fn bandwidth(id: &str, title: &str, value: &str, at: usize) -> Result<SourceReading, SourceFault> {
    Ok(SourceReading::new(id, title, need(value, at)? * MB, bytes_per_second("bytes")).printed_in(value, MB))
}

/// `3:1 Reads-Writes :  150658.6`
fn mix(part: MlcPart, line: &str, at: usize) -> Result<Option<Vec<SourceReading>>, SourceFault> {
    let Some((name, value)) = line.rsplit_once(':') else { return Ok(None) };
    let name = name.trim();
    if !(["ALL Reads", "Stream-triad like"].contains(&name) || name.ends_with(" Reads-Writes")) {
        return Ok(None);
    }
    let id = if part == MlcPart::Peak { "mlc.peak_bandwidth" } else { "mlc.max_bandwidth" };
    Ok(Some(vec![
        bandwidth(id, "Bandwidth of all threads", value.trim(), at)?
            .at("mix", parameter_value(&name.to_ascii_lowercase())),
    ]))
}

/// Its heading has two lines, of names and of units.
fn loaded(state: &mut MlcState, line: &str, at: usize) -> Result<Option<Vec<SourceReading>>, SourceFault> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.first() {
        Some(&"Inject") if words != ["Inject", "Latency", "Bandwidth"] => {
            Err(SourceFault::new(format!("the heading '{}' is not known", shown(line)), at))
        }
        Some(&"Inject") => Ok(Some(Vec::new())),
        Some(&"Delay") => {
            if words != ["Delay", "(ns)", "MB/sec"] {
                return Err(SourceFault::new(format!("the units '{}' are not known", shown(line)), at));
            }
            state.delays = true;
            Ok(Some(Vec::new()))
        }
        Some(delay) if state.delays && delay.bytes().all(|byte| byte.is_ascii_digit()) => {
            let [_, time, rate] = words[..] else {
                return Err(SourceFault::new(format!("the row has {} values and its heading 3", words.len()), at));
            };
            let delay = delay.parse::<u64>().map_err(|_| SourceFault::new("the delay is not a usable number", at))?;
            let time = latency("mlc.loaded_latency", "Latency under load", time, 1e-9, at)?;
            let rate = bandwidth("mlc.loaded_bandwidth", "Bandwidth of the load", rate, at)?;
            Ok(Some([time, rate].map(|reading| reading.at("delay", delay.to_string())).into()))
        }
        _ => Ok(None),
    }
}

/// A table between nodes, of two lines of headings; between caches, latencies inside a socket stand before it.
fn matrix(
    state: &mut MlcState,
    part: MlcPart,
    line: &str,
    at: usize,
) -> Result<Option<Vec<SourceReading>>, SourceFault> {
    if let Some((name, value)) = line.split_once("latency").filter(|(name, _)| name.starts_with("Local Socket L2->L2"))
    {
        let hit = name.trim_end().rsplit(' ').next().unwrap_or_default();
        let reading = latency("mlc.cache_latency", "Latency between caches", value.trim(), 1e-9, at)?;
        return Ok(Some(vec![reading.at("state", parameter_value(hit)).at("sockets", "same")]));
    }
    if line.starts_with("Remote Socket L2->L2 HITM latency") {
        state.home = if line.contains("reader") { "reader" } else { "writer" };
        (state.rows, state.columns) = ("", Vec::new());
        return Ok(Some(Vec::new()));
    }
    let headings =
        [("Writer Numa Node", "node"), ("Writer Socket", "socket"), ("Numa node", "node"), ("Socket", "socket")];
    let heading = headings.iter().find_map(|(words, rows)| Some((*rows, line.strip_prefix(words)?)));
    if let Some((rows, names)) = heading.filter(|(_, names)| names.contains(|c: char| c.is_ascii_digit())) {
        let names: Vec<String> = names.split_whitespace().map(str::to_owned).collect();
        if let Some(other) = names.iter().find(|name| name.parse::<u32>().is_err()) {
            return Err(SourceFault::new(format!("its column '{}' is not known", shown(other)), at));
        }
        (state.rows, state.columns) = (rows, names);
        return Ok(Some(Vec::new()));
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let row = words.first().filter(|word| !state.columns.is_empty() && word.parse::<u32>().is_ok());
    let Some(row) = row else {
        state.columns.clear();
        return Ok(None);
    };
    if words.len() != state.columns.len() + 1 {
        let (has, names) = (words.len(), state.columns.len() + 1);
        return Err(SourceFault::new(format!("the row has {has} values and its heading {names}"), at));
    }
    let cell = |(column, value): (&String, &&str)| {
        let reading = match part {
            MlcPart::Idle => latency("mlc.idle_latency", "Idle latency", value, 1e-9, at)?,
            MlcPart::Bandwidth => bandwidth("mlc.bandwidth", "Bandwidth between nodes", value, at)?,
            _ => latency("mlc.cache_latency", "Latency between caches", value, 1e-9, at)?,
        };
        Ok(match part {
            MlcPart::Caches => {
                let reading = reading.at("state", "HITM").at("sockets", "two").at("home", state.home);
                reading.at("writer", *row).at("reader", column.clone())
            }
            _ => reading.at(state.rows, *row).at("memory", column.clone()),
        })
    };
    let cells = state.columns.iter().zip(&words[1..]).filter(|(_, value)| **value != "-");
    cells.map(cell).collect::<Result<Vec<_>, _>>().map(Some)
}
