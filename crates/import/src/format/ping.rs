//! ping of Linux, the BSDs and busybox: the summary of round trips to one host.

use model::{Metric, Unit};

use super::{CodeFormat, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, seconds};
use crate::text::{SourceFault, axis_value, between, called, lines, need, number, shown};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "ping",
    tool: "ping",
    about: "the average round trip to each host, least and greatest of one process as the range, and the share of packets \
            that were lost",
    by_lines: true,
    detect: |head| sure(head, &["ping statistics", "packet loss"]),
    parse,
};

/// Options that define what is measured, with the axes that they become.
const OPTIONS: [(&str, &str); 3] = [("-i", "interval"), ("-Q", "tos"), ("-I", "interface")];

/// The process whose output is read.
#[derive(Default)]
struct PingProcess {
    /// The host, once it is known.
    peer: String,
    payload: String,
    options: Vec<(&'static str, String)>,
    /// Packets that came back.
    received: Option<u32>,
    /// The line on which it began, until its summary is complete.
    open: Option<usize>,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let mut process = PingProcess::default();
    // The host of each prompt, with the number of readings before it.
    let mut hosts: Vec<(usize, String)> = Vec::new();
    for (at, line) in lines(source.text) {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("PING ") {
            cut_off(&process)?;
            process = PingProcess { options: process.options, open: Some(at), ..PingProcess::default() };
            (process.peer, process.payload) = begun(rest);
            sheet.begin_process();
        } else if let Some(peer) = statistics(line) {
            if process.open.is_none() {
                // A page may leave out what stands above.
                process = PingProcess { options: process.options, open: Some(at), ..PingProcess::default() };
                sheet.begin_process();
            }
            process.peer = axis_value(peer);
        } else if line.contains("packet loss") {
            if process.open.is_none() {
                return Err(SourceFault::new("this summary does not name its host", at));
            }
            sheet.readings.push(loss(&mut process, line, at)?);
        } else if let Some(rest) = line.strip_prefix("rtt ").or_else(|| line.strip_prefix("round-trip ")) {
            sheet.readings.push(round_trip(&process, rest, at)?);
            if rest.contains("ipg/ewma") {
                sheet.process_at("pace", "no pause");
            }
            process = PingProcess::default();
        } else if let Some((host, options)) = called(line, "ping").filter(|(_, options)| is_command(options)) {
            cut_off(&process)?;
            hosts.push((sheet.readings.len(), host.unwrap_or_else(|| "-".to_owned())));
            process = PingProcess { options: command(&options), ..PingProcess::default() };
        } else if !is_reply(line) {
            continue;
        }
        source.took(at);
    }
    cut_off(&process)?;
    sheet.tell_apart("host", &hosts);
    sheet.notes.push(
        "the pause between packets is not printed, unless a command stands above: short ones are faster".to_owned(),
    );
    Ok(Parsed::Sheets(vec![sheet]))
}

/// Refuses a process without a summary.
fn cut_off(process: &PingProcess) -> Result<(), SourceFault> {
    match process.open {
        Some(at) => Err(SourceFault::new("the run that begins here has no summary", at)),
        None => Ok(()),
    }
}

/// `localhost (127.0.0.1) 56(84) bytes of data.`, `host (1.2.3.4): 56 data bytes`: the host and the payload.
fn begun(rest: &str) -> (String, String) {
    let peer = rest.split([' ', '(']).next().unwrap_or_default().trim_end_matches(':');
    let words: Vec<&str> = rest.split_whitespace().collect();
    let count = |word: &str| word.split('(').next().and_then(|digits| digits.parse::<u64>().ok());
    let ends = |place: usize| {
        words[place + 1..].starts_with(&["bytes", "of"]) || words[place + 1..].starts_with(&["data", "bytes"])
    };
    let size = (0..words.len()).rev().find_map(|place| count(words[place]).filter(|_| ends(place)));
    (axis_value(peer), size.map(|size| format!("{size}B")).unwrap_or_default())
}

/// `--- localhost ping statistics ---`; a mail program may take the dashes away.
fn statistics(line: &str) -> Option<&str> {
    let (peer, _) = line.split_once(" ping statistics")?;
    Some(peer.trim_start_matches('-').trim())
}

/// `3 packets transmitted, 3 received, +1 errors, 0% packet loss, time 208ms`
fn loss(process: &mut PingProcess, line: &str, at: usize) -> Result<SourceReading, SourceFault> {
    let parts: Vec<&str> = line.split(',').map(str::trim).collect();
    let share = parts.iter().find_map(|part| part.strip_suffix("packet loss")?.trim().strip_suffix('%'));
    let share = share.ok_or_else(|| SourceFault::new("the line does not state a share of lost packets", at))?;
    let count = |end: &str| {
        let part = parts.iter().find(|part| part.ends_with(end) && !part.starts_with('+'));
        part.and_then(|part| part.split_whitespace().next()?.parse::<u32>().ok())
    };
    let received = count("received");
    process.received = received;
    if received == Some(0) {
        process.open = None;
    }
    let sent = count("transmitted");
    let metric = Metric::lower(Unit::Ratio, "packets");
    let value = match sent.zip(received) {
        // The share is printed in whole percents by some: of what it counts, it follows exactly.
        Some((sent, received)) if sent > 0 && received <= sent => f64::from(sent - received) / f64::from(sent),
        _ => need(share, at)? / 100.0,
    };
    let reading = SourceReading::new("ping.loss", "Lost packets", value, metric).counts(1, sent.unwrap_or(1));
    Ok(placed(process, reading))
}

/// `min/avg/max/mdev = 0.036/0.042/0.045/0.004 ms, ipg/ewma 0.012/0.006 ms`
fn round_trip(process: &PingProcess, line: &str, at: usize) -> Result<SourceReading, SourceFault> {
    if process.open.is_none() {
        return Err(SourceFault::new("these round trips do not name their host", at));
    }
    let (names, rest) = line.split_once('=').ok_or_else(|| SourceFault::new("the line ends early", at))?;
    let mut words = rest.split_whitespace();
    let (values, unit) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let unit = unit.trim_end_matches(',');
    let scale = match unit {
        "ms" => 1e-3,
        "us" => 1e-6,
        "s" => 1.0,
        other => return Err(SourceFault::new(format!("its unit '{}' is not known", shown(other)), at)),
    };
    let (names, values): (Vec<&str>, Vec<&str>) = (names.trim().split('/').collect(), values.split('/').collect());
    if names.len() != values.len() {
        return Err(SourceFault::new("the line has more names than values, or fewer", at));
    }
    let cell = |name: &str| {
        let place = names.iter().position(|known| *known == name);
        place.map(|place| values[place]).ok_or_else(|| SourceFault::new(format!("it does not state '{name}'"), at))
    };
    let average = cell("avg")?;
    let (least, greatest) = (need(cell("min")?, at)? * scale, need(cell("max")?, at)? * scale);
    let metric = seconds("round trip");
    let mut reading = SourceReading::new("ping.round_trip", "Round trip", need(average, at)? * scale, metric);
    reading = reading.printed_in(average, scale);
    let received = process.received.unwrap_or(1);
    if received > 1 {
        reading = reading.spread(SourceSpread::Range(least, greatest)).counts(1, received);
    }
    if let Some(deviation) = ["mdev", "stddev", "std-dev"].iter().find_map(|name| cell(name).ok()) {
        reading = reading.note(format!("its deviation over packets of one process: {} {unit}", shown(deviation)));
    }
    Ok(placed(process, reading))
}

fn placed(process: &PingProcess, reading: SourceReading) -> SourceReading {
    let axes = [("peer", process.peer.as_str()), ("payload", &process.payload)];
    let stated = axes.into_iter().filter(|(_, value)| !value.is_empty());
    let reading = stated.fold(reading, |reading, (axis, value)| reading.at(axis, value));
    process.options.iter().fold(reading, |reading, (axis, value)| reading.at(axis, value.clone()))
}

/// A prompt with options or a host, and no sentence: those have words without a dash or a digit and a dot.
fn is_command(options: &[&str]) -> bool {
    options.iter().any(|word| word.starts_with('-'))
}

fn command(words: &[&str]) -> Vec<(&'static str, String)> {
    let find = |(option, axis): &(&str, &'static str)| {
        let value = words.iter().enumerate().find_map(|(place, word)| {
            let inside = word.strip_prefix(option)?;
            if inside.is_empty() { words.get(place + 1).copied() } else { Some(inside) }
        })?;
        let unit = if *axis == "interval" && number(value).is_some() { "s" } else { "" };
        Some((*axis, axis_value(value) + unit))
    };
    OPTIONS.iter().filter_map(find).collect()
}

/// A line for one packet, of which the summary follows.
fn is_reply(line: &str) -> bool {
    let replied = between(line, "seq", "ttl=").or_else(|| between(line, "seq", "time")).is_some();
    (replied && line.contains(" bytes from "))
        || line.contains("no answer yet for icmp_seq")
        || line.starts_with("Request timeout for icmp_seq")
        || (line.starts_with("From ") && line.contains("icmp_seq"))
}
