//! schbench: percentiles of wakeup and request latency, and of requests a second.

use model::{Metric, Unit};

use super::{CodeFormat, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, rate, seconds};
use crate::text::{SourceFault, between, lines, need, number, shown, snake};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "schbench",
    tool: "schbench",
    about: "median wakeup and request latency with percentiles, and requests a second, of the last report of each \
            process",
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
    /// Samples since then.
    samples: Option<f64>,
    quantiles: Vec<(f64, f64)>,
    /// Of a report that is not the last one of its process: the present rate stands below it.
    interim: bool,
}

/// Where a reader of schbench's reports is.
#[derive(Default)]
struct SchbenchReader {
    sheet: SourceSheet,
    /// Reports repeat during a run: the last one of each table counts.
    tables: Vec<SchbenchTable>,
    /// Words that are not the tool's stand behind the last report.
    apart: bool,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut reader = SchbenchReader::default();
    for (at, line) in lines(source.text) {
        let line = line.trim();
        if reader.line(line, at)? {
            source.took(at);
        } else {
            reader.apart |= !line.is_empty();
        }
    }
    reader.end_process();
    Ok(Parsed::Sheets(vec![reader.sheet]))
}

impl SchbenchReader {
    /// Whether the line was understood.
    fn line(&mut self, line: &str, at: usize) -> Result<bool, SourceFault> {
        if let Some((name, rest)) = line.split_once(" percentiles (") {
            let (unit, behind) = rest.split_once(')').unwrap_or((rest, ""));
            let requests = match unit {
                "usec" => false,
                "requests" => true,
                other => return Err(SourceFault::new(format!("its unit '{}' is not known", shown(other)), at)),
            };
            self.report(snake(&name.replace("Latencies", "latency")), requests, behind);
        } else if let Some((quantile, value)) = percentile(line) {
            let Some(table) = self.tables.last_mut() else { return Ok(false) };
            table.quantiles.push((quantile, need(value, at)?));
        } else if let Some((least, greatest)) = extremes(line) {
            let Some(table) = self.tables.last_mut() else { return Ok(false) };
            table.quantiles.extend([(0.0, least), (1.0, greatest)]);
        } else if let Some(value) = line.strip_prefix("average rps:") {
            // It ends the output of a process.
            let reading = SourceReading::new("schbench.requests", "Requests", need(value, at)?, rate("requests"));
            self.drain();
            self.sheet.readings.push(reading.printed_in(value, 1.0));
            self.sheet.begin_process();
        } else if line.starts_with("current rps:") {
            self.tables.iter_mut().for_each(|table| table.interim = true);
        } else {
            let begins = ["setting ", "sched delay:", "message threads", "warmup done"];
            return Ok(begins.iter().any(|begin| line.starts_with(begin)));
        }
        Ok(true)
    }

    /// A table begins: that of a later report of the same process, or of a further one.
    fn report(&mut self, name: String, requests: bool, behind: &str) {
        let runtime = between(behind, "runtime ", " (s)").and_then(number);
        let samples = between(behind, "(s) (", " total samples").and_then(number);
        if let Some(earlier) = self.tables.iter().find(|table| table.name == name) {
            // The final report may be of the same second as the one before.
            let interim = earlier.interim;
            let later =
                earlier.runtime.zip(runtime).is_some_and(|(earlier, now)| now > earlier || (now == earlier && interim));
            let fewer = earlier.samples.zip(samples).is_some_and(|(earlier, now)| now < earlier);
            if later && !fewer && !self.apart {
                self.tables.retain(|table| table.name != name);
            } else {
                self.end_process();
            }
        }
        self.apart = false;
        self.tables.push(SchbenchTable { name, requests, runtime, samples, quantiles: Vec::new(), interim: false });
    }

    fn drain(&mut self) {
        self.sheet.readings.extend(self.tables.drain(..).filter_map(reading_of));
    }

    fn end_process(&mut self) {
        self.drain();
        self.sheet.begin_process();
    }
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
