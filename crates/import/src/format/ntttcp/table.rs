//! What the programs print: on Linux a list of names and values, on Windows tables one below the other.

use std::collections::BTreeMap;

use super::{MEGABYTE, NtttcpEnd, bits};
use crate::format::SourceText;
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second};
use crate::text::{SourceFault, after, axis_value, called, lines, need, number, shown};

/// Columns of the tables of Windows, which stand a blank apart and have blanks in their names. Longer names come first.
const COLUMNS: [&str; 30] = [
    "Total Throughput(Mbit/s)",
    "Throughput(Buffers/s)",
    "Throughput(Mbit/s)",
    "Throughput(mbps)",
    "Throughput(KB/s)",
    "Throughput(MB/s)",
    "Throughput(Bps)",
    "Total Bytes(MEG)",
    "Total Retransmits",
    "Packets Received",
    "Pkts(sent/intr)",
    "Pkts(num/intr)",
    "Avg Frame Size",
    "Ave Frame Size",
    "Pkts(num/DPC)",
    "Intr(count/s)",
    "DPCs(count/s)",
    "Avg B / Compl",
    "Total Buffers",
    "Total Errors",
    "Packets Sent",
    "Cycles/Byte",
    "Realtime(s)",
    "realtime(s)",
    "Retransmits",
    "Bytes(MEG)",
    "Avg. CPU %",
    "Time(s)",
    "Buffers",
    "Errors",
];

/// What the process whose output is read has said.
#[derive(Default)]
struct NtttcpState<'a> {
    options: Vec<&'a str>,
    linux: bool,
    axes: BTreeMap<&'static str, String>,
    end: NtttcpEnd,
    columns: Vec<&'static str>,
    /// The line of its last figure.
    line: usize,
    /// It has stated its totals.
    totals: bool,
}

pub(super) fn parse(source: &SourceText<'_>) -> Result<SourceSheet, SourceFault> {
    let (mut sheet, mut state, mut above) = (SourceSheet::default(), NtttcpState::default(), "");
    let mut hosts: Vec<(usize, String)> = Vec::new();
    for (at, whole) in lines(source.text) {
        // Its throughput so far is written over with carriage returns.
        let line = whole.rsplit('\r').find(|part| !part.trim().is_empty()).unwrap_or_default().trim();
        let command = call(line).filter(|(_, words)| is_call(words));
        let told = line.split_once(": ").filter(|(stamp, _)| is_stamp(stamp)).map(|(_, told)| told.trim());
        let mut took = told.is_some();
        if let Some((host, words)) = command {
            finish(&mut sheet, &mut state)?;
            hosts.push((sheet.readings.len(), host.unwrap_or_else(|| "-".to_owned())));
            (state.options, took) = (words, true);
        } else if let Some(version) = version(line) {
            if state.totals {
                finish(&mut sheet, &mut state)?;
            }
            state.linux = line.contains("for Linux");
            sheet.version.get_or_insert_with(|| version.to_owned());
            took = true;
        } else if let Some((name, value)) = told.and_then(|told| told.split_once(':')) {
            listed(&mut sheet, &mut state, name.trim(), value.trim(), at)?;
        } else if let Some(told) = told {
            let connections = told.strip_suffix(" connections tested").filter(|count| number(count).is_some());
            state.axes.extend(connections.map(|count| ("connections", axis_value(count))));
        } else if is_rule(line) {
            (state.columns, took) = (columns(above, at - 1)?, true);
            source.took(at - 1);
        } else if line.is_empty() {
            state.columns.clear();
        } else if let Some(setting) = line.split_once(":\t").filter(|_| !state.totals) {
            // -V prints the settings first.
            state.axes.extend((setting.0 == "protocol").then(|| ("protocol", setting.1.trim().to_ascii_lowercase())));
            took = true;
        } else {
            took = line.starts_with("Real-time throughput:") || row(&mut sheet, &mut state, line, at)?;
        }
        if took {
            source.took(at);
        }
        above = line;
    }
    finish(&mut sheet, &mut state)?;
    sheet.tell_apart("host", &hosts);
    Ok(sheet)
}

/// The host of a prompt and the options of a command; on Windows the prompt stands directly before the program.
fn call(line: &str) -> Option<(Option<String>, Vec<&str>)> {
    let windows = || {
        let (before, options) = line.split_once("ntttcp.exe ")?;
        let directly = before.is_empty() || before.ends_with(['\\', '/', '>', ' ']);
        directly.then(|| (None, options.split_whitespace().collect()))
    };
    let prompt = || line.split_once(">ntttcp ").map(|(_, options)| (None, options.split_whitespace().collect()));
    called(line, "ntttcp").or_else(windows).or_else(prompt)
}

/// Sentences and the names of directories name it too.
fn is_call(words: &[&str]) -> bool {
    words.iter().any(|word| word.starts_with("-r") || word.starts_with("-s"))
}

/// `13:44:25 INFO` and what other kinds of lines begin with.
fn is_stamp(stamp: &str) -> bool {
    let (clock, kind) = stamp.split_once(' ').unwrap_or_default();
    clock.split(':').count() == 3 && ["INFO", "DBG", "ERR", "WARN"].contains(&kind.trim())
}

/// `NTTTCP for Linux 1.4.0`, `Copyright Version 5.39`.
fn version(line: &str) -> Option<&str> {
    let version = line.strip_prefix("NTTTCP for Linux ").or_else(|| line.strip_prefix("Copyright Version "));
    version.filter(|version| !version.contains(' '))
}

/// The line of equal signs under a heading.
fn is_rule(line: &str) -> bool {
    line.starts_with("==") && line.split_whitespace().all(|word| word.bytes().all(|byte| byte == b'='))
}

/// A name and its value behind a clock's time.
fn listed(
    sheet: &mut SourceSheet,
    state: &mut NtttcpState<'_>,
    name: &str,
    value: &str,
    at: usize,
) -> Result<(), SourceFault> {
    let percent = || Some(value.trim_end_matches('%').to_owned());
    match name {
        "test duration" if state.totals => {
            finish(sheet, state)?;
            (state.linux, state.totals) = (true, true);
        }
        "test duration" => (state.linux, state.totals) = (true, true),
        "throughput" => {
            let (text, scale) = bits(value, at)?;
            // It prints two decimals of its unit.
            let bytes = need(&text, at)? * scale;
            let reading = SourceReading::new("ntttcp.throughput", "Throughput", bytes, bytes_per_second("bytes"));
            sheet.readings.push(reading.printed_in(&text, scale));
            state.line = at;
        }
        "retrans segs" => state.end.retransmitted = Some(value.to_owned()),
        "cpu busy (all)" | "total cpu time" => state.end.busy = percent(),
        "cycles/byte" => state.end.cycles = Some(value.to_owned()),
        "tcpi rtt" => {
            let text = value.strip_suffix(" us");
            let unknown = || SourceFault::new(format!("the round trip '{}' has no known unit", shown(value)), at);
            state.end.round_trip = Some(text.ok_or_else(unknown)?.to_owned());
        }
        _ => {}
    }
    Ok(())
}

/// The columns of a table of Windows, by its heading.
fn columns(heading: &str, at: usize) -> Result<Vec<&'static str>, SourceFault> {
    let mut rest = heading.trim();
    let mut found = Vec::new();
    // `Thread` stands in the first place only.
    if let Some(others) = rest.strip_prefix("Thread").filter(|others| others.starts_with([' ', '\t'])) {
        (found, rest) = (vec!["Thread"], others.trim_start());
    }
    while !rest.is_empty() {
        let column = COLUMNS.iter().find(|column| rest.starts_with(**column));
        let unknown = || SourceFault::new(format!("its column '{}' is not known", shown(rest)), at);
        let column = *column.ok_or_else(unknown)?;
        found.push(column);
        rest = rest[column.len()..].trim_start();
    }
    Ok(found)
}

/// A row of the open table.
fn row(sheet: &mut SourceSheet, state: &mut NtttcpState<'_>, line: &str, at: usize) -> Result<bool, SourceFault> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if state.columns.is_empty() || words.iter().any(|word| number(word).is_none()) {
        return Ok(line.starts_with("-----"));
    }
    if words.len() != state.columns.len() {
        let (has, names) = (words.len(), state.columns.len());
        return Err(SourceFault::new(format!("the row has {has} values and its heading {names}"), at));
    }
    let columns = state.columns.clone();
    let cell = |name: &str| columns.iter().position(|column| *column == name).map(|place| words[place]);
    if columns[0] == "Thread" {
        return Ok(true);
    }
    let own = |name: &str| cell(name).map(str::to_owned);
    // Early versions print bits. A page may repeat the throughput alone, below the table that it is of.
    let total = [("Throughput(MB/s)", MEGABYTE), ("Total Throughput(Mbit/s)", 125_000.0)];
    let whole = cell("Bytes(MEG)").or_else(|| cell("Total Bytes(MEG)")).is_some();
    if let Some((text, scale)) = total.iter().find_map(|(name, scale)| Some((cell(name)?, *scale))).filter(|_| whole) {
        if state.totals {
            finish(sheet, state)?;
        }
        (state.totals, state.line) = (true, at);
        let value = need(text, at)? * scale;
        let reading = SourceReading::new("ntttcp.throughput", "Throughput", value, bytes_per_second("bytes"));
        sheet.readings.push(reading.printed_in(text, scale));
    }
    let end = &mut state.end;
    end.cycles = own("Cycles/Byte").or_else(|| end.cycles.take());
    end.machine = own("Avg. CPU %").or_else(|| end.machine.take());
    end.retransmitted = own("Retransmits").or_else(|| own("Total Retransmits")).or_else(|| end.retransmitted.take());
    Ok(true)
}

/// Adds what a process has stated, with the settings of its command, and begins the next one.
fn finish(sheet: &mut SourceSheet, state: &mut NtttcpState<'_>) -> Result<(), SourceFault> {
    let state = std::mem::take(state);
    if !state.totals {
        return Ok(());
    }
    let first = sheet.processes.last().copied().unwrap_or_default();
    sheet.readings.extend(state.end.readings(state.line)?);
    let mut axes = state.axes;
    axes.extend(settings(&state.options, state.linux));
    // Only the end that sends counts its connections.
    if axes.contains_key("connections") {
        axes.entry("role").or_insert_with(|| "sender".to_owned());
    }
    for reading in &mut sheet.readings[first..] {
        for (axis, value) in &axes {
            reading.point = std::mem::take(&mut reading.point).with(*axis, value.clone());
        }
    }
    sheet.begin_process();
    Ok(())
}

/// Settings of a command that define its figures; some letters mean one thing on Linux and another on Windows.
fn settings(words: &[&str], linux: bool) -> BTreeMap<&'static str, String> {
    let mut axes = BTreeMap::new();
    let next = |place: usize| words.get(place + 1).filter(|word| !word.starts_with('-')).map(|word| axis_value(word));
    for (place, word) in words.iter().enumerate() {
        let found = match *word {
            "-u" => Some(("protocol", "udp".to_owned())),
            "-6" => Some(("family", "ipv6".to_owned())),
            _ if word.starts_with("-r") && word.len() == 2 => Some(("role", "receiver".to_owned())),
            // The peer may stand directly behind it.
            _ if word.starts_with("-s") && after(word, "-sb").is_none() => Some(("role", "sender".to_owned())),
            "-m" => {
                let threads =
                    words.get(place + 1).and_then(|mapping| mapping.trim_matches(['\'', '"']).split(',').next());
                threads.map(|threads| ("threads", axis_value(threads)))
            }
            "-P" => next(place).map(|value| ("ports", value)),
            "-n" if linux => next(place).map(|value| ("threads_per_port", value)),
            "-l" if linux => next(place).map(|value| ("connections_per_thread", value)),
            "-l" | "-b" => next(place).map(|value| ("buffer", value)),
            "-a" => next(place).map(|value| ("outstanding", value)),
            _ => None,
        };
        axes.extend(found);
    }
    axes
}
