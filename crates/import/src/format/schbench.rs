//! schbench: percentiles of wakeup and request latency, and of requests a second.

use model::{Metric, Unit};

use super::{ImportFormat, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, rate, seconds};
use crate::text::{SourceFault, between, lines, need, number, shown, snake};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "schbench",
    tool: "schbench",
    about: "median wakeup and request latency with their percentiles, and requests a second, of the last report of each \
            process; a report without a later runtime than the one before is that of a further process",
    by_lines: true,
    detect: |head| sure(head, &["atency percentiles (usec)"]).max(sure(head, &["Latencies percentiles (usec)"])),
    parse,
};

/// One table of percentiles.
struct SchbenchTable {
    name: String,
    requests: bool,
    /// Seconds since the process began, where they are stated.
    runtime: Option<f64>,
    quantiles: Vec<(f64, f64)>,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    // Reports repeat during a run: the last one of each table counts.
    let mut tables: Vec<SchbenchTable> = Vec::new();
    for (at, line) in lines(source.text) {
        let trimmed = line.trim();
        if let Some((name, rest)) = trimmed.split_once(" percentiles (") {
            let (unit, behind) = rest.split_once(')').unwrap_or((rest, ""));
            let requests = match unit {
                "usec" => false,
                "requests" => true,
                other => return Err(SourceFault::new(format!("its unit '{}' is not known", shown(other)), at)),
            };
            let name = snake(&name.replace("Latencies", "latency"));
            let runtime = between(behind, "runtime ", " (s)").and_then(number);
            if let Some(earlier) = tables.iter().find(|table| table.name == name) {
                if earlier.runtime.zip(runtime).is_some_and(|(earlier, now)| now > earlier) {
                    tables.retain(|table| table.name != name);
                } else {
                    sheet.readings.extend(tables.drain(..).filter_map(reading_of));
                    sheet.begin_process();
                }
            }
            tables.push(SchbenchTable { name, requests, runtime, quantiles: Vec::new() });
        } else if let Some((quantile, value)) = percentile(trimmed) {
            let Some(table) = tables.last_mut() else { continue };
            table.quantiles.push((quantile, need(value, at)?));
        } else if let Some((least, greatest)) = extremes(trimmed) {
            let Some(table) = tables.last_mut() else { continue };
            table.quantiles.extend([(0.0, least), (1.0, greatest)]);
        } else if let Some(value) = trimmed.strip_prefix("average rps:") {
            // It ends the output of a process.
            let reading = SourceReading::new("schbench.requests", "Requests", need(value, at)?, rate("requests"));
            sheet.readings.extend(tables.drain(..).filter_map(reading_of));
            sheet.readings.push(reading.printed_in(value, 1.0));
            sheet.begin_process();
        } else if !["current rps:", "setting ", "sched delay:", "message threads"]
            .iter()
            .any(|begin| trimmed.starts_with(begin))
        {
            continue;
        }
        source.took(at);
    }
    sheet.readings.extend(tables.drain(..).filter_map(reading_of));
    Ok(Parsed::Sheets(vec![sheet]))
}

/// `* 99.0th: 1266       (32796 samples)`
fn percentile(line: &str) -> Option<(f64, &str)> {
    let (name, rest) = line.trim_start_matches('*').trim().split_once("th:")?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    match words[..] {
        [value] => Some((number(name)? / 100.0, value)),
        [value, count, "samples)"] if count.starts_with('(') => Some((number(name)? / 100.0, value)),
        // Columns of several outputs side by side.
        _ => None,
    }
}

/// `min=1, max=12449`
fn extremes(line: &str) -> Option<(f64, f64)> {
    let (least, greatest) = line.strip_prefix("min=")?.split_once(", max=")?;
    Some((number(least)?, number(greatest)?))
}

fn reading_of(table: SchbenchTable) -> Option<SourceReading> {
    let median = table.quantiles.iter().find(|(quantile, _)| (quantile - 0.5).abs() < 1e-9).map(|(_, value)| *value)?;
    let (scale, metric) = if table.requests {
        (1.0, Metric::higher(Unit::PerSecond, "requests"))
    } else {
        (1e-6, seconds("wakeup or request"))
    };
    let id = format!("schbench.{}", table.name);
    let mut reading =
        SourceReading::new(id, format!("{}, median", table.name.replace('_', " ")), median * scale, metric);
    reading.quantiles = table.quantiles.into_iter().map(|(quantile, value)| (quantile, value * scale)).collect();
    reading.quantiles.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Its histogram counts whole microseconds.
    if median == 0.0 {
        reading.below = Some(scale);
    }
    Some(reading)
}
