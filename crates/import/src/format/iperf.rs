//! iperf 2 and 3 on the terminal: the rate over the whole test of each direction.

use model::{Metric, Unit};

use super::{Confidence, ImportFormat, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second};
use crate::text::{SourceFault, axis_value, between, lines, need, number, shown};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "iperf",
    tool: "iperf",
    about: "the terminal's output of versions 2 and 3: bytes a second over the whole test, sent and received, retransmits, \
            jitter and loss",
    by_lines: true,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    let newer = sure(head, &["[ ID]", "Interval ", "Transfer ", "Bitrate"]);
    newer.max(sure(head, &["[ ID]", "Interval ", "Transfer ", "Bandwidth"]))
}

/// A row of the table.
struct IperfRow {
    stream: String,
    role: String,
    start: f64,
    end: f64,
    bytes_per_second: f64,
    /// `sender`, `receiver`, or empty in version 2.
    side: &'static str,
    retransmits: Option<f64>,
    jitter: Option<f64>,
    lost: Option<f64>,
}

/// The process whose output is read.
#[derive(Default)]
struct IperfRun {
    rows: Vec<IperfRow>,
    protocol: &'static str,
    reverse: bool,
    retransmits: bool,
    report: bool,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let mut run = IperfRun::default();
    for (at, line) in lines(source.text) {
        let trimmed = line.trim();
        if ["Client connecting to", "Connecting to host", "Server listening on", "Accepted connection"]
            .iter()
            .any(|begin| trimmed.starts_with(begin))
        {
            if !run.rows.is_empty() || !trimmed.starts_with("Accepted") {
                finish(&mut sheet, std::mem::take(&mut run));
                sheet.begin_process();
            }
            run.protocol = if trimmed.contains("UDP") { "udp" } else { "tcp" };
        } else if let Some(version) = trimmed.strip_prefix("iperf ") {
            sheet.version = version.split_whitespace().next().map(str::to_owned);
        } else if trimmed.starts_with("Reverse mode") {
            run.reverse = true;
        } else if trimmed.starts_with("[ ID]") {
            heading(&mut run, trimmed, at)?;
        } else if trimmed.contains("Server Report:") {
            run.report = true;
        } else if let Some(row) = row(&run, trimmed, at)? {
            run.rows.push(row);
        } else if !is_detail(trimmed) {
            continue;
        }
        source.took(at);
    }
    finish(&mut sheet, run);
    Ok(Parsed::Sheets(vec![sheet]))
}

fn is_detail(line: &str) -> bool {
    [
        "connected",
        "buffer size",
        "window size",
        "datagrams",
        "Sending ",
        "Sent ",
        "omitted",
        "CPU Utilization",
        "Cookie",
        "Test Complete",
        "Starting Test",
        "TCP MSS",
        "snd_tcp",
        "rcv_tcp",
        "Control connection",
    ]
    .iter()
    .any(|words| line.contains(words))
}

/// The columns, each of which must be known.
fn heading(run: &mut IperfRun, line: &str, at: usize) -> Result<(), SourceFault> {
    let names = line.trim_start_matches("[ ID]").trim_start_matches("[Role]");
    let known = [
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
    ];
    if let Some(other) = names.split_whitespace().find(|name| !known.contains(name)) {
        return Err(SourceFault::new(format!("its column '{}' is not known", shown(other)), at));
    }
    run.retransmits = names.contains(" Retr");
    if names.contains("Jitter") || names.contains("Datagrams") {
        run.protocol = "udp";
    }
    Ok(())
}

/// `[  5][TX-C]   0.00-10.00  sec  276 MBytes  232 Mbits/sec  52  sender`
fn row(run: &IperfRun, line: &str, at: usize) -> Result<Option<IperfRow>, SourceFault> {
    let Some((stream, mut rest)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) else {
        return Ok(None);
    };
    let mut role = "";
    if let Some((name, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        (role, rest) = (name, after);
    }
    // Version 2 pads the end of a short interval: `0.0- 5.0 sec`.
    let rest = rest.replacen("- ", "-", 1);
    let words: Vec<&str> = rest.split_whitespace().collect();
    let [interval, "sec", _, transferred, value, unit, more @ ..] = &words[..] else { return Ok(None) };
    if !transferred.ends_with("Bytes") {
        return Ok(None);
    }
    let Some((start, end)) = interval.split_once('-').and_then(|(a, b)| Some((number(a)?, number(b)?))) else {
        return Ok(None);
    };
    let units = [
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
    let scale = units.iter().find(|(name, _)| name == unit).map(|(_, scale)| *scale);
    let scale = scale.ok_or_else(|| SourceFault::new(format!("the unit '{}' is not known", shown(unit)), at))?;
    let side = match more.last() {
        Some(&"sender") => "sender",
        Some(&"receiver") => "receiver",
        _ if run.report => "receiver",
        _ => "",
    };
    let jitter = match more {
        [jitter, "ms", ..] => number(jitter).map(|jitter| jitter * 1e-3),
        _ => None,
    };
    let lost = between(line, "(", "%)").and_then(number).filter(|_| jitter.is_some()).map(|percent| percent / 100.0);
    let retransmits = more.first().filter(|_| run.retransmits && side == "sender").and_then(|count| number(count));
    Ok(Some(IperfRow {
        stream: stream.trim().to_owned(),
        role: role.to_owned(),
        start,
        end,
        bytes_per_second: need(value, at)? * scale,
        side,
        retransmits,
        jitter,
        lost,
    }))
}

/// The rows over the whole test: of the sum of all streams where it is printed.
fn finish(sheet: &mut SourceSheet, run: IperfRun) {
    let longest = run.rows.iter().map(|row| row.end).fold(0.0, f64::max);
    let sides = run.rows.iter().any(|row| !row.side.is_empty());
    // Version 3 marks the rows of the result; in version 2 they span the whole test.
    let whole = |row: &&IperfRow| {
        row.start < 0.01 && if sides && !run.report { !row.side.is_empty() } else { row.end > 0.9 * longest }
    };
    let rows: Vec<&IperfRow> = run.rows.iter().filter(whole).collect();
    let streams: std::collections::BTreeSet<&str> =
        rows.iter().map(|row| row.stream.as_str()).filter(|stream| *stream != "SUM").collect();
    for (index, row) in rows.iter().enumerate() {
        let alike = |other: &&&IperfRow| other.role == row.role && other.side == row.side;
        let summed = rows.iter().filter(alike).any(|other| other.stream == "SUM");
        let again = rows[..index].iter().any(|other| alike(&other) && other.stream == row.stream);
        if (summed && row.stream != "SUM") || again {
            continue;
        }
        let several = !summed && rows.iter().filter(alike).count() > 1;
        let place = |reading: SourceReading| {
            let reading = reading.at("protocol", run.protocol).at("streams", streams.len().max(1).to_string());
            let reading = if several { reading.at("stream", axis_value(&row.stream)) } else { reading };
            let reverse = run.reverse || row.role.starts_with("RX");
            let reading = if row.role.is_empty() { reading } else { reading.at("bidirectional", "yes") };
            if reverse { reading.at("direction", "reverse") } else { reading }
        };
        let name = if row.side == "receiver" { "received" } else { "sent" };
        let id = format!("iperf.{name}");
        sheet.readings.push(place(SourceReading::new(id, name, row.bytes_per_second, bytes_per_second("bytes"))));
        for (id, value, unit, per) in [
            ("iperf.retransmits", row.retransmits, Unit::Count, "segments"),
            ("iperf.jitter", row.jitter, Unit::Seconds, "packet"),
            ("iperf.lost", row.lost, Unit::Ratio, "packets"),
        ] {
            // The sender of datagrams does not know what arrived.
            if let Some(value) = value.filter(|_| row.side != "sender" || unit == Unit::Count) {
                sheet.readings.push(place(SourceReading::new(id, id, value, Metric::lower(unit, per))));
            }
        }
    }
}
