//! NTttcp of Windows and of Linux: throughput of many TCP or UDP streams, as XML and as JSON.

mod document;
mod xml;

use model::{Better, Metric, Unit};

use super::{Confidence, OtherForm, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, bytes_per_second, metric, seconds};
use crate::text::{SourceFault, need};

pub(super) const FORM: OtherForm = OtherForm { name: "ntttcp", detect, parse };

fn detect(head: &[u8]) -> Confidence {
    let written = ["<ntttcps ", "<ntttcpr ", "\"ntttcps\"", "\"ntttcpr\""].map(|name| sure(head, &[name]));
    written.into_iter().max().unwrap_or(Confidence::No)
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let written = ["<ntttcps ", "<ntttcpr "].iter().any(|name| source.text.contains(name));
    let sheet = if written { xml::parse(source)? } else { document::parse(source)? };
    Ok(Parsed::Sheets(vec![sheet]))
}

/// Bytes of its MB, except where the program says bytes or thousands of bits.
const MEGABYTE: f64 = 1_048_576.0;

/// The results of one end, under the names of its XML, each as it is printed.
#[derive(Default)]
struct NtttcpEnd {
    /// Its throughput, with the unit.
    throughput: Vec<(String, String)>,
    /// Of one of its threads, which tells how large the MB is.
    thread: Vec<(String, String)>,
    retransmitted: Option<String>,
    /// Time of the process on a CPU as a percentage of the elapsed time: several CPUs are more than 100%.
    busy: Option<String>,
    /// Use of all CPUs of the machine, percent.
    machine: Option<String>,
    cycles: Option<String>,
    /// Microseconds.
    round_trip: Option<String>,
}

impl NtttcpEnd {
    /// The readings, for an end whose results stand at or above a line.
    fn readings(&self, at: usize) -> Result<Vec<SourceReading>, SourceFault> {
        let mut readings = Vec::new();
        if let Some((text, scale)) = rate(&self.throughput, &self.thread, at)? {
            let value = need(text, at)? * scale;
            let reading = SourceReading::new("ntttcp.throughput", "Throughput", value, bytes_per_second("bytes"));
            readings.push(reading.printed_in(text, scale));
        }
        let count = Metric::lower(Unit::Count, "segments");
        let ratio = || Metric::lower(Unit::Ratio, "CPU time");
        for (id, title, text, scale, metric) in [
            ("ntttcp.retransmits", "Retransmits", &self.retransmitted, 1.0, count),
            ("ntttcp.process_cpu", "CPU time of the process, of one CPU", &self.busy, 0.01, ratio()),
            ("ntttcp.cpu", "CPU use of the machine", &self.machine, 0.01, ratio()),
            ("ntttcp.cycles", "Cycles a byte", &self.cycles, 1.0, metric(Unit::Count, "byte", Better::Lower)),
            ("ntttcp.round_trip", "TCP round trip, average", &self.round_trip, 1e-6, seconds("round trip")),
        ] {
            let Some(text) = text else { continue };
            let value = need(text, at)? * scale;
            // A time of 0 us, and no cycles, were not measured.
            if value > 0.0 || matches!(id, "ntttcp.retransmits") {
                readings.push(SourceReading::new(id, title, value, metric).printed_in(text, scale));
            }
        }
        Ok(readings)
    }
}

/// The printed throughput that is read, and the bytes a second of its unit. The same names mean other units: MB are
/// 2^20 bytes, of later versions on Linux 10^6; `mbps` are 10^6 bits a second, of earlier versions on Linux eight of
/// its MB. Their ratios tell.
fn rate<'a>(
    stated: &'a [(String, String)],
    thread: &[(String, String)],
    at: usize,
) -> Result<Option<(&'a str, f64)>, SourceFault> {
    let find = |all: &'a [(String, String)], unit: &str| {
        all.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)).map(|(_, text)| text.as_str())
    };
    if let Some(bytes) = find(stated, "Bps") {
        return Ok(Some((bytes, 1.0)));
    }
    let Some(megabytes) = find(stated, "MB/s") else { return Ok(None) };
    let value = need(megabytes, at)?;
    let bits = find(stated, "mbps").map(|text| need(text, at)).transpose()?;
    // Windows: 10^6 bits of 2^20 bytes.
    if bits.is_some_and(|bits| (bits / value - 8.388_608).abs() < 0.1) {
        return Ok(Some((megabytes, MEGABYTE)));
    }
    let of_thread = |unit: &str| {
        let text = thread.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)).map(|(_, text)| text);
        text.map(|text| need(text, at)).transpose()
    };
    let kilo = of_thread("KB/s")?.zip(of_thread("MB/s")?).map(|(small, large)| small / large);
    let near = |ratio: f64| kilo.is_some_and(|kilo| (kilo - ratio).abs() < 10.0);
    match (near(1024.0), near(1000.0)) {
        (true, false) => Ok(Some((megabytes, MEGABYTE))),
        (false, true) => Ok(Some((megabytes, 1e6))),
        _ => Err(SourceFault::new("it does not tell whether its MB are 2^20 or 10^6 bytes", at)),
    }
}
