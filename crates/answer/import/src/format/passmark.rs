//! PassMark's PerformanceTest on the command line: the marks and the results of `results_all.yml`.

use model::{Metric, Unit};

use super::{CodeFormat, Parsed, SourceText, sure};
use crate::date::iso;
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, number as fact, rate, seconds, text};
use crate::text::{MOST_NAMES, SourceFault, lines, need, parameter_value};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "passmark",
    tool: "PassMark PerformanceTest",
    about: "the marks of processor and memory and the results behind them, from results_all.yml; a result of 0 did not \
            run, and no spread is stated",
    by_lines: true,
    detect: |head| {
        sure(head, &["CPU_INTEGER_MATH:", "NumTestProcesses:"]).max(sure(head, &["SUMM_ME:", "ME_LATENCY:"]))
    },
    parse,
};

/// Bytes of its megabyte: the mean of the three ciphers, which it states in bytes too, divided by what it states in
/// megabytes.
const MIB: f64 = 1_048_576.0;

/// Name of a result, the result's id and title, the scale of its unit, and what is counted; of data nothing is.
type PassmarkResult = (&'static str, &'static str, &'static str, f64, &'static str);

/// Units are not in the file: its screen states them.
const RESULTS: &[PassmarkResult] = &[
    ("CPU_INTEGER_MATH", "integer", "Integer arithmetic", 1e6, "operations"),
    ("CPU_FLOATINGPOINT_MATH", "floating_point", "Floating-point arithmetic", 1e6, "operations"),
    ("CPU_PRIME", "primes", "Prime numbers", 1e6, "primes"),
    ("CPU_SORTING", "sorting", "Sorting", 1e3, "strings"),
    ("CPU_ENCRYPTION", "encryption", "Encryption", MIB, ""),
    ("CPU_COMPRESSION", "compression", "Compression", 1024.0, ""),
    ("CPU_SINGLETHREAD", "single_thread", "Single-threaded", 1e6, "operations"),
    ("CPU_PHYSICS", "physics", "Physics", 1.0, "frames"),
    ("CPU_MATRIX_MULT_SSE", "matrices", "Extended instructions", 1e6, "matrices"),
    ("ME_ALLOC_S", "memory_database", "Database operations in memory", 1e3, "operations"),
    ("ME_READ_S", "memory_read_cached", "Memory read, cached", MIB, ""),
    ("ME_READ_L", "memory_read", "Memory read", MIB, ""),
    ("ME_WRITE", "memory_write", "Memory write", MIB, ""),
    ("ME_THREADED", "memory_threaded", "Memory, all threads", MIB, ""),
];

/// Lines whose numbers say nothing of the machine's speed, or stand in one of the results.
const UNUSED: [&str; 16] = [
    "WebDBID",
    "NumTestProcesses",
    "CPU_sse",
    "CPU_fma",
    "CPU_avx",
    "CPU_avx512",
    "m_CPU_enc_SHA",
    "m_CPU_enc_AES",
    "m_CPU_enc_ECDSA",
    "CPUFrequency",
    "iNumMemSticks",
    "ME_LARGE",
    "Checksum",
    "SpecialBuildName",
    "Minor",
    "Build",
];

/// What one file states.
#[derive(Default)]
struct PassmarkFile {
    sheet: SourceSheet,
    /// Major, minor and build number.
    version: [String; 3],
    /// Processes that a test has, and processors.
    processes: Option<String>,
    logicals: Option<String>,
    unfinished: bool,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheets: Vec<SourceSheet> = Vec::new();
    let mut file = PassmarkFile::default();
    for (at, line) in lines(source.text) {
        let line = line.trim();
        if line == "BaselineInfo:" || (line == "Results:" && !file.sheet.readings.is_empty()) {
            end(&mut sheets, std::mem::take(&mut file), at)?;
        } else if let Some((name, value)) = line.split_once(':') {
            if !stated(&mut file, name.trim(), value.trim().trim_matches('"').trim(), at)? {
                continue;
            }
        } else {
            continue;
        }
        source.took(at);
    }
    end(&mut sheets, file, source.text.lines().count())?;
    Ok(Parsed::Sheets(sheets))
}

/// Files of one machine are processes.
fn end(sheets: &mut Vec<SourceSheet>, file: PassmarkFile, at: usize) -> Result<(), SourceFault> {
    let mut sheet = file.sheet;
    if sheet.readings.is_empty() {
        return Ok(());
    }
    let version: Vec<String> = file.version.into_iter().filter(|part| !part.is_empty()).collect();
    sheet.version = Some(version.join(".")).filter(|version| !version.is_empty());
    if file.unfinished {
        sheet.notes.push("not all of its tests were run".to_owned());
    }
    // It starts one for each processor, unless told otherwise. Without that number, results tell machines apart by it.
    let alone = file.logicals.is_some();
    if let Some(processes) = file.processes.filter(|count| file.logicals.as_ref() != Some(count)) {
        for reading in sheet.readings.iter_mut().filter(|reading| !(alone && reading.id == "passmark.single_thread")) {
            reading.parameters = std::mem::take(&mut reading.parameters).with("processes", &processes);
        }
    }
    let same = |known: &SourceSheet| known.facts == sheet.facts && known.version == sheet.version;
    if let Some(place) = sheets.iter().position(same) {
        let known = &mut sheets[place];
        known.begin_process();
        known.readings.append(&mut sheet.readings);
    } else if sheets.len() == MOST_NAMES {
        return Err(SourceFault::new(format!("it has more than {MOST_NAMES} machines"), at));
    } else {
        sheets.push(sheet);
    }
    Ok(())
}

/// Whether a line of a name and a value is known.
fn stated(file: &mut PassmarkFile, name: &str, value: &str, at: usize) -> Result<bool, SourceFault> {
    let sheet = &mut file.sheet;
    let count =
        |fact_name| value.parse::<u32>().ok().map(|count| fact(fact_name, f64::from(count), "1", "output", &[]));
    match name {
        "SUMM_CPU" => sheet.readings.extend(mark("passmark.cpu_mark", "CPU mark", value, at)?),
        "SUMM_ME" => sheet.readings.extend(mark("passmark.memory_mark", "Memory mark", value, at)?),
        "ME_LATENCY" => {
            let latency = SourceReading::new(
                "passmark.memory_latency",
                "Memory latency",
                need(value, at)? * 1e-9,
                seconds("load"),
            );
            sheet.readings.extend(Some(latency).filter(|latency| latency.value > 0.0));
        }
        "Major" => file.version[0] = parameter_value(value),
        "Minor" => file.version[1] = parameter_value(value),
        "Build" => file.version[2] = parameter_value(value),
        "TimeStamp" => sheet.started = moment(value),
        "Results Complete" => file.unfinished = value != "true",
        "NumTestProcesses" => file.processes = Some(parameter_value(value)),
        "OSName" => sheet.fact(text("os.name", value, "output", &[])),
        "Kernel" => sheet.fact(text("kernel.release", value, "output", &[])),
        "ptArchitecture" => sheet.fact(text("cpu.architecture", value, "output", &[])),
        "Device" => sheet.fact(text("system.model", value, "output", &[])),
        "Processor" => sheet.fact(text("cpu.model", value, "output", &[model::Primitive::CoreClock])),
        "NumSockets" => sheet.fact(count("cpu.sockets")),
        "NumCores" => sheet.fact(count("cpu.cores")),
        "NumLogicals" => {
            file.logicals = Some(parameter_value(value));
            sheet.fact(count("cpu.count"));
        }
        "Memory" => {
            let memory = crate::text::number(value).filter(|memory| *memory > 0.0);
            sheet.fact(memory.map(|memory| fact("memory.total", memory * MIB, "B", "output", &[])));
        }
        _ => {
            let Some((_, id, title, scale, of)) = RESULTS.iter().find(|(known, ..)| *known == name) else {
                return Ok(UNUSED.contains(&name));
            };
            let metric = if of.is_empty() { bytes_per_second("bytes") } else { rate(of) };
            let reading = SourceReading::new(format!("passmark.{id}"), *title, need(value, at)? * scale, metric);
            sheet.readings.extend(Some(reading).filter(|reading| reading.value > 0.0));
        }
    }
    Ok(true)
}

fn mark(id: &str, title: &str, value: &str, at: usize) -> Result<Option<SourceReading>, SourceFault> {
    let reading = SourceReading::new(id, title, need(value, at)?, Metric::higher(Unit::Ratio, "points"));
    Ok(Some(reading).filter(|reading| reading.value > 0.0))
}

/// `20231109042240`
fn moment(digits: &str) -> String {
    let part = |from, to| digits.get(from..to).unwrap_or_default();
    if digits.len() != 14 || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return String::new();
    }
    let (date, clock) = ([part(0, 4), part(4, 6), part(6, 8)], [part(8, 10), part(10, 12), part(12, 14)]);
    iso(&format!("{} {}", date.join("-"), clock.join(":")))
}
