//! Headings, connections and rows of iperf's tables.

use std::collections::HashSet;

use super::{IperfConnection, IperfRow, IperfRun, IperfSide};
use crate::text::{SourceFault, between, lines, need, number, shown};

/// Columns that versions 2 and 3 print.
const KNOWN: [&str; 25] = [
    "Interval",
    "Transfer",
    "Bitrate",
    "Bandwidth",
    "Retr",
    "Cwnd",
    "Jitter",
    "Lost/Total",
    "Datagrams",
    "Total",
    "Write/Err",
    "PPS",
    "Rtry",
    "Cwnd/RTT",
    "NetPwr",
    "Cwnd/RTT(var)",
    "RTT",
    "Reads",
    "Reads=Dist",
    "Latency",
    "avg/min/max/stdev",
    "Rx/inP",
    "Burst",
    "(cnt/size)",
    "inP",
];

/// The columns, each of which must be known.
pub(super) fn heading(run: &mut IperfRun, line: &str, at: usize) -> Result<(), SourceFault> {
    let names = line.trim_start_matches("[ ID]").trim_start_matches("[Role]");
    if let Some(other) = names.split_whitespace().find(|name| !KNOWN.contains(name)) {
        return Err(SourceFault::new(format!("its column '{}' is not known", shown(other)), at));
    }
    run.retransmits = names.contains(" Retr");
    if names.contains("Jitter") || names.contains("Datagrams") {
        run.protocol = "udp";
    }
    Ok(())
}

/// The name in front of a row, and the rest of it.
fn stream(line: &str) -> Option<(&str, &str)> {
    let (stream, rest) = line.strip_prefix('[')?.split_once(']')?;
    Some((stream.trim(), rest))
}

/// `[  4] local 192.0.2.1 port 5001 connected with 192.0.2.2 port 40000 (reverse)`, of version 2.
pub(super) fn connection(line: &str, listening: Option<&str>) -> Option<IperfConnection> {
    let (stream, rest) = stream(line)?;
    let (own, _) = rest.trim_start().strip_prefix("local ")?.split_once(" connected with ")?;
    let port = own.rsplit_once(" port ").map(|(_, port)| port.trim());
    Some(IperfConnection {
        stream: stream.trim_start_matches('*').trim().to_owned(),
        accepted: listening.is_some() && port == listening,
        reverse: rest.contains("(reverse)"),
    })
}

/// Lines with rows of streams that go on: a later interval of the same connection follows.
pub(super) fn continued(text: &str) -> HashSet<usize> {
    let all: Vec<(usize, &str)> = lines(text).collect();
    let (mut later, mut continued): (HashSet<&str>, HashSet<usize>) = Default::default();
    for (at, line) in all.into_iter().rev() {
        let Some((stream, rest)) = stream(line.trim()) else { continue };
        let stream = stream.trim_start_matches('*').trim();
        if rest.contains(" connected with ") {
            later.remove(stream);
            continue;
        }
        if later.contains(stream) {
            continued.insert(at);
        }
        let start = rest.split('-').next().and_then(number);
        if start.is_some_and(|start| start > 0.01) {
            later.insert(stream);
        }
    }
    continued
}

/// Bytes a second in one of each unit.
const UNITS: [(&str, f64); 9] = [
    ("bits/sec", 1.0 / 8.0),
    ("Kbits/sec", 125.0),
    ("Mbits/sec", 125e3),
    ("Gbits/sec", 125e6),
    ("Tbits/sec", 125e9),
    ("Bytes/sec", 1.0),
    ("KBytes/sec", 1024.0),
    ("MBytes/sec", 1_048_576.0),
    ("GBytes/sec", 1_073_741_824.0),
];

/// `[  5][TX-C]   0.00-10.00  sec  276 MBytes  232 Mbits/sec  52  sender`
pub(super) fn row(run: &IperfRun, line: &str, at: usize) -> Result<Option<IperfRow>, SourceFault> {
    let Some((stream, mut rest)) = stream(line) else { return Ok(None) };
    let mut role = "";
    if let Some((name, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        (role, rest) = (name, after);
    }
    // Version 2 pads the end of a short interval: `0.0- 5.0 sec`.
    let rest = rest.replacen("- ", "-", 1).replacen("sec ", " sec ", 1);
    let words: Vec<&str> = rest.split_whitespace().collect();
    let [interval, "sec", _, transferred, value, unit, more @ ..] = &words[..] else { return Ok(None) };
    if !transferred.ends_with("Bytes") {
        return Ok(None);
    }
    let Some((start, end)) = interval.split_once('-').and_then(|(a, b)| Some((number(a)?, number(b)?))) else {
        return Ok(None);
    };
    let scale = UNITS.iter().find(|(name, _)| name == unit).map(|(_, scale)| *scale);
    let scale = scale.ok_or_else(|| SourceFault::new(format!("the unit '{}' is not known", shown(unit)), at))?;
    let side = match more.last() {
        Some(&"sender") => IperfSide::Sender,
        Some(&"receiver") => IperfSide::Receiver,
        _ if run.report => IperfSide::Reported,
        _ => IperfSide::Own,
    };
    let jitter = match more {
        [jitter, "ms", ..] => number(jitter).map(|_| (*jitter).to_owned()),
        _ => None,
    };
    let lost = between(line, "(", "%)").and_then(number).filter(|_| jitter.is_some()).map(|percent| percent / 100.0);
    let retransmits = more.first().filter(|_| run.retransmits && side == IperfSide::Sender);
    Ok(Some(IperfRow {
        stream: stream.trim_start_matches('*').trim().to_owned(),
        starred: stream.starts_with('*'),
        role: role.to_owned(),
        start,
        end,
        bytes_per_second: need(value, at)? * scale,
        side,
        retransmits: retransmits.and_then(|count| number(count)),
        jitter,
        lost,
    }))
}
