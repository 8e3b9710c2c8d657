//! The fileio test: which it is, and its rates.

use crate::sheet::{SourceReading, bytes_per_second, rate};
use crate::text::{SourceFault, between, need};

/// Tests of fileio, by the names of its option --file-test-mode.
pub(super) const TESTS: [(&str, &str); 6] = [
    ("sequential write (creation)", "seqwr"),
    ("sequential rewrite", "seqrewr"),
    ("sequential read", "seqrd"),
    ("random read", "rndrd"),
    ("random write", "rndwr"),
    ("random r/w", "rndrw"),
];

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
