//! wrk and wrk2: requests a second, transfer, and latency of one run of an HTTP load.

use super::{CodeFormat, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, rate, seconds};
use crate::text::{SourceFault, axis_value, duration, grouped, lines, need, number, shown, split_unit};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "wrk",
    tool: "wrk",
    about: "requests and bytes a second, and mean latency with its distribution; deviations are of single requests and so \
            notes",
    by_lines: true,
    detect: |head| {
        sure(head, &["Running ", " test @ ", "Requests/sec:"]).max(sure(head, &[" test @ ", "Thread Stats"]))
    },
    parse,
};

/// The run whose lines are read.
#[derive(Default)]
struct WrkRun {
    axes: Vec<(&'static str, String)>,
    latency: Option<SourceReading>,
    /// A table of quantiles follows.
    distribution: bool,
    /// How long it was to run, in seconds.
    asked: Option<f64>,
    /// No request was answered.
    idle: bool,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let (mut run, mut open) = (WrkRun::default(), None);
    for (at, line) in lines(source.text) {
        let trimmed = line.trim();
        let words: Vec<&str> = trimmed.split_whitespace().collect();
        if let Some((asked, url)) = trimmed.strip_prefix("Running ").and_then(|rest| rest.split_once(" test @ ")) {
            sheet.begin_process();
            run = WrkRun { axes: vec![("url", axis_value(url))], asked: duration(asked), ..WrkRun::default() };
            if let Some(place) = open.replace(at) {
                return Err(SourceFault::new("the run that begins here has no rate", place));
            }
        } else if words.len() == 5 && words[1] == "threads" && words[4] == "connections" {
            run.axes.extend([("threads", axis_value(words[0])), ("connections", axis_value(words[3]))]);
        } else if words.first() == Some(&"Latency") && words.len() == 5 {
            run.latency = Some(latency(&words, at)?);
        } else if trimmed.starts_with("Latency Distribution") {
            run.distribution = true;
        } else if let Some((quantile, value)) = quantile(&words).filter(|_| run.distribution) {
            if let Some(reading) = &mut run.latency {
                reading.quantiles.push((quantile, value));
            }
        } else if let Some((count, rest)) = trimmed.split_once(" requests in ") {
            run.idle = number(count) == Some(0.0);
            check_time(&run, rest, at)?;
        } else if run.idle && ["Requests/sec:", "Transfer/sec:"].iter().any(|name| trimmed.starts_with(name)) {
            // Its zeros are neither rates nor bounds of a latency.
            open = None;
            if !sheet.notes.iter().any(|note| note == IDLE) {
                sheet.notes.push(IDLE.to_owned());
            }
        } else if let Some(value) = trimmed.strip_prefix("Requests/sec:") {
            sheet.readings.extend(run.latency.take().map(|reading| placed(reading, &run)));
            let value = grouped(value.trim()).unwrap_or_else(|| value.trim().to_owned());
            let reading = SourceReading::new("wrk.requests", "Requests", need(&value, at)?, rate("requests"));
            sheet.readings.push(placed(reading.printed_in(&value, 1.0), &run));
            open = None;
        } else if let Some(value) = trimmed.strip_prefix("Transfer/sec:") {
            let reading =
                SourceReading::new("wrk.transfer", "Transfer", bytes(value.trim(), at)?, bytes_per_second("bytes"));
            sheet.readings.push(placed(reading, &run));
        } else if let Some(errors) =
            trimmed.strip_prefix("Socket errors:").or(trimmed.strip_prefix("Non-2xx or 3xx responses:"))
        {
            sheet.notes.push(format!("wrk reports errors: {}", shown(errors.trim())));
        } else if trimmed.contains("Detailed Percentile spectrum") {
            run.distribution = false;
        } else if !is_detail(trimmed) {
            continue;
        }
        source.took(at);
    }
    match open {
        Some(place) => Err(SourceFault::new("the run that begins here has no rate", place)),
        None => Ok(Parsed::Sheets(vec![sheet])),
    }
}

const IDLE: &str = "a run in which no request was answered was left out";

/// Checks the time by which the rates are divided: some versions print another one where requests time out.
fn check_time(run: &WrkRun, rest: &str, at: usize) -> Result<(), SourceFault> {
    let took = rest.split([',', ' ']).next().and_then(duration);
    // A run that was interrupted is shorter, and minutes are printed whole.
    match took.zip(run.asked.filter(|asked| *asked > 0.0)) {
        Some((took, asked)) if took > 3.0 * asked || took < 1e-3 * asked => {
            Err(SourceFault::new("the time of its requests contradicts how long it ran", at))
        }
        _ => Ok(()),
    }
}

fn placed(reading: SourceReading, run: &WrkRun) -> SourceReading {
    run.axes.iter().fold(reading, |reading, (axis, value)| reading.at(axis, value.clone()))
}

/// Statistics of threads, counts behind the rates, and wrk2's spectrum, of which the distribution is an extract.
fn is_detail(line: &str) -> bool {
    let begins = ["Thread calibration", "Req/Sec", "Thread Stats", "#[", "Value   Percentile"];
    let numbers = line.split_whitespace().count() == 4
        && line.split_whitespace().all(|word| number(word).is_some() || word == "inf");
    begins.iter().any(|begin| line.starts_with(begin)) || numbers
}

/// `Latency     5.04ms    9.77ms  56.83ms   91.03%`: mean, deviation, maximum, share within one deviation.
fn latency(words: &[&str], at: usize) -> Result<SourceReading, SourceFault> {
    let time = |word: &str| {
        duration(word).ok_or_else(|| SourceFault::new(format!("'{}' is not a time with a known unit", shown(word)), at))
    };
    let mean = time(words[1])?;
    let mut reading = SourceReading::new("wrk.latency", "Mean latency", mean, seconds("request"));
    reading.quantiles.push((1.0, time(words[3])?));
    if mean == 0.0 {
        reading.below = Some(0.005e-6);
    }
    Ok(reading.note(format!("standard deviation of single requests {}", axis_value(words[2]))))
}

/// `99%   17.43ms`, or in wrk2 ` 99.000%  223.23ms`.
fn quantile(words: &[&str]) -> Option<(f64, f64)> {
    let [percent, value] = words else { return None };
    Some((number(percent.strip_suffix('%')?)? / 100.0, duration(value)?)).filter(|(quantile, _)| *quantile < 1.0)
}

/// `10.79MB`: multiples of 1024.
fn bytes(word: &str, at: usize) -> Result<f64, SourceFault> {
    let found = split_unit(word).and_then(|(value, unit)| {
        let units =
            [("B", 1.0), ("KB", 1024.0), ("MB", 1_048_576.0), ("GB", 1_073_741_824.0), ("TB", 1_099_511_627_776.0)];
        units.iter().find(|(name, _)| *name == unit).map(|(_, scale)| value * scale)
    });
    found.ok_or_else(|| SourceFault::new(format!("'{}' is not an amount with a known unit", shown(word)), at))
}
