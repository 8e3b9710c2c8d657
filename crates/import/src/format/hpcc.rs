//! HPC Challenge: the summary, `name=value`, at the end of its output.

use model::Metric;

use super::{CodeFormat, Confidence, Parsed, SourceText};
use crate::date::unix;
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, rate as per_second, seconds};
use crate::text::{MOST_NAMES, SourceFault, after, axis_value, between, lines, name_value, need, number, snake};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "hpcc",
    tool: "HPC Challenge",
    about: "every rate, bandwidth and latency of the summary, with its sizes, one run a host; no spread is stated",
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

/// The members of one run's summary: line, name and value.
type SummaryLines<'a> = Vec<(usize, &'a str, &'a str)>;

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    // HPCC appends to its file: a sheet for each host.
    let (mut sheets, mut host): (Vec<SourceSheet>, String) = (Vec::new(), String::new());
    let (mut inside, mut summary, mut open, mut lost) = (false, SummaryLines::new(), None, Vec::new());
    let (mut version, mut started, mut solved) = (None, String::new(), 0);
    for (at, line) in lines(source.text) {
        let line = line.trim();
        if let Some(found) = after(line, "HPC Challenge Benchmark version") {
            // It appends to its file: behind a run that broke off, the next one begins.
            lost.extend(open.replace(at));
            inside = false;
            version = found.split_whitespace().next().map(str::to_owned);
            (started, solved, host) = (String::new(), 0, String::new());
        } else if let Some(name) = after(line, "Hostname:") {
            host = name_value(name.trim_matches('\''));
        } else if let Some(time) = between(line, "Current time (", ")").and_then(number) {
            if started.is_empty() {
                started = unix(time);
            }
        } else if line == "Begin of Summary section." {
            (inside, summary) = (true, SummaryLines::new());
        } else if line == "End of Summary section." {
            (inside, open) = (false, None);
            let sheet = sheet_of(&mut sheets, &host, at)?;
            sheet.version.clone_from(&version);
            if sheet.started.is_empty() {
                sheet.started.clone_from(&started);
            }
            take(sheet, &summary, solved)?;
        } else if let Some((name, value)) = line.split_once('=').filter(|_| inside) {
            summary.push((at, name, value));
        } else if is_section(line) {
            solved +=
                u32::from(line.starts_with('W') && line.split_whitespace().count() == 7 && !line.contains("ASSED"));
        } else {
            continue;
        }
        source.took(at);
    }
    lost.extend(open);
    if let Some(&first) = lost.first() {
        if sheets.is_empty() {
            return Err(SourceFault::new("the run that begins here has no summary", first));
        }
        let others = if lost.len() == 1 { String::new() } else { format!(", as {} others", lost.len() - 1) };
        for sheet in &mut sheets {
            sheet.notes.push(format!("the run that begins at line {first} has no summary and is left out{others}"));
        }
    }
    Ok(Parsed::Sheets(sheets))
}

/// The sheet of a host; its name is empty where a run does not state it.
fn sheet_of<'a>(sheets: &'a mut Vec<SourceSheet>, host: &str, at: usize) -> Result<&'a mut SourceSheet, SourceFault> {
    let place = match sheets.iter().position(|sheet| sheet.machine == host) {
        Some(place) => place,
        None if sheets.len() == MOST_NAMES => {
            return Err(SourceFault::new(format!("it has more than {MOST_NAMES} hosts"), at));
        }
        None => {
            sheets.push(SourceSheet { machine: host.to_owned(), ..SourceSheet::default() });
            sheets.len() - 1
        }
    };
    Ok(&mut sheets[place])
}

/// Adds the figures of a run, with the sizes that stand behind them in its summary.
fn take(sheet: &mut SourceSheet, summary: &SummaryLines<'_>, solved: u32) -> Result<(), SourceFault> {
    sheet.begin_process();
    let find = |name: &str| summary.iter().find(|(_, known, _)| *known == name).map(|(_, _, value)| *value);
    let mut notes = Vec::new();
    if find("Success").is_some_and(|value| value != "1") {
        notes.push("HPCC reports that a test failed".to_owned());
    }
    if solved > 1 {
        notes.push(format!("of the {solved} systems that it solved, the summary has the one with the highest rate"));
    }
    for &(at, name, value) in summary {
        let Some((scale, metric)) = quantity(name) else { continue };
        let rate = need(value, at)?;
        // What a test left in memory that did not run is no rate either: its size says so, or a number near zero.
        let unsized_test = sizes(name).iter().filter(|(axis, _)| *axis == "n").filter_map(|(_, size)| find(size));
        if rate <= 0.0 || !rate.is_normal() || unsized_test.filter_map(number).any(|size| size <= 0.0) {
            notes.push(format!("{} is {}: that test did not run, or it failed", name_value(name), name_value(value)));
            continue;
        }
        // It prints six digits, without zeros at the end.
        let reading = SourceReading::new(format!("hpcc.{}", snake(name)), name, rate * scale, metric).rounded(5e-6);
        let axes = sizes(name).iter().chain(&[("processes", "CommWorldProcs")]);
        let stated = axes.filter_map(|(axis, member)| Some((*axis, find(member)?)));
        let mut reading = stated.fold(reading, |reading, (axis, size)| reading.at(axis, axis_value(size)));
        if let Some(variant) = variant(name, find) {
            reading = reading.at("variant", axis_value(&variant));
        }
        sheet.readings.push(reading);
    }
    for note in notes {
        if !sheet.notes.contains(&note) {
            sheet.notes.push(note);
        }
    }
    Ok(())
}

/// What HPL calls its variant, `WC11C2R4`: the order of processes, depth, broadcast and factorisations.
fn variant<'a>(name: &str, find: impl Fn(&str) -> Option<&'a str>) -> Option<String> {
    if !name.starts_with("HPL_") {
        return None;
    }
    let parts = ["order", "depth", "ctop", "crfact", "nbdiv", "cpfact", "nbmin"];
    let stated: Option<String> = parts.iter().map(|part| find(&format!("HPL_{part}"))).collect();
    stated.map(|stated| format!("W{stated}"))
}

/// Axes of a figure, and the members of the summary that state its sizes.
fn sizes(name: &str) -> &'static [(&'static str, &'static str)] {
    let lcg = name.contains("_LCG");
    match name {
        _ if name.starts_with("HPL_") => &[("n", "HPL_N"), ("nb", "HPL_NB"), ("p", "HPL_nprow"), ("q", "HPL_npcol")],
        _ if name.contains("DGEMM") => &[("n", "DGEMM_N")],
        _ if name.starts_with("PTRANS_") => {
            &[("n", "PTRANS_n"), ("nb", "PTRANS_nb"), ("p", "PTRANS_nprow"), ("q", "PTRANS_npcol")]
        }
        _ if name.starts_with("MPIRandomAccess_") && lcg => &[("n", "MPIRandomAccess_LCG_N")],
        _ if name.starts_with("MPIRandomAccess_") => &[("n", "MPIRandomAccess_N")],
        _ if name.contains("RandomAccess_") && lcg => &[("n", "RandomAccess_LCG_N")],
        _ if name.contains("RandomAccess_") => &[("n", "RandomAccess_N")],
        _ if name.contains("STREAM_") => &[("n", "STREAM_VectorSize"), ("threads", "STREAM_Threads")],
        _ if name.starts_with("MPIFFT_") => &[("n", "MPIFFT_N"), ("ranks", "MPIFFT_Procs")],
        _ if name.contains("FFT_") => &[("n", "FFT_N")],
        _ => &[],
    }
}

/// Unit of a member of the summary, by the end of its name. Sizes, settings, times and checks are no figures.
fn quantity(name: &str) -> Option<(f64, Metric)> {
    let flops = per_second("floating-point operations");
    let ends = |end: &str| name.ends_with(end);
    Some(match name {
        _ if ends("_Tflops") => (1e12, flops),
        _ if ends("_Gflops") => (1e9, flops),
        _ if ends("_GUPs") => (1e9, per_second("updates")),
        _ if ends("_GBs") || ends("Bandwidth_GBytes") => (1e9, bytes_per_second("bytes")),
        _ if ends("Latency_usec") => (1e-6, seconds("message")),
        _ if ["_Copy", "_Scale", "_Add", "_Triad"].iter().any(|end| name.contains("STREAM") && ends(end)) => {
            (1e9, bytes_per_second("bytes read + written"))
        }
        _ => return None,
    })
}

/// Words of the lines of the sections above the summary, which repeats their results.
const SECTIONS: [&str; 65] = [
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
    "is taken to be",
    "are less than",
    "bytes per DOUBLE",
    "SCALAR value",
    "Details - level",
    "measurements were done",
    "pairs of processes",
    "possible combinations",
    "ring communication",
    "avg error less than",
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
