//! The fileio test: which it is, and its rates.

use std::collections::BTreeMap;

use crate::sheet::{SourceReading, bytes_per_second, rate};
use crate::text::{SourceFault, axis_value, between, need};

/// Tests that a line `Doing ... test` names: those of fileio by its option --file-test-mode.
pub(super) const TESTS: [(&str, &str); 8] = [
    ("mutex performance", "mutex"),
    ("thread subsystem performance", "threads"),
    ("sequential write (creation)", "seqwr"),
    ("sequential rewrite", "seqrewr"),
    ("sequential read", "seqrd"),
    ("random read", "rndrd"),
    ("random write", "rndwr"),
    ("random r/w", "rndrw"),
];

/// Whether a line states a setting of the files or of the threads, which becomes a part of the point unless it is what
/// sysbench does without an option.
pub(super) fn files_setting(line: &str, point: &mut BTreeMap<&'static str, String>) -> bool {
    let (axis, value, usual) = if let Some(flags) = line.strip_prefix("Extra file open flags:") {
        // From here on the absence of a line is a setting.
        point.insert("fsync", "none".to_owned());
        // Versions before 1.0 print a number.
        ("flags", flags, ["(none)", "0"])
    } else if let Some(count) =
        line.split_once(" files, ").map(|(count, _)| count).filter(|count| count.parse::<u32>().is_ok())
    {
        ("files", count, ["128", ""])
    } else if let Some(size) = line.strip_suffix(" total file size") {
        ("size", size, ["2GiB", "2Gb"])
    } else if let Some(ratio) = line.strip_prefix("Read/Write ratio for combined random IO test:") {
        ("ratio", ratio, ["1.50", ""])
    } else if let Some(mode) = between(line, "Using ", " I/O mode") {
        ("mode", mode, ["synchronous", ""])
    } else if let Some(words) = line.strip_prefix("Thread yields per test:") {
        let (yields, locks) = words.split_once("Locks used:").unwrap_or((words, ""));
        if !["", "8"].contains(&locks.trim()) {
            point.insert("locks", axis_value(locks));
        }
        ("yields", yields, ["1000", ""])
    } else if line.starts_with("Calling fsync() after each write") {
        ("fsync", "each", ["", ""])
    } else if line.starts_with("Calling fsync() at the end") {
        // It is done beside the periodic one too.
        if point.get("fsync").is_some_and(|known| known == "none") {
            point.insert("fsync", "end".to_owned());
        }
        return true;
    } else if let Some(count) = between(line, "calling fsync() each ", " requests") {
        ("fsync", count, ["100", ""])
    } else {
        return false;
    };
    let value = value.trim();
    if usual.contains(&value) {
        point.remove(axis);
    } else {
        point.insert(axis, axis_value(value));
    }
    true
}

/// The lines of fileio: `reads/s:  8259.22` and `read, MiB/s:  129.05`, or in one since 1.1.
pub(super) fn files(section: &str, line: &str, at: usize) -> Result<Option<Vec<SourceReading>>, SourceFault> {
    let lines = [
        ("reads/s:", "sysbench.file_reads", "reads", 1.0),
        ("writes/s:", "sysbench.file_writes", "writes", 1.0),
        ("fsyncs/s:", "sysbench.file_fsyncs", "fsyncs", 1.0),
        ("read, MiB/s:", "sysbench.file_read", "", 1_048_576.0),
        ("written, MiB/s:", "sysbench.file_written", "", 1_048_576.0),
    ];
    for (name, id, of, scale) in lines {
        let Some(value) = line.strip_prefix(name) else { continue };
        let metric = if of.is_empty() { bytes_per_second("bytes") } else { rate(of) };
        let reading = SourceReading::new(id, if of.is_empty() { id } else { of }, need(value, at)? * scale, metric);
        return Ok(Some(performed(reading).into_iter().collect()));
    }
    if let Some(readings) = of_old(line, at)? {
        return Ok(Some(readings));
    }
    if section == "Throughput:" && line.contains("IOPS=") { of_files(line, at).map(Some) } else { Ok(None) }
}

/// What was not done is stated with zeros.
fn performed(reading: SourceReading) -> Option<SourceReading> {
    Some(reading).filter(|reading| reading.value > 0.0)
}

/// `read:  IOPS=1234.50 19.25 MiB/s (20.19 MB/s)`, of fileio since 1.1.
fn of_files(line: &str, at: usize) -> Result<Vec<SourceReading>, SourceFault> {
    let kinds = [
        ("read:", "sysbench.file_reads", "reads", Some("sysbench.file_read")),
        ("write:", "sysbench.file_writes", "writes", Some("sysbench.file_written")),
        ("fsync:", "sysbench.file_fsyncs", "fsyncs", None),
    ];
    let found = kinds.iter().find_map(|(name, id, of, bytes)| {
        Some((*id, *of, *bytes, line.strip_prefix(name)?.trim().strip_prefix("IOPS=")?))
    });
    let Some((id, of, bytes, rest)) = found else { return Ok(Vec::new()) };
    let words: Vec<&str> = rest.split_whitespace().collect();
    let operations = SourceReading::new(id, of, need(words.first().unwrap_or(&""), at)?, rate(of));
    let mut readings: Vec<SourceReading> = performed(operations).into_iter().collect();
    if let (Some(id), [_, value, "MiB/s", ..]) = (bytes, &words[..]) {
        let value = need(value, at)? * 1_048_576.0;
        readings.extend(performed(SourceReading::new(id, id, value, bytes_per_second("bytes"))));
    }
    Ok(readings)
}

/// The lines of version 0.4, whose units are 2^20 bytes: `Read 93.75Mb  Written 62.5Mb  Total transferred 156.25Mb
/// (4.6875Mb/sec)` and `  300.00 Requests/sec executed`.
fn of_old(line: &str, at: usize) -> Result<Option<Vec<SourceReading>>, SourceFault> {
    if let Some(value) = line.strip_suffix("Requests/sec executed") {
        let reading = SourceReading::new("sysbench.file_requests", "requests", need(value, at)?, rate("requests"));
        return Ok(Some(vec![reading]));
    }
    let Some(words) = between(line, "Total transferred", "/sec)").filter(|_| line.starts_with("Read ")) else {
        return Ok(None);
    };
    let rate = words.rsplit('(').next().unwrap_or_default();
    let units = [("Tb", 1_099_511_627_776.0), ("Gb", 1_073_741_824.0), ("Mb", 1_048_576.0), ("Kb", 1024.0), ("b", 1.0)];
    let found = units.iter().find_map(|(unit, scale)| Some((rate.strip_suffix(unit)?, *scale)));
    let (digits, scale) = found.ok_or_else(|| SourceFault::new("the rate of transfer has no known unit", at))?;
    let value = need(digits, at)? * scale;
    let id = "sysbench.file_transferred";
    Ok(Some(vec![SourceReading::new(id, "Read and written", value, bytes_per_second("bytes"))]))
}
