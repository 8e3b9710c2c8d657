//! memtier_benchmark: rates and latencies of requests to Redis or memcached, from its table and from its JSON.

mod document;

use std::collections::BTreeMap;

use super::{CodeFormat, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, rate, seconds};
use crate::text::{SourceFault, axis_value, called, lines, need, number, shown};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "memtier",
    tool: "memtier_benchmark",
    about: "operations, data and latency of sets, gets and all together by threads and clients, in its table or its \
            JSON, the percentiles as quantiles; no spread is stated",
    by_lines: true,
    detect: |head| sure(head, &["Type ", "Ops/sec", "Hits/sec", "Misses/sec", "KB/sec"]).max(document::detect(head)),
    parse,
};

/// Bytes of its KB.
const KILOBYTE: f64 = 1024.0;

/// Options of a command that define its figures, with the axes that they become.
const OPTIONS: [(&str, &str, &str); 7] = [
    ("--threads", "-t", "threads"),
    ("--clients", "-c", "clients"),
    ("--pipeline", "--pipeline", "pipeline"),
    ("--data-size", "-d", "payload"),
    ("--ratio", "--ratio", "ratio"),
    ("--protocol", "-P", "protocol"),
    ("--key-pattern", "--key-pattern", "keys"),
];

/// What the process whose table is read has said.
#[derive(Default)]
struct MemtierState {
    axes: BTreeMap<&'static str, String>,
    /// It has been called in a line above.
    called: bool,
    /// Of several runs: the best, the worst, or the average of how many.
    part: Option<&'static str>,
    runs: u32,
    /// Parts that it has stated.
    done: Vec<Option<&'static str>>,
    columns: Vec<String>,
    /// Rows of the distribution are open.
    distribution: bool,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    if source.text.contains("\"Ops/sec\"") {
        return document::parse(source);
    }
    let mut sheet = SourceSheet::default();
    let mut state = MemtierState::default();
    let mut unstated = false;
    for (at, line) in lines(source.text) {
        // Its progress stands before a carriage return.
        let line = line.rsplit('\r').next().unwrap_or_default().trim();
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some((_, options)) = called(line, "memtier_benchmark").filter(|(_, options)| is_command(options)) {
            next(&mut sheet, &mut state);
            state.called = true;
            state.axes = command(&options);
        } else if let [count, "Threads"] = words[..] {
            if !state.done.is_empty() {
                next(&mut sheet, &mut state);
            }
            state.axes.insert("threads", axis_value(count));
        } else if let [count, "Connections", "per", "thread"] = words[..] {
            state.axes.insert("clients", axis_value(count));
        } else if let Some((part, runs)) = part(line) {
            (state.part, state.runs, state.distribution) = (part, runs, false);
        } else if words.first() == Some(&"Type") && line.contains("Ops/sec") {
            if state.done.contains(&state.part) {
                let part = state.part.take();
                next(&mut sheet, &mut state);
                state.part = part;
            }
            state.done.push(state.part);
            state.columns = columns(line, at)?;
        } else if line.starts_with("Request Latency Distribution") {
            (state.distribution, state.columns) = (true, Vec::new());
        } else if let Some(readings) = row(&state, &words, at)? {
            unstated |= !state.called;
            sheet.readings.extend(readings);
        } else if !(line.starts_with("[RUN #") || is_setting(&words) || (state.distribution && is_share(&words))) {
            continue;
        }
        source.took(at);
    }
    if unstated {
        sheet.notes.push("pipelining, payload and the ratio of sets to gets are not printed".to_owned());
    }
    Ok(Parsed::Sheets(vec![sheet]))
}

/// Sentences name it too.
fn is_command(options: &[&str]) -> bool {
    options.iter().any(|word| word.starts_with('-'))
}

fn next(sheet: &mut SourceSheet, state: &mut MemtierState) {
    // Without the lines above a table its settings are those of the one before.
    let axes = std::mem::take(&mut state.axes);
    *state = MemtierState { axes, called: state.called, ..MemtierState::default() };
    sheet.begin_process();
}

/// The title of a table, and how many runs it is of.
fn part(line: &str) -> Option<(Option<&'static str>, u32)> {
    Some(match line {
        "ALL STATS" => (None, 1),
        "BEST RUN RESULTS" => (Some("best"), 1),
        "WORST RUN RESULTS" => (Some("worst"), 1),
        _ => {
            let runs = line.strip_prefix("AGGREGATED AVERAGE RESULTS (")?.strip_suffix(" runs)")?;
            (Some("average"), runs.parse().ok()?)
        }
    })
}

/// `60        Seconds`, `10000     Requests per client`: how long it runs.
fn is_setting(words: &[&str]) -> bool {
    matches!(words, [_, "Seconds"] | [_, "Requests", "per", "client" | "thread"])
}

/// `SET       0.071        0.000`: the share of requests below a latency.
fn is_share(words: &[&str]) -> bool {
    matches!(words, [_, latency, share] if number(latency).is_some() && number(share).is_some())
}

/// Names of columns stand two blanks apart.
fn columns(line: &str, at: usize) -> Result<Vec<String>, SourceFault> {
    let names = line.split("  ").map(str::trim).filter(|name| !name.is_empty());
    let known = names.map(|name| {
        let quantile = name.strip_prefix('p').and_then(|name| name.strip_suffix(" Latency")).and_then(number);
        let plain =
            ["Type", "Ops/sec", "Hits/sec", "Misses/sec", "MOVED/sec", "ASK/sec", "Latency", "Avg. Latency", "KB/sec"];
        if quantile.is_some() || plain.contains(&name) {
            Ok(name.to_owned())
        } else {
            Err(SourceFault::new(format!("its column '{}' is not known", shown(name)), at))
        }
    });
    known.collect()
}

/// A row of the open table: `Sets  4827.17  ---  ---  2.64323 ...`.
fn row(state: &MemtierState, words: &[&str], at: usize) -> Result<Option<Vec<SourceReading>>, SourceFault> {
    let Some(kind) = words.first().filter(|kind| !state.columns.is_empty() && kind.ends_with('s')) else {
        return Ok(None);
    };
    if !["Sets", "Gets", "Waits", "Totals"].contains(kind) && words.get(1).is_none_or(|word| number(word).is_none()) {
        return Ok(None);
    }
    if words.len() != state.columns.len() {
        let (has, names) = (words.len(), state.columns.len());
        return Err(SourceFault::new(format!("the row has {has} values and its heading {names}"), at));
    }
    let cell = |name: &str| state.columns.iter().position(|column| column == name).map(|place| words[place]);
    let operations = cell("Ops/sec").unwrap_or_default();
    let count = need(operations, at)?;
    // Requests of a kind that were not made.
    if count == 0.0 {
        return Ok(Some(Vec::new()));
    }
    let mut readings = vec![
        SourceReading::new("memtier.operations", "Operations", count, rate("operations")).printed_in(operations, 1.0),
    ];
    if let Some(data) = cell("KB/sec").filter(|data| *data != "---") {
        let value = need(data, at)? * KILOBYTE;
        let data =
            SourceReading::new("memtier.data", "Data", value, bytes_per_second("bytes")).printed_in(data, KILOBYTE);
        readings.extend(Some(data).filter(|data| data.value > 0.0));
    }
    if let Some(average) = cell("Avg. Latency").or_else(|| cell("Latency")).filter(|word| *word != "---") {
        readings.push(latency(state, words, average, at)?);
    }
    let hits =
        cell("Hits/sec").zip(cell("Misses/sec")).and_then(|(hits, misses)| Some((number(hits)?, number(misses)?)));
    let share = hits.filter(|(hits, misses)| hits + misses > 0.0).map(|(hits, misses)| hits / (hits + misses) * 100.0);
    let axes = state.axes.iter().map(|(axis, value)| (*axis, value.clone())).collect::<Vec<_>>();
    Ok(Some(placed(readings, kind, &axes, (state.part, state.runs), share)))
}

/// Sets what all figures of one kind of request have in common: its kind, the settings, the part of several runs, and
/// the percentage of keys that were found.
fn placed(
    readings: Vec<SourceReading>,
    kind: &str,
    axes: &[(&str, String)],
    (part, runs): (Option<&str>, u32),
    share: Option<f64>,
) -> Vec<SourceReading> {
    let place = |reading: SourceReading| {
        let reading = reading.at("type", axis_value(&kind.to_ascii_lowercase())).counts(1, runs);
        let reading = axes.iter().fold(reading, |reading, (axis, value)| reading.at(axis, value.clone()));
        let reading = part.map_or_else(|| reading.clone(), |part| reading.clone().at("run", part));
        match share {
            Some(share) => reading.note(format!("{share:.1}% of its gets found their key")),
            None => reading,
        }
    };
    readings.into_iter().map(place).collect()
}

/// Milliseconds.
fn latency(state: &MemtierState, words: &[&str], average: &str, at: usize) -> Result<SourceReading, SourceFault> {
    let value = need(average, at)? * 1e-3;
    let mut reading = SourceReading::new("memtier.latency", "Latency, average", value, seconds("request"));
    reading = reading.printed_in(average, 1e-3);
    for (column, word) in state.columns.iter().zip(words) {
        let quantile = column.strip_prefix('p').and_then(|name| name.strip_suffix(" Latency")).and_then(number);
        if let Some(percent) = quantile.filter(|_| *word != "---") {
            reading.quantiles.push((percent / 100.0, need(word, at)? * 1e-3));
        }
    }
    Ok(reading)
}

/// Settings of a command that define its figures.
fn command(words: &[&str]) -> BTreeMap<&'static str, String> {
    let mut axes = BTreeMap::new();
    for (place, word) in words.iter().enumerate() {
        let (name, inside) = word.split_once('=').map_or((*word, None), |(name, value)| (name, Some(value)));
        let Some((.., axis)) = OPTIONS.iter().find(|(long, short, _)| name == *long || name == *short) else {
            continue;
        };
        if let Some(value) = inside.or_else(|| words.get(place + 1).copied()) {
            let unit = if *axis == "payload" && value.parse::<u64>().is_ok() { "B" } else { "" };
            axes.insert(*axis, axis_value(value) + unit);
        }
    }
    axes
}
