//! iperf 2 and 3 on the terminal: the rate over the whole test of each direction.

mod row;
mod whole;

use std::collections::HashSet;

use super::{CodeFormat, Confidence, Parsed, SourceText, sure};
use crate::sheet::SourceSheet;
use crate::text::{SourceFault, after, between, lines, parameter_value};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "iperf",
    tool: "iperf",
    about: "the terminal's output of versions 2 and 3: bytes a second over the whole test, sent and received, retransmits, \
            jitter and loss",
    by_lines: true,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    // With --get-server-output, the JSON of version 3 has this output in a member.
    if head.trim_ascii_start().starts_with(b"{") {
        return Confidence::No;
    }
    let newer = sure(head, &["[ ID]", "Interval ", "Transfer ", "Bitrate"]);
    newer.max(sure(head, &["[ ID]", "Interval ", "Transfer ", "Bandwidth"]))
}

/// A row of the table.
struct IperfRow {
    /// Without the asterisk of version 2.
    stream: String,
    /// Version 2 marks what flows against the connection by an asterisk.
    starred: bool,
    role: String,
    start: f64,
    end: f64,
    bytes_per_second: f64,
    side: IperfSide,
    retransmits: Option<f64>,
    /// Milliseconds, as printed.
    jitter: Option<String>,
    lost: Option<f64>,
}

/// Whose count a row states.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum IperfSide {
    /// Of version 2: that of the process itself.
    Own,
    /// Of version 2: what the server reported to the client.
    Reported,
    Sender,
    Receiver,
}

/// A connection of version 2, whose rows do not say which side sends.
struct IperfConnection {
    stream: String,
    /// It came in at the port that this process listens on.
    accepted: bool,
    /// Its data flow against it.
    reverse: bool,
}

/// The process whose output is read.
#[derive(Default)]
struct IperfRun {
    rows: Vec<IperfRow>,
    protocol: &'static str,
    /// Bytes of a datagram of version 2, if they are not the usual ones.
    datagram: Option<String>,
    reverse: bool,
    retransmits: bool,
    report: bool,
    connections: Vec<IperfConnection>,
    /// Streams of which further intervals follow.
    ongoing: HashSet<String>,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let mut run = IperfRun::default();
    let continued = row::continued(source.text);
    let (mut port, mut repeated) = (None, false);
    for (at, line) in lines(source.text) {
        let trimmed = line.trim();
        // What the server printed of the same test, with --get-server-output, is no further process.
        repeated = (repeated || trimmed == "Server output:")
            && !trimmed.starts_with("Connecting to host")
            && trimmed != "iperf Done.";
        if repeated {
            source.took(at);
            continue;
        }
        if begins(trimmed) {
            if !run.rows.is_empty() || !trimmed.starts_with("Accepted") {
                whole::finish(&mut sheet, std::mem::take(&mut run));
                sheet.begin_process();
            }
            run.protocol = if trimmed.contains("UDP") { "udp" } else { "tcp" };
            if let Some(rest) = after(trimmed, "Server listening on").and_then(|rest| after(rest, "port ")) {
                port = rest.split_whitespace().next();
            }
        } else if let Some(connection) = row::connection(trimmed, port) {
            // A server of version 2 goes on with its next client without a word.
            if !run.rows.is_empty() && run.ongoing.is_empty() {
                let (protocol, datagram) = (run.protocol, run.datagram.clone());
                whole::finish(&mut sheet, std::mem::take(&mut run));
                sheet.begin_process();
                (run.protocol, run.datagram) = (protocol, datagram);
            }
            run.connections.push(connection);
        } else if let Some(version) = version(trimmed) {
            sheet.version = Some(version.to_owned());
        } else if let Some(size) =
            ["Sending ", "Receiving "].iter().find_map(|word| between(trimmed, word, " byte datagrams"))
        {
            run.datagram = Some(parameter_value(size)).filter(|size| size != "1470");
        } else if trimmed.starts_with("Reverse mode") {
            run.reverse = true;
        } else if trimmed.starts_with("[ ID]") {
            row::heading(&mut run, trimmed, at)?;
        } else if trimmed.contains("Server Report:") {
            run.report = true;
        } else if let Some(row) = row::row(&run, trimmed, at)? {
            if continued.contains(&at) {
                run.ongoing.insert(row.stream.clone());
            } else {
                run.ongoing.remove(&row.stream);
            }
            run.rows.push(row);
        } else if !is_detail(trimmed) {
            continue;
        }
        source.took(at);
    }
    whole::finish(&mut sheet, run);
    Ok(Parsed::Sheets(vec![sheet]))
}

/// The version of `iperf 3.12` or `iperf version 2.1.8 (12 August 2022) pthreads`; none of a command or of the last
/// line.
fn version(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("iperf ")?;
    let version = rest.strip_prefix("version ").unwrap_or(rest).split_whitespace().next()?;
    version.starts_with(|c: char| c.is_ascii_digit()).then_some(version)
}

fn begins(line: &str) -> bool {
    ["Client connecting to", "Connecting to host", "Server listening on", "Accepted connection"]
        .iter()
        .any(|begin| line.starts_with(begin))
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
        "TOS set to",
        "iperf Done.",
    ]
    .iter()
    .any(|words| line.contains(words))
}
