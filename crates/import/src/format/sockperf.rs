//! sockperf: latency of messages, with the distribution over the messages of one process.

use model::{Metric, Unit};

use super::{ImportFormat, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, rate, seconds};
use crate::text::{SourceFault, after, axis_value, between, lines, need, number, plain};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "sockperf",
    tool: "sockperf",
    about: "latency with its quantiles, message rate; the standard deviation is of single messages of one process and \
            no interval of the mean, so it is kept as a note",
    by_lines: true,
    detect: |head| sure(head, &["sockperf: "]),
    parse,
};

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let text = plain(source.text);
    let mut sheet = SourceSheet::default();
    let (mut protocol, mut deviation, mut size) = (String::new(), None, String::new());
    // Options of the command, where a log has it above the output.
    let mut options: Vec<(&str, String)> = Vec::new();
    let mut asked: Vec<(&str, String)> = Vec::new();
    for (at, line) in lines(&text) {
        let line = line.trim();
        if let Some(version) = between(line, "== version #", "==") {
            sheet.version = Some(version.trim().to_owned());
            sheet.begin_process();
            (protocol, deviation, size) = (String::new(), None, String::new());
            options = std::mem::take(&mut asked);
        } else if let Some(found) = command(line) {
            asked = found;
        } else if let Some(bytes) = between(line, "using msg-size=", ".") {
            size = format!("{}B", axis_value(bytes));
        } else if line.contains("PORT =") {
            let word = line.rsplit('#').next().unwrap_or_default().trim().to_ascii_lowercase();
            protocol = if ["tcp", "udp"].contains(&word.as_str()) { word } else { "other".to_owned() };
        } else if let Some(words) = between(line, "(std-dev=", ")") {
            deviation = words.split([',', ')']).next().and_then(number);
        } else if let Some((name, value)) = summary(line) {
            let Some(mut reading) = summarised(name, need(value, at)?) else { continue };
            if let Some(deviation) = deviation.take() {
                reading = reading.note(format!("standard deviation of single messages {deviation} us"));
            }
            if size.is_empty() && !options.iter().any(|(axis, _)| *axis == "message") {
                reading = reading.note("the size of its messages is not printed");
            }
            sheet.readings.push(placed(reading, &protocol, &size, &options));
        } else if let Some(rest) = after(line, "Summary: BandWidth is") {
            let value = need(rest.split_whitespace().next().unwrap_or_default(), at)? * 1_048_576.0;
            let reading = SourceReading::new("sockperf.bandwidth", "Bandwidth", value, bytes_per_second("bytes"));
            sheet.readings.push(placed(reading, &protocol, &size, &options));
        } else if let Some((quantile, value)) = quantile(line) {
            if let Some(reading) = sheet.readings.last_mut() {
                reading.quantiles.push((quantile, value * 1e-6));
            }
        } else if let Some(dropped) = dropped(line) {
            sheet.readings.push(placed(dropped, &protocol, &size, &options));
        } else if !NOTHING.iter().any(|words| line.contains(words)) {
            continue;
        }
        source.took(at);
    }
    Ok(Parsed::Sheets(vec![sheet]))
}

/// What a line of the summary states.
fn summarised(name: &str, value: f64) -> Option<SourceReading> {
    let time = |id, title| SourceReading::new(id, title, value * 1e-6, seconds("message"));
    match name {
        "Latency" => Some(time("sockperf.latency", "One-way latency (half a round trip)")),
        "Round trip" => Some(time("sockperf.round_trip", "Round trip")),
        "Message Rate" => Some(SourceReading::new("sockperf.message_rate", "Message rate", value, rate("messages"))),
        _ => None,
    }
}

/// Settings that define the figure.
fn placed(reading: SourceReading, protocol: &str, size: &str, options: &[(&'static str, String)]) -> SourceReading {
    let reading = if protocol.is_empty() { reading } else { reading.at("protocol", protocol) };
    let reading = options.iter().fold(reading, |reading, (axis, value)| reading.at(axis, value.clone()));
    if size.is_empty() { reading } else { reading.at("message", size) }
}

/// Mode, size of messages and rate of a command: `sockperf ping-pong --tcp -i 192.0.2.1 -m 64`.
fn command(line: &str) -> Option<Vec<(&'static str, String)>> {
    // A page sets commands as code.
    let line = line.replace('`', " ");
    let all: Vec<&str> = line.split_whitespace().collect();
    let at = all.iter().position(|word| *word == "sockperf" || word.ends_with("/sockperf"))?;
    let (before, words) = (&all[..at], &all[at + 1..]);
    let mode = match *words.first()? {
        "ping-pong" | "pp" => "ping-pong",
        "under-load" | "ul" => "under-load",
        "throughput" | "tp" => "throughput",
        "playback" | "pb" => "playback",
        _ => return None,
    };
    let mut found = vec![("mode", mode.to_owned())];
    // Libraries that are loaded before it take the place of the kernel's sockets.
    let environment: Vec<&str> = before.iter().filter(|word| is_assignment(word)).copied().collect();
    if !environment.is_empty() {
        found.push(("environment", axis_value(&environment.join(" "))));
    }
    for (at, word) in words.iter().enumerate() {
        let (name, value) = word.split_once('=').unwrap_or((word, words.get(at + 1).copied().unwrap_or_default()));
        let (axis, value) = match name {
            "-m" | "--msg-size" => ("message", format!("{}B", axis_value(value))),
            "--mps" | "--pps" => ("rate", axis_value(value)),
            _ => continue,
        };
        // The last of an option counts.
        found.retain(|(known, _)| *known != axis);
        found.push((axis, value));
    }
    Some(found)
}

/// Whether a word sets a variable of the environment: `LD_PRELOAD=libvma.so`.
fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Words of lines that state nothing to keep: addresses, progress, counts behind the results.
const NOTHING: [&str; 10] = [
    "Printing statistics",
    "IP = ",
    "using ",
    "Warmup stage",
    "Starting test",
    "Test end",
    "[Total Run]",
    "[Valid Duration]",
    "Total ",
    "# dropped messages",
];

/// `sockperf: Summary: Latency is 2.226 usec`, `sockperf: Summary: Message Rate is 1234 [msg/sec]`.
fn summary(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = after(line, "Summary:")?.split_once(" is ")?;
    let value = rest.split_whitespace().next()?;
    ["Latency", "Round trip", "Message Rate"].contains(&name.trim()).then_some((name.trim(), value))
}

/// `sockperf: # dropped messages = 3; # duplicated messages = 0`; zero gives no figure.
fn dropped(line: &str) -> Option<SourceReading> {
    let dropped = between(line, "# dropped messages =", ";").and_then(number).filter(|dropped| *dropped > 0.0)?;
    let metric = Metric::lower(Unit::Count, "messages dropped");
    Some(SourceReading::new("sockperf.dropped", "Messages dropped", dropped, metric))
}

/// `---> percentile 99.000 =  2.369`, `---> <MAX> observation =  532.330`.
fn quantile(line: &str) -> Option<(f64, f64)> {
    let (name, value) = after(line, "--->")?.split_once('=')?;
    let value = number(value)?;
    let quantile = match name.trim() {
        "<MAX> observation" => 1.0,
        "<MIN> observation" => 0.0,
        name => number(name.strip_prefix("percentile")?)? / 100.0,
    };
    Some((quantile, value))
}
