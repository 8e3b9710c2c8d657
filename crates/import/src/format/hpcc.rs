//! HPC Challenge: the summary, `name=value`, at the end of its output.

use model::Metric;

use super::{Confidence, ImportFormat, Parsed, SourceText};
use crate::date::unix;
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, rate, seconds};
use crate::text::{SourceFault, after, axis_value, between, lines, need, number, snake};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "hpcc",
    tool: "HPC Challenge",
    about: "every rate, bandwidth and latency of the summary; no spread is stated",
    by_lines: true,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    // It prints HPL's banner too.
    let named = memchr::memmem::find(head, b"HPC Challenge Benchmark").is_some()
        || memchr::memmem::find(head, b"Begin of Summary section.").is_some();
    if named { Confidence::Certain } else { Confidence::No }
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let (mut inside, mut processes, mut open) = (false, String::new(), None);
    for (at, line) in lines(source.text) {
        let line = line.trim();
        if let Some(version) = after(line, "HPC Challenge Benchmark version") {
            sheet.version = version.split_whitespace().next().map(str::to_owned);
            sheet.begin_process();
            processes.clear();
            open = Some(at);
        } else if let Some(host) = after(line, "Hostname:") {
            sheet.machine = axis_value(host.trim_matches('\''));
        } else if let Some(time) = between(line, "Current time (", ")").and_then(number) {
            if sheet.started.is_empty() {
                sheet.started = unix(time);
            }
        } else if line == "Begin of Summary section." {
            inside = true;
        } else if line == "End of Summary section." {
            (inside, open) = (false, None);
        } else if let Some((name, value)) = line.split_once('=').filter(|_| inside) {
            if name == "CommWorldProcs" {
                processes = axis_value(value);
            }
            if name == "Success" && value != "1" {
                sheet.notes.push("HPCC reports that a test failed".to_owned());
            }
            if let Some((scale, metric)) = quantity(name) {
                let reading =
                    SourceReading::new(format!("hpcc.{}", snake(name)), name, need(value, at)? * scale, metric);
                let reading = reading.printed_in(value, scale);
                let here = !processes.is_empty();
                sheet.readings.push(if here { reading.at("processes", processes.clone()) } else { reading });
            }
        } else if !is_section(line) {
            continue;
        }
        source.took(at);
    }
    if let Some(place) = open {
        return Err(SourceFault::new("the run that begins here has no summary", place));
    }
    Ok(Parsed::Sheets(vec![sheet]))
}

/// Unit of a member of the summary, by the end of its name. Sizes, settings, times and checks are no figures.
fn quantity(name: &str) -> Option<(f64, Metric)> {
    let flops = rate("floating-point operations");
    let ends = |end: &str| name.ends_with(end);
    Some(match name {
        _ if ends("_Tflops") => (1e12, flops),
        _ if ends("_Gflops") => (1e9, flops),
        _ if ends("_GUPs") => (1e9, rate("updates")),
        _ if ends("_GBs") || ends("Bandwidth_GBytes") => (1e9, bytes_per_second("bytes")),
        _ if ends("Latency_usec") => (1e-6, seconds("message")),
        _ if ["_Copy", "_Scale", "_Add", "_Triad"].iter().any(|end| name.contains("STREAM") && ends(end)) => {
            (1e9, bytes_per_second("bytes read + written"))
        }
        _ => return None,
    })
}

/// Words of the lines of the sections above the summary, which repeats their results.
const SECTIONS: [&str; 55] = [
    "GUP/s",
    "Gflop/s",
    "GB/s",
    "Billion(10^9)",
    "CPU time used",
    "Real time used",
    "Node(s) with",
    "Node selected",
    "Main table size",
    "table size",
    "Number of updates",
    "Found ",
    "Scaled residual",
    "Array size",
    "Total memory",
    "MByte/s",
    "msecs",
    "Vector size",
    "Generation time",
    "Tuning:",
    "Computing:",
    "Inverse FFT:",
    "max(|x",
    "Gflop/s:",
    "msec",
    "MB/s",
    "Message",
    "message",
    "max time",
    "ping",
    "stride",
    " sec on ",
    "WALL ",
    "CPU  ",
    "Copy:",
    "Scale:",
    "Add:",
    "Triad:",
    "Expected",
    "Observed",
    "clock",
    "Each test",
    "tests",
    "MPI_Wtick",
    "wtick",
    "PASSED",
    "FAILED",
    "HPLinpack",
    " = ",
    " sec",
    "Running on",
    "Compiled on",
    "processors",
    "Benchmark R",
    "Number of nodes",
];

/// Whether a line belongs to a section above the summary.
fn is_section(line: &str) -> bool {
    let setting = line.split_once(':').is_some_and(|(name, _)| {
        [
            "N", "NB", "M", "MB", "P", "Q", "PMAP", "NBMIN", "NDIV", "DEPTH", "SWAP", "ALIGN", "L1", "U", "EQUIL",
            "PFACT", "RFACT", "BCAST",
        ]
        .contains(&name.trim())
    });
    setting
        || line.starts_with("W") && line.split_whitespace().count() == 7
        || SECTIONS.iter().any(|word| line.contains(word))
}
