//! redis-benchmark: requests a second by command, in its terminal's output, with -q, and as CSV.

use super::{CodeFormat, Confidence, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, rate, seconds};
use crate::text::{SourceFault, axis_value, between, lines, need, number, one_line, shown};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "redis-benchmark",
    tool: "redis-benchmark",
    about: "requests a second by command, and latency with its percentiles where printed; no spread is stated",
    by_lines: true,
    detect,
    parse,
};

/// What version 6.1 and older begin with as CSV: two columns without a heading.
const FIRST_OF_OLD: &[u8] = b"\"PING_INLINE\",\"";

fn detect(head: &[u8]) -> Confidence {
    let long = sure(head, &["requests completed in", "parallel clients", "======"]);
    let old = if head.starts_with(FIRST_OF_OLD) { Confidence::Sure } else { Confidence::No };
    let csv = sure(head, &["\"test\",\"rps\""]).max(old);
    let quiet = ["SET: ", "GET: ", "PING_"].iter().map(|name| sure(head, &["requests per second", name]));
    let quiet = quiet.chain([sure(head, &["requests per second, p50="])]).max().unwrap_or(Confidence::No);
    long.max(csv).max(quiet)
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let mut test = String::new();
    let mut axes: Vec<(&str, String)> = Vec::new();
    let mut heading: Vec<String> = Vec::new();
    let mut summary: Vec<&str> = Vec::new();
    // Before version 6.2, shares of requests by whole milliseconds, which are no latency of their own.
    let mut shares: Vec<&str> = Vec::new();
    for (at, whole) in lines(source.text) {
        // Progress is written over with carriage returns.
        let line = whole.rsplit('\r').find(|part| !part.trim().is_empty()).unwrap_or_default().trim();
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some(name) = between(line, "======", "======") {
            test = name.to_owned();
            shares.clear();
            axes.clear();
            sheet.begin_process();
        } else if line.starts_with("\"test\"") {
            heading = cells(line);
        } else if line.starts_with('"') {
            let cells = cells(line);
            if heading.is_empty() && cells.len() == 2 {
                heading = ["test", "rps"].map(str::to_owned).into();
            }
            if heading.is_empty() {
                continue;
            }
            comma_separated(&mut sheet, &heading, &cells, at)?;
        } else if let Some(value) = between(line, "throughput summary:", "requests per second") {
            sheet.readings.push(of_test(rps(value, at)?, &test, &axes));
        } else if let Some(value) = line.strip_suffix(" requests per second").filter(|value| number(value).is_some()) {
            let reading = of_test(rps(value, at)?, &test, &axes);
            let shown = std::mem::take(&mut shares);
            sheet.readings.push(if shown.is_empty() { reading } else { reading.note(share_note(&shown)) });
        } else if line.contains("% <= ") && line.ends_with(" milliseconds") && !line.contains("(cumulative") {
            shares.push(line);
        } else if let Some((name, rest)) =
            line.split_once(": ").filter(|(_, rest)| rest.contains("requests per second"))
        {
            quiet(&mut sheet, name, rest, at)?;
        } else if let Some(setting) = setting(line, &words) {
            axes.push(setting);
        } else if words.starts_with(&["avg", "min", "p50"]) {
            summary = words;
        } else if !summary.is_empty() && words.len() == summary.len() && words.iter().all(|word| number(word).is_some())
        {
            let reading = latency(&summary, &words, at)?;
            sheet.readings.push(of_test(reading, &test, &axes));
            summary = Vec::new();
        } else if !is_detail(line) {
            continue;
        }
        source.took(at);
    }
    Ok(Parsed::Sheets(vec![sheet]))
}

/// The first and the last shares of requests.
fn share_note(shares: &[&str]) -> String {
    const MOST: usize = 6;
    let shown: Vec<&str> = match shares {
        [first @ .., last] if first.len() >= MOST => first[..MOST - 1].iter().copied().chain(["...", last]).collect(),
        all => all.to_vec(),
    };
    one_line(&format!("latency of requests: {}", shown.join(", ")), 300)
}

/// What the lines above a result say of the clients.
fn setting(line: &str, words: &[&str]) -> Option<(&'static str, String)> {
    match words {
        [count, "parallel", "clients"] => Some(("clients", axis_value(count))),
        [size, "bytes", "payload"] => Some(("payload", format!("{}B", axis_value(size)))),
        _ if line == "keep alive: 0" => Some(("keep_alive", "no".to_owned())),
        _ => {
            let threads = line.strip_prefix("threads:").filter(|count| count.trim() != "1");
            threads.map(|count| ("threads", axis_value(count)))
        }
    }
}

/// Settings, histograms and progress.
fn is_detail(line: &str) -> bool {
    [
        "requests completed in",
        "percent",
        "% <=",
        "keep alive",
        "milliseconds",
        "latency summary",
        "overall:",
        "rps=",
        "host configuration",
        "multi-thread",
        "threads:",
    ]
    .iter()
    .any(|words| line.contains(words))
}

fn rps(value: &str, at: usize) -> Result<SourceReading, SourceFault> {
    let reading = SourceReading::new("redis_benchmark.requests", "Requests", need(value, at)?, rate("requests"));
    Ok(reading.printed_in(value, 1.0))
}

/// Short outputs do not print the settings of their command.
fn unstated(reading: SourceReading, test: &str) -> SourceReading {
    reading.at("test", axis_value(test)).note("clients, pipelining and payload are not printed")
}

/// The rows of a test without anything that shows where a process begins: a test that is stated again is a further one.
fn begin_again(sheet: &mut SourceSheet, test: &str) {
    let first = sheet.processes.last().copied().unwrap_or_default();
    let test = axis_value(test);
    if sheet.readings[first..].iter().any(|reading| reading.point.get("test") == Some(&test)) {
        sheet.begin_process();
    }
}

fn of_test(reading: SourceReading, test: &str, axes: &[(&str, String)]) -> SourceReading {
    let reading = if test.is_empty() { reading } else { reading.at("test", axis_value(test)) };
    axes.iter().fold(reading, |reading, (axis, value)| reading.at(axis, value.clone()))
}

/// `SET: 123456.79 requests per second, p50=0.207 msec`
fn quiet(sheet: &mut SourceSheet, name: &str, rest: &str, at: usize) -> Result<(), SourceFault> {
    let value = rest.split_whitespace().next().unwrap_or_default();
    begin_again(sheet, name);
    sheet.readings.push(unstated(rps(value, at)?, name));
    if let Some(median) = between(rest, "p50=", " msec") {
        let value = need(median, at)? * 1e-3;
        let reading = SourceReading::new("redis_benchmark.latency", "Median latency", value, seconds("request"));
        sheet.readings.push(unstated(reading.printed_in(median, 1e-3), name));
    }
    Ok(())
}

/// `avg  min  p50  p95  p99  max`, in milliseconds.
fn latency(names: &[&str], words: &[&str], at: usize) -> Result<SourceReading, SourceFault> {
    let mut reading = SourceReading::new("redis_benchmark.latency", "Median latency", f64::NAN, seconds("request"));
    for (name, word) in names.iter().zip(words) {
        let value = need(word, at)? * 1e-3;
        let quantile = match *name {
            "avg" => continue,
            "min" => 0.0,
            "max" => 1.0,
            name => match name.strip_prefix('p').and_then(number) {
                Some(percent) => percent / 100.0,
                None => return Err(SourceFault::new(format!("its column '{}' is not known", shown(name)), at)),
            },
        };
        if *name == "p50" {
            reading.value = value;
            reading = reading.printed_in(word, 1e-3);
        }
        reading.quantiles.push((quantile, value));
    }
    Ok(reading)
}

fn cells(line: &str) -> Vec<String> {
    line.split(',').map(|cell| cell.trim().trim_matches('"').to_owned()).collect()
}

/// `"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms",...`
fn comma_separated(
    sheet: &mut SourceSheet,
    heading: &[String],
    cells: &[String],
    at: usize,
) -> Result<(), SourceFault> {
    if cells.len() != heading.len() {
        let (has, names) = (cells.len(), heading.len());
        return Err(SourceFault::new(format!("the row has {has} values and its heading {names}"), at));
    }
    let cell = |name: &str| heading.iter().position(|known| known == name).map(|at| cells[at].as_str());
    let test = cell("test").unwrap_or_default();
    begin_again(sheet, test);
    sheet.readings.push(unstated(rps(cell("rps").unwrap_or_default(), at)?, test));
    if let Some(median) = cell("p50_latency_ms") {
        let names: Vec<&str> = heading.iter().filter_map(|name| name.strip_suffix("_latency_ms")).collect();
        let words: Vec<&str> = heading
            .iter()
            .zip(cells)
            .filter(|(name, _)| name.ends_with("_latency_ms"))
            .map(|(_, cell)| cell.as_str())
            .collect();
        need(median, at)?;
        sheet.readings.push(unstated(latency(&names, &words, at)?, test));
    }
    Ok(())
}
