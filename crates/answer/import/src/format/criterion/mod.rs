//! criterion.rs: estimates.json, sample.json, the messages of cargo-criterion, and its lines on the terminal.

mod early;

use serde::Deserialize;

use early::EarlyLines;
use model::Metric;

use super::{CodeFormat, Confidence, Parsed, SourceText, likely, sure};
use crate::json;
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, bytes_per_second, rate, seconds};
use crate::text::{SourceFault, between, lines, need, parameter_value};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "criterion",
    tool: "criterion.rs",
    about: "the median and criterion's own estimate (slope or mean), each with its interval within one process; the \
            terminal has the estimate and throughput only, version 0.1 the median's interval; from sample.json \
            the median and range",
    by_lines: true,
    detect,
    parse,
};

const ONE: &str = "criterion's interval covers samples of one process, and not differences between samples";

/// The estimator behind what is printed on the terminal: unlike the median, a slow sample moves it. The source of
/// criterion, and its book, "Additional Statistics", have the slope where samples have growing numbers of iterations,
/// and the mean where all have one number.
const SLOPE_OR_MEAN: &str = "criterion's estimate: the slope of time over iterations, or the mean where all samples have as many; the line does not \
     say which";

const SLOPE: &str = "criterion's estimate: the slope of time over iterations";

const MEAN: &str = "criterion's estimate: the mean, since all samples have as many iterations";

fn detect(head: &[u8]) -> Confidence {
    let named = sure(head, &["\"confidence_interval\"", "\"point_estimate\""])
        .max(sure(head, &["\"sampling_mode\"", "\"iters\""]));
    let messages = sure(head, &["\"reason\":\"benchmark-complete\""]);
    let name = sure(head, &["\"group_id\"", "\"function_id\"", "\"full_id\""]);
    let bare = if head.starts_with(b"[[") && !head.contains(&b'"') { Confidence::Likely } else { Confidence::No };
    let early = sure(head, &["> Estimating the statistics of the sample", "median ["]);
    named.max(early).max(messages).max(name).max(bare).max(likely(head, &["time:   ["]))
}

#[derive(Deserialize)]
struct Estimates {
    #[serde(alias = "Median")]
    median: CriterionEstimate,
    #[serde(alias = "Mean")]
    mean: Option<CriterionEstimate>,
    #[serde(alias = "Slope")]
    slope: Option<CriterionEstimate>,
}

#[derive(Deserialize)]
struct CriterionEstimate {
    confidence_interval: CriterionInterval,
    point_estimate: f64,
}

impl CriterionEstimate {
    fn reading(&self, benchmark: &str) -> SourceReading {
        let bounds = &self.confidence_interval;
        let (low, high) = (bounds.lower_bound * 1e-9, bounds.upper_bound * 1e-9);
        let spread = SourceSpread::Interval { low, high, level: bounds.confidence_level };
        reading(benchmark, self.point_estimate * 1e-9, spread)
    }
}

#[derive(Deserialize)]
struct CriterionInterval {
    confidence_level: f64,
    lower_bound: f64,
    upper_bound: f64,
}

#[derive(Deserialize)]
struct CriterionSample {
    iters: Vec<f64>,
    times: Vec<f64>,
}

#[derive(Deserialize)]
struct Message {
    reason: String,
    id: Option<String>,
    median: Option<Typical>,
    typical: Option<Typical>,
}

#[derive(Deserialize)]
struct Typical {
    estimate: f64,
    lower_bound: f64,
    upper_bound: f64,
    unit: String,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let text = source.text;
    if !text.contains("time:") && !early::is_early(text) {
        // JSON is read by the names of its members.
        lines(text).for_each(|(at, _)| source.took(at));
    }
    let mut sheet = SourceSheet::default();
    if text.contains("\"point_estimate\"") {
        if !text.contains("\"std_dev\"") && !text.contains("\"StdDev\"") {
            return Err(SourceFault::new(
                "it holds changes against an earlier measurement and no times; import the estimates.json in 'new' beside it",
                1,
            ));
        }
        let Estimates { median, mean, slope } = json::read(text)?;
        let benchmark = benchmark_of(source.name);
        sheet.readings.push(median.reading(&benchmark).note(ONE));
        // What the terminal prints.
        let own = slope.map(|slope| (slope, SLOPE)).or(mean.map(|mean| (mean, MEAN)));
        sheet.readings.extend(own.map(|(own, note)| of_estimate(own.reading(&benchmark).note(ONE), note)));
    } else if text.contains("\"benchmark-complete\"") {
        for (at, line) in lines(text).filter(|(_, line)| line.contains("\"benchmark-complete\"")) {
            let fault =
                |fault: SourceFault| SourceFault { place: crate::SourcePosition { line: at, ..fault.place }, ..fault };
            sheet.readings.extend(message(json::read(line).map_err(fault)?, at)?);
        }
    } else if text.contains("\"full_id\"") {
        return Err(SourceFault::new(
            "it names a benchmark but has no result; import estimates.json from its folder",
            1,
        ));
    } else if text.contains("\"iters\"") {
        sheet.readings.push(sample(source.name, json::read(text)?)?);
    } else if text.trim_start().starts_with('[') {
        let (iters, times) = json::read(text)?;
        sheet.readings.push(sample(source.name, CriterionSample { iters, times })?);
    } else {
        terminal(&mut sheet, source)?;
    }
    Ok(Parsed::Sheets(vec![sheet]))
}

fn reading(benchmark: &str, value: f64, spread: SourceSpread) -> SourceReading {
    let reading = SourceReading::new("criterion.time", "Time", value, seconds("iteration"));
    reading.at("benchmark", parameter_value(benchmark)).spread(spread)
}

/// The reading as one of criterion's own estimate, which is not the median.
fn of_estimate(mut reading: SourceReading, note: &str) -> SourceReading {
    if reading.id == "criterion.time" {
        (reading.id, reading.title) = ("criterion.slope_or_mean".to_owned(), "Time, slope or mean".to_owned());
    }
    reading.note(note)
}

/// `target/criterion/Fibonacci/Iterative/new/estimates.json` belongs to `Fibonacci/Iterative`.
fn benchmark_of(path: &str) -> String {
    let parts: Vec<&str> = path.split(['/', '\\']).collect();
    let from = parts.iter().rposition(|part| *part == "criterion").map_or(0, |at| at + 1);
    let end = parts.iter().rposition(|part| ["new", "base"].contains(part)).unwrap_or(parts.len() - 1);
    let name = parts.get(from..end).unwrap_or_default().join("/");
    if name.is_empty() { parts[parts.len() - 1].to_owned() } else { name }
}

fn sample(name: &str, sample: CriterionSample) -> Result<SourceReading, SourceFault> {
    let times = sample.times.iter().zip(&sample.iters).map(|(nanos, iterations)| nanos * 1e-9 / iterations);
    let mut times: Vec<f64> = times.filter(|time| crate::text::usable(*time)).collect();
    times.sort_by(f64::total_cmp);
    let Some(median) = stats::median(&times) else {
        return Err(SourceFault::new("it has no sample with a usable time", 1));
    };
    let spread = match times[..] {
        [least, .., greatest] => SourceSpread::Range(least, greatest),
        _ => SourceSpread::None,
    };
    let count = u32::try_from(times.len()).unwrap_or(u32::MAX);
    let reading = reading(&benchmark_of(name), median, spread).counts(1, count);
    Ok(reading.note("the range is of samples of one process"))
}

/// What a message states: the median, and criterion's own estimate.
fn message(message: Message, at: usize) -> Result<Vec<SourceReading>, SourceFault> {
    let Message { reason, id, median, typical } = message;
    if reason != "benchmark-complete" {
        return Ok(Vec::new());
    }
    let id = id.unwrap_or_default();
    let stated = |stated: Typical| {
        let scale = scale(&stated.unit).ok_or_else(|| SourceFault::new("the time has no known unit", at))?;
        let (low, high) = (stated.lower_bound * scale, stated.upper_bound * scale);
        Ok(reading(&id, stated.estimate * scale, SourceSpread::Interval { low, high, level: 0.95 }).note(ONE))
    };
    let median = median.map(&stated).transpose()?;
    let own = typical.map(&stated).transpose()?.map(|own| of_estimate(own, SLOPE_OR_MEAN));
    let level = "the message states no level; criterion's default of 95% is assumed";
    Ok(median.into_iter().chain(own).map(|reading| reading.note(level)).collect())
}

fn scale(unit: &str) -> Option<f64> {
    let units =
        [("ps", 1e-12), ("ns", 1e-9), ("us", 1e-6), ("\u{b5}s", 1e-6), ("\u{3bc}s", 1e-6), ("ms", 1e-3), ("s", 1.0)];
    units.iter().find(|(name, _)| *name == unit).map(|(_, scale)| *scale)
}

/// Words of lines that state nothing to keep: progress, changes against another run, outliers.
const NOTHING: [&str; 7] =
    ["Benchmarking ", "change:", "outliers among", "(p = ", " mild", " severe", "Warning: Unable to complete"];

/// `Fibonacci/Iterative     time:   [4.6702 ns 4.6709 ns 4.6967 ns]`; long names are on the line before.
fn terminal(sheet: &mut SourceSheet, source: &SourceText<'_>) -> Result<(), SourceFault> {
    let (mut before, mut benchmark) = ("", String::new());
    let mut early = early::is_early(source.text).then(EarlyLines::default);
    for (at, line) in lines(source.text) {
        let line = uncommented(line);
        if let Some(early) = &mut early {
            let (taken, reading) = early.take(line, at)?;
            sheet.readings.extend(reading);
            if taken {
                source.took(at);
                continue;
            }
        }
        let (kind, bounds) = match (between(line, "time:", "]"), between(line, "thrpt:", "]")) {
            (Some(bounds), _) => ("time:", bounds),
            (None, Some(bounds)) => ("thrpt:", bounds),
            _ => {
                before = line;
                if NOTHING.iter().any(|word| before.contains(word)) {
                    source.took(at);
                }
                continue;
            }
        };
        source.took(at);
        let words: Vec<&str> = bounds.trim_start_matches('[').split_whitespace().collect();
        // Changes against another run.
        if words.iter().any(|word| word.ends_with('%')) {
            continue;
        }
        let &[low, low_unit, value, unit, high, high_unit] = words.as_slice() else {
            return Err(SourceFault::new("the interval does not have three values", at));
        };
        if kind == "time:" {
            named(line, before).clone_into(&mut benchmark);
        }
        let value_in = |number: &str, unit: &str| match kind {
            "time:" => Ok((need(number, at)? * scale(unit).ok_or_else(|| unknown(kind, at))?, seconds("iteration"))),
            _ => {
                let (scale, metric) = throughput(unit).ok_or_else(|| unknown(kind, at))?;
                Ok((need(number, at)? * scale, metric))
            }
        };
        let ((low, _), (value, metric), (high, _)) =
            (value_in(low, low_unit)?, value_in(value, unit)?, value_in(high, high_unit)?);
        let spread = SourceSpread::Interval { low, high, level: 0.95 };
        let mut reading = reading(&benchmark, value, spread).note(ONE);
        if kind == "thrpt:" {
            (reading.id, reading.title) = ("criterion.throughput".to_owned(), "Throughput".to_owned());
        }
        reading.metric = metric;
        sheet.readings.push(
            of_estimate(reading, SLOPE_OR_MEAN).note("the line states no level; criterion's default of 95% is assumed"),
        );
    }
    Ok(())
}

/// The benchmark of a line with a time, or of the line before it.
fn named<'a>(line: &'a str, before: &'a str) -> &'a str {
    let name = line.split("time:").next().unwrap_or_default().trim();
    // Where a terminal is not written over, the name stands behind what is done with it.
    let named = if name.is_empty() { before } else { name };
    let named = named.strip_prefix("Benchmarking ").map_or(named, |named| named.trim_end_matches(':'));
    // Tables of a CI system emphasise it.
    named.strip_prefix("**").and_then(|rest| rest.strip_suffix("**")).unwrap_or(named)
}

fn unknown(kind: &str, at: usize) -> SourceFault {
    let what = if kind == "time:" { "time" } else { "throughput" };
    SourceFault::new(format!("the {what} has no known unit"), at)
}

/// A line without the sign of a comment before it: results are kept in comments of what they are of.
fn uncommented(line: &str) -> &str {
    let line = line.trim();
    let bare = ["//!", "///", "//"].iter().find_map(|sign| line.strip_prefix(sign));
    bare.filter(|bare| bare.is_empty() || bare.starts_with([' ', '\t'])).unwrap_or(line).trim()
}

/// What the unit of a throughput is in bytes or elements a second: binary, decimal, bits, or elements in thousands.
fn throughput(unit: &str) -> Option<(f64, Metric)> {
    let powers = [("", 0), ("K", 1), ("k", 1), ("M", 2), ("G", 3), ("T", 4)];
    powers.iter().find_map(|(prefix, power)| {
        let (decimal, binary) = (1000.0_f64.powi(*power), 1024.0_f64.powi(*power));
        let bytes = || bytes_per_second("bytes");
        match unit.strip_prefix(prefix)? {
            "iB/s" if *power > 0 => Some((binary, bytes())),
            "B/s" => Some((decimal, bytes())),
            "b/s" => Some((decimal / 8.0, bytes())),
            "elem/s" => Some((decimal, rate("elements"))),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn paths_name_benchmarks() {
        assert_eq!(super::benchmark_of("t/criterion/F/I/new/estimates.json"), "F/I");
        assert_eq!(super::benchmark_of("estimates.json"), "estimates.json");
        assert_eq!(super::benchmark_of(""), "");
        assert_eq!(super::benchmark_of("new/criterion/x"), "x");
    }
}
