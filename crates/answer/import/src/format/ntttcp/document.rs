//! The JSON of the program on Linux: the elements of its XML as members, with `-metric` and `#text`.

use serde::Deserialize;

use super::NtttcpEnd;
use crate::format::SourceText;
use crate::json::{self, BoundedMap, List, Scalar};
use crate::sheet::{SourceSheet, text};
use crate::text::SourceFault;

#[derive(Deserialize)]
struct NtttcpDocument {
    #[serde(rename = "ntttcps")]
    sender: Option<NtttcpMembers>,
    #[serde(rename = "ntttcpr")]
    receiver: Option<NtttcpMembers>,
}

#[derive(Deserialize)]
struct NtttcpMembers {
    #[serde(rename = "-computername", default)]
    computer: String,
    #[serde(rename = "-version")]
    version: Option<String>,
    #[serde(default)]
    parameters: BoundedMap<Scalar>,
    #[serde(default)]
    thread: List<NtttcpThread>,
    #[serde(default)]
    throughput: List<NtttcpValue>,
    cycles: Option<NtttcpValue>,
    packets_retransmitted: Option<Scalar>,
    cpu: Option<NtttcpValue>,
    /// `934 us`.
    #[serde(rename = "tcp_average_rtt metric")]
    round_trip: Option<String>,
    os: Option<String>,
}

#[derive(Deserialize)]
struct NtttcpThread {
    #[serde(default)]
    throughput: List<NtttcpValue>,
}

#[derive(Deserialize)]
struct NtttcpValue {
    #[serde(rename = "-metric", default)]
    metric: String,
    /// Behind the MB of a thread stands `bps`.
    #[serde(rename = "#text", default)]
    text: String,
}

impl NtttcpValue {
    fn pair(&self) -> (String, String) {
        (self.metric.clone(), self.number())
    }

    fn number(&self) -> String {
        self.text.split_whitespace().next().unwrap_or_default().to_owned()
    }
}

pub(super) fn parse(source: &SourceText<'_>) -> Result<SourceSheet, SourceFault> {
    let mut sheet = SourceSheet::default();
    let document: NtttcpDocument = json::read_noting(&without_line_ends(source.text), &source.ledger)?;
    for (role, members) in [("sender", document.sender), ("receiver", document.receiver)] {
        let Some(members) = members else { continue };
        sheet.machine.clone_from(&members.computer);
        sheet.version.clone_from(&members.version);
        sheet.fact(members.os.as_deref().and_then(|os| text("os.name", os, "NTttcp", &[])));
        let end = NtttcpEnd {
            throughput: members.throughput.0.iter().map(NtttcpValue::pair).collect(),
            thread: members
                .thread
                .0
                .first()
                .map(|thread| &thread.throughput.0[..])
                .unwrap_or_default()
                .iter()
                .map(NtttcpValue::pair)
                .collect(),
            retransmitted: members.packets_retransmitted.as_ref().map(Scalar::words),
            busy: members.cpu.as_ref().map(NtttcpValue::number),
            cycles: members.cycles.as_ref().map(NtttcpValue::number),
            round_trip: members.round_trip.as_deref().and_then(|text| text.strip_suffix(" us")).map(str::to_owned),
            ..NtttcpEnd::default()
        };
        let set = |name: &str| members.parameters.0.get(name).is_some_and(|value| value.words() == "True");
        sheet.begin_process();
        for reading in end.readings(source.text.lines().count())? {
            let reading = reading.at("role", role).at("protocol", if set("udp") { "udp" } else { "tcp" });
            let reading = reading.at("threads", members.thread.0.len().to_string());
            sheet.readings.push(if set("use_ipv6") { reading.at("family", "ipv6") } else { reading });
        }
    }
    Ok(sheet)
}

/// The text with blanks for the line ends inside of quotes, which JSON does not allow: the name of the system ends with
/// one.
fn without_line_ends(text: &str) -> String {
    let (mut quoted, mut escaped) = (false, false);
    let plain = |c: char| {
        let shown = if quoted && c.is_control() { ' ' } else { c };
        (quoted, escaped) = match c {
            '"' if !escaped => (!quoted, false),
            '\\' if quoted && !escaped => (true, true),
            _ => (quoted, false),
        };
        shown
    };
    text.chars().map(plain).collect()
}
