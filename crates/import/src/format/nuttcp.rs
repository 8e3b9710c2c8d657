//! nuttcp: the last line of each transfer, as words, as `KEY=value` (-fparse), or of both ends in turn (-v).

use std::collections::BTreeMap;

use model::{Better, Metric, Unit};

use super::{CodeFormat, Confidence, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, metric, seconds};
use crate::text::{SourceFault, axis_value, between, called, lines, need, number, shown};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "nuttcp",
    tool: "nuttcp",
    about: "bandwidth, CPU use of both ends, retransmissions, round trip and loss of each transfer; no spread is stated",
    by_lines: true,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    let words = sure(head, &[" MB / ", " sec = ", " Mbps "]).max(sure(head, &["nuttcp-t:", "Mbps"]));
    words.max(sure(head, &["megabytes=", "real_seconds=", "rate_Mbps="]))
}

/// Options that define what is measured: their letters, the axis that they become, and the value where they take none.
const OPTIONS: [(&str, &str, Option<&str>); 9] = [
    ("-u", "protocol", Some("udp")),
    ("-r", "direction", Some("receive")),
    ("-D", "delay", Some("off")),
    ("-N", "streams", None),
    ("-ws", "server_window", None),
    ("-w", "window", None),
    ("-l", "buffer", None),
    ("-R", "limit", None),
    ("-M", "mss", None),
];

/// Words that stand before or behind a number of the last line, and the member that they mean in `KEY=value`.
const UNITS: [(&str, &str); 10] = [
    ("Mbps", "rate_Mbps"),
    ("%TX", "tx_cpu"),
    ("%RX", "rx_cpu"),
    ("retrans", "retrans"),
    ("msRTT", "rtt_ms"),
    ("drop/pkt", "pkt"),
    ("%loss", "data_loss"),
    ("KB-cwnd", "cwnd"),
    ("msMaxJitter", "msmaxjitter"),
    ("msAvgJitter", "msavgjitter"),
];

/// Settings of a transfer: those of its command, and what it says of itself.
type Axes = BTreeMap<&'static str, String>;

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let (mut axes, mut unstated) = (Axes::new(), false);
    let mut pair = NuttcpEnds::default();
    // The host of each prompt, with the number of readings before it.
    let mut hosts: Vec<(usize, String)> = Vec::new();
    // The line of an interval whose transfer has no last line yet.
    let mut open = None;
    for (at, line) in lines(source.text) {
        let line = line.trim();
        let brief = line.contains(" MB / ") && line.contains(" sec = ");
        if let Some((host, words)) = called(line, "nuttcp").filter(|(_, words)| !words.contains(&"-S")) {
            axes = command(&words);
            hosts.push((sheet.readings.len(), host.unwrap_or_else(|| "-".to_owned())));
        } else if let Some(end) = ENDS.into_iter().find(|end| line.starts_with(end)) {
            if line.contains(": socket") && pair.begins(end) {
                sheet.begin_process();
            }
            sheet.readings.extend(pair.line(end, line, at)?.map(|reading| placed(reading, &[&pair.axes, &axes])));
        } else if brief || line.starts_with("megabytes=") {
            let found = if brief { worded(line, at)? } else { members(line) };
            open = Some(at).filter(|_| !found.contains_key("tx_cpu"));
            if open.is_none() {
                sheet.begin_process();
                sheet.readings.extend(readings(&found, &axes, at)?);
                unstated |= axes.is_empty();
            }
        } else {
            continue;
        }
        source.took(at);
    }
    if let Some(place) = open {
        return Err(SourceFault::new("the transfer of this interval has no last line", place));
    }
    sheet.tell_apart("host", &hosts);
    if unstated {
        sheet.notes.push("direction, streams and sizes are not printed without -v".to_owned());
    }
    Ok(Parsed::Sheets(vec![sheet]))
}

/// Settings of a command, whose options stand with their value or before it.
fn command(words: &[&str]) -> Axes {
    let mut axes = Axes::new();
    for (place, word) in words.iter().enumerate() {
        let Some((option, axis, fixed)) = OPTIONS.iter().find(|(option, ..)| word.starts_with(option)) else {
            continue;
        };
        let inside = &word[option.len()..];
        let value = match fixed {
            Some(fixed) => *fixed,
            None if inside.is_empty() => words.get(place + 1).copied().unwrap_or_default(),
            None => inside,
        };
        let unit = if *axis == "buffer" && value.parse::<u64>().is_ok() { "B" } else { "" };
        axes.insert(axis, axis_value(value) + unit);
    }
    // The host stands last.
    if let Some(peer) = words.last().filter(|word| !word.starts_with('-')) {
        axes.insert("peer", axis_value(peer));
    }
    axes
}

/// Members of `-fparse`.
fn members(line: &str) -> BTreeMap<&str, &str> {
    line.split_whitespace().filter_map(|word| word.split_once('=')).collect()
}

/// `68.7 MB /  10.15 sec =   56.7987 Mbps 7 %TX 6 %RX 0 retrans 94 KB-cwnd 4.79 msRTT`: each number before its unit.
fn worded(line: &str, at: usize) -> Result<BTreeMap<&str, &str>, SourceFault> {
    let (_, rest) = line.split_once(" sec = ").unwrap_or_default();
    let words: Vec<&str> = rest.split_whitespace().collect();
    let mut found = BTreeMap::new();
    let mut place = 0;
    while place < words.len() {
        // `1485 / 259593 drop/pkt`
        let lost = words.get(place + 1) == Some(&"/");
        if lost {
            found.insert("drop", words[place]);
            place += 2;
        }
        let (Some(value), Some(unit)) = (words.get(place), words.get(place + 1)) else {
            return Err(SourceFault::new("the line ends early", at));
        };
        let known = UNITS.iter().find(|(known, _)| known == unit);
        let (_, name) =
            known.ok_or_else(|| SourceFault::new(format!("its unit '{}' is not known", shown(unit)), at))?;
        found.insert(name, value);
        place += 2;
    }
    Ok(found)
}

/// The figures of one transfer.
fn readings(found: &BTreeMap<&str, &str>, axes: &Axes, at: usize) -> Result<Vec<SourceReading>, SourceFault> {
    let mut own = Axes::new();
    own.insert("protocol", if found.contains_key("pkt") { "udp" } else { "tcp" }.to_owned());
    let share = || metric(Unit::Ratio, "CPU time", Better::Lower);
    let figures: [(&str, &str, &str, f64, Metric); 6] = [
        ("rate_Mbps", "bandwidth", "Bandwidth", 125_000.0, bytes_per_second("bytes")),
        ("tx_cpu", "cpu_sender", "CPU use of the sender", 0.01, share()),
        ("rx_cpu", "cpu_receiver", "CPU use of the receiver", 0.01, share()),
        ("retrans", "retransmissions", "Retransmissions", 1.0, metric(Unit::Count, "transfer", Better::Lower)),
        ("rtt_ms", "round_trip", "Round trip while connecting", 1e-3, seconds("round trip")),
        ("data_loss", "loss", "Lost packets", 0.01, metric(Unit::Ratio, "packets", Better::Lower)),
    ];
    if !found.contains_key("rate_Mbps") {
        return Err(SourceFault::new("the line states no rate", at));
    }
    let mut readings = Vec::new();
    for (name, id, title, scale, metric) in figures {
        let Some(word) = found.get(name) else { continue };
        let value = need(word, at)?;
        let mut reading = SourceReading::new(format!("nuttcp.{id}"), title, value * scale, metric);
        reading = reading.printed_in(word, scale);
        if name.ends_with("_cpu") {
            reading = whole_percents(reading);
        }
        let lost = found.get("drop").zip(found.get("pkt")).and_then(|(lost, all)| Some((number(lost)?, number(all)?)));
        if let Some((lost, all)) = lost.filter(|(_, all)| name == "data_loss" && *all > 0.0) {
            (reading.value, reading.below, reading.rounding) = (lost / all, None, None);
        }
        readings.push(placed(reading, &[&own, axes]));
    }
    Ok(readings)
}

/// With -v each end says how it ran, the local one first.
const ENDS: [&str; 2] = ["nuttcp-t:", "nuttcp-r:"];

/// What both ends of a transfer say of their settings.
#[derive(Default)]
struct NuttcpEnds {
    seen: Vec<&'static str>,
    axes: Axes,
}

impl NuttcpEnds {
    /// An end begins to speak: whether a transfer does.
    fn begins(&mut self, end: &'static str) -> bool {
        let new = self.seen.is_empty() || self.seen.len() == ENDS.len() || self.seen.contains(&end);
        if new {
            *self = Self::default();
            if end == "nuttcp-r:" {
                self.axes.insert("direction", "receive".to_owned());
            }
        }
        self.seen.push(end);
        new
    }

    /// Settings, or a result.
    fn line(&mut self, end: &str, line: &str, at: usize) -> Result<Option<SourceReading>, SourceFault> {
        let sends = end == "nuttcp-t:";
        let reading = |id: &str, title: &str, word: &str, scale: f64, metric: Metric| {
            let reading = SourceReading::new(format!("nuttcp.{id}"), title, need(word, at)? * scale, metric);
            Ok(Some(reading.printed_in(word, scale)))
        };
        if let Some(count) = between(line, "nstream=", ",") {
            self.axes.insert("streams", axis_value(count));
            self.axes.insert("protocol", if line.contains(" udp") { "udp" } else { "tcp" }.to_owned());
            let size = between(line, "buflen=", ",").unwrap_or_default();
            self.axes.insert("buffer", axis_value(size) + "B");
        } else if let Some((_, limit)) = line.split_once("rate limit =") {
            self.axes.insert("limit", axis_value(limit.split(',').next().unwrap_or_default()));
        } else if let Some((_, rate)) = line.split_once("KB/sec = ") {
            let word = rate.trim().strip_suffix("Mbps").map(str::trim);
            let word = word.ok_or_else(|| SourceFault::new("the rate lacks its unit", at))?;
            let (id, title) = if sends { ("sent", "Sent") } else { ("received", "Received") };
            return reading(id, title, word, 125_000.0, bytes_per_second("bytes"));
        } else if let Some((_, count)) = line.split_once("retrans =") {
            let metric = metric(Unit::Count, "transfer", Better::Lower);
            return reading("retransmissions", "Retransmissions", count.trim(), 1.0, metric);
        } else if let Some(word) = between(line, "drop/pkt", "% data loss") {
            return reading("loss", "Lost packets", word, 0.01, metric(Unit::Ratio, "packets", Better::Lower));
        } else if let Some(word) = between(line, "real ", "%") {
            let (id, title) = if sends { ("cpu_sender", "sender") } else { ("cpu_receiver", "receiver") };
            let metric = metric(Unit::Ratio, "CPU time", Better::Lower);
            let found = reading(id, &format!("CPU use of the {title}"), word, 0.01, metric)?;
            return Ok(found.map(whole_percents));
        }
        Ok(None)
    }
}

/// Half a percent is the least that is printed.
fn whole_percents(mut reading: SourceReading) -> SourceReading {
    if reading.value == 0.0 {
        reading.below = Some(0.005);
    }
    reading
}

/// On the axes of all, of which the later ones are more certain.
fn placed(reading: SourceReading, axes: &[&Axes]) -> SourceReading {
    let all = axes.iter().flat_map(|axes| axes.iter());
    all.fold(reading, |reading, (axis, value)| reading.at(axis, value.clone()))
}
