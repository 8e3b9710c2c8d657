//! Go's `go test -bench`: a line for each repetition of each benchmark, in one process a package.

use std::collections::BTreeMap;

use model::{Metric, Primitive, Unit};

use super::{Confidence, ImportFormat, Parsed, SourceText};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, bytes_per_second, rate, seconds, text};
use crate::text::{SourceFault, axis_value, lines, need, shown, snake};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "go-bench",
    tool: "go test -bench",
    about: "time, bytes and allocations an operation, and own metrics; repetitions (-count) run in one process, so they \
            are a range and not an interval of confidence",
    by_lines: true,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    let text = String::from_utf8_lossy(head);
    let row = text.lines().any(|line| line.trim_start().starts_with("Benchmark") && line.contains(" ns/op"));
    if row { Confidence::Sure } else { Confidence::No }
}

/// One quantity of one benchmark, with all its repetitions.
struct GoBenchSeries {
    reading: SourceReading,
    values: Vec<f64>,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let mut series: Vec<GoBenchSeries> = Vec::new();
    let mut places: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut package = String::new();
    for (at, line) in lines(source.text) {
        let line = line.trim();
        if let Some(name) = line.strip_prefix("pkg:") {
            package = axis_value(name);
        } else if let Some(cpu) = line.strip_prefix("cpu:") {
            sheet.fact(text("cpu.model", &axis_value(cpu), "output", &[Primitive::CoreClock]));
        } else if let Some(os) = line.strip_prefix("goos:") {
            sheet.fact(text("os.name", &axis_value(os), "output", &[]));
        } else if let Some(architecture) = line.strip_prefix("goarch:") {
            sheet.fact(text("cpu.architecture", &axis_value(architecture), "output", &[]));
        } else if line.starts_with("Benchmark") && line.contains("/op") {
            for reading in row(&package, line, at)? {
                let key = (reading.id.clone(), reading.point.to_string());
                let place = *places.entry(key).or_insert(series.len());
                if place == series.len() {
                    series.push(GoBenchSeries { values: Vec::new(), reading });
                    let value = series[place].reading.value;
                    series[place].values.push(value);
                } else {
                    series[place].values.push(reading.value);
                }
            }
        } else if !["ok ", "ok\t", "PASS", "---", "goos", "exit status"].iter().any(|begin| line.starts_with(begin)) {
            continue;
        }
        source.took(at);
    }
    sheet.readings.extend(series.into_iter().map(finish));
    Ok(Parsed::Sheets(vec![sheet]))
}

fn finish(mut series: GoBenchSeries) -> SourceReading {
    series.values.sort_by(f64::total_cmp);
    let median = stats::median(&series.values).unwrap_or(series.reading.value);
    let reading = SourceReading { value: median, ..series.reading };
    let count = u32::try_from(series.values.len()).unwrap_or(u32::MAX);
    match series.values[..] {
        [least, .., greatest] => reading
            .spread(SourceSpread::Range(least, greatest))
            .counts(1, count)
            .note("the median of repetitions in one process, whose least and greatest are the range"),
        _ => reading,
    }
}

/// `BenchmarkPut/n=10-8   4236652   269.1 ns/op   26.91 put_ns/key   576 B/op   4 allocs/op`: name, iterations, then
/// values each with its unit.
fn row(package: &str, line: &str, at: usize) -> Result<Vec<SourceReading>, SourceFault> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (name, threads) = named(words[0]);
    // A log line of the benchmark itself, which states no iterations.
    if words.get(1).is_none_or(|count| count.parse::<u64>().is_err()) {
        return Err(SourceFault::new("the line does not state its iterations", at));
    }
    let pairs = &words[2..];
    if pairs.len() < 2 || !pairs.len().is_multiple_of(2) {
        return Err(SourceFault::new("the line ends early", at));
    }
    let mut readings = Vec::new();
    for pair in pairs.chunks(2) {
        let value = need(pair[0], at)?;
        let (id, scale, metric) = match pair[1] {
            "ns/op" => ("go_bench.time".to_owned(), 1e-9, seconds("operation")),
            "B/op" => ("go_bench.allocated".to_owned(), 1.0, Metric::lower(Unit::Bytes, "operation")),
            "allocs/op" => ("go_bench.allocations".to_owned(), 1.0, Metric::lower(Unit::Count, "operation")),
            "MB/s" => ("go_bench.bytes".to_owned(), 1e6, bytes_per_second("bytes")),
            // Metrics that the benchmark reports itself: rates, times by their unit's beginning, other counts.
            own if own.ends_with("/s") => {
                (format!("go_bench.{}", snake(own)), 1.0, Metric { per: axis_value(own).into(), ..rate("") })
            }
            own if own.starts_with("ns/") || own.contains("-ns/") || own.contains("_ns/") => {
                (format!("go_bench.{}", snake(own)), 1e-9, Metric { per: axis_value(own).into(), ..seconds("") })
            }
            own if own.contains(|c: char| c.is_ascii_alphabetic()) => (
                format!("go_bench.{}", snake(own)),
                1.0,
                Metric { unit: Unit::Count, per: axis_value(own).into(), better: model::Better::Lower },
            ),
            other => return Err(SourceFault::new(format!("its unit '{}' is not known", shown(other)), at)),
        };
        let mut reading = SourceReading::new(id, name, value * scale, metric).printed_in(pair[0], scale);
        reading = reading.at("benchmark", axis_value(name));
        if let Some(threads) = threads {
            reading = reading.at("threads", threads);
        }
        readings.push(if package.is_empty() { reading } else { reading.at("package", package) });
    }
    Ok(readings)
}

/// The name without its prefix, and the number of threads behind the last hyphen; one thread is not printed.
fn named(word: &str) -> (&str, Option<&str>) {
    let word = word.strip_prefix("Benchmark").unwrap_or(word);
    match word.rsplit_once('-') {
        Some((name, threads)) if !name.is_empty() && threads.parse::<u32>().is_ok() => (name, Some(threads)),
        _ => (word, None),
    }
}
