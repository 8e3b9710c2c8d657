//! Go's `go test -bench`: a line for each repetition of each benchmark, in one process a package.

use std::collections::{BTreeMap, BTreeSet};

use model::{Metric, Primitive, Unit};

use super::{CodeFormat, Confidence, Parsed, SourceText};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, bytes_per_second, rate, seconds, text};
use crate::text::{SourceFault, axis_value, lines, need, shown, snake};

pub(super) static FORMAT: CodeFormat = CodeFormat {
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

/// What has been read so far: one sheet a machine, whose processes end with `ok`, `FAIL` or a new heading.
#[derive(Default)]
struct GoBenchReader {
    sheets: Vec<SourceSheet>,
    sheet: SourceSheet,
    /// Facts of the machine by name, and those stated since the last row.
    heading: BTreeMap<&'static str, String>,
    stated: BTreeMap<&'static str, String>,
    series: Vec<GoBenchSeries>,
    places: BTreeMap<(String, String), usize>,
    /// Names of the rows of the present process, and of its last one.
    seen: BTreeSet<String>,
    last: String,
}

impl GoBenchReader {
    fn stated(&mut self, name: &'static str, value: &str) {
        self.end_process();
        self.stated.insert(name, axis_value(value));
    }

    /// Takes what was stated before the first row of a process: another machine has a sheet of its own.
    fn begin_process(&mut self) {
        let stated = std::mem::take(&mut self.stated);
        let other = |(name, value): (&&str, &String)| self.heading.get(name).is_some_and(|known| known != value);
        if stated.iter().any(other) && !self.sheet.readings.is_empty() {
            self.end_sheet();
            self.heading.clear();
        }
        self.heading.extend(stated);
    }

    /// Whether a row's benchmark stood above another one: repetitions of `-count` follow on each other, so that it is
    /// of another process, or of another program, and no repetition.
    fn is_apart(&mut self, name: &str) -> bool {
        let apart = !self.seen.insert(name.to_owned()) && self.last != name;
        name.clone_into(&mut self.last);
        apart
    }

    fn take(&mut self, reading: SourceReading, apart: bool) {
        self.begin_process();
        let key = (reading.id.clone(), reading.point.to_string());
        if apart {
            self.places.remove(&key);
        }
        let place = *self.places.entry(key).or_insert(self.series.len());
        if let Some(series) = self.series.get_mut(place) {
            series.values.push(reading.value);
        } else {
            self.series.push(GoBenchSeries { values: vec![reading.value], reading });
        }
    }

    fn end_process(&mut self) {
        if !self.series.is_empty() {
            self.sheet.begin_process();
            self.sheet.readings.extend(self.series.drain(..).map(finish));
            self.places.clear();
            self.seen.clear();
            self.last.clear();
        }
    }

    /// Ends the readings of one machine.
    fn end_sheet(&mut self) {
        let mut sheet = std::mem::take(&mut self.sheet);
        for (name, value) in &self.heading {
            let affects: &[Primitive] = if *name == "cpu.model" { &[Primitive::CoreClock] } else { &[] };
            sheet.fact(text(name, value, "output", affects));
        }
        self.sheets.push(sheet);
    }
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    const STATED: [(&str, &str); 3] = [("cpu:", "cpu.model"), ("goos:", "os.name"), ("goarch:", "cpu.architecture")];
    let mut reader = GoBenchReader::default();
    let mut package = String::new();
    for (at, line) in lines(source.text) {
        let line = line.trim();
        let stated = STATED.iter().find_map(|(begin, fact)| Some((*fact, line.strip_prefix(begin)?)));
        if let Some((fact, value)) = stated {
            reader.stated(fact, value);
        } else if let Some(name) = line.strip_prefix("pkg:") {
            reader.end_process();
            package = axis_value(name);
        } else if line.starts_with("Benchmark") && line.contains("/op") {
            let readings = row(&package, line, at)?;
            let apart = reader.is_apart(line.split_whitespace().next().unwrap_or_default());
            readings.into_iter().for_each(|reading| reader.take(reading, apart));
        } else if ["ok ", "ok\t", "FAIL"].iter().any(|begin| line.starts_with(begin)) {
            reader.end_process();
        } else if !["PASS", "---", "exit status"].iter().any(|begin| line.starts_with(begin)) {
            continue;
        }
        source.took(at);
    }
    reader.end_process();
    reader.end_sheet();
    Ok(Parsed::Sheets(reader.sheets))
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
            own if own.contains(|c: char| c.is_ascii_alphabetic()) => own_metric(own),
            other => return Err(SourceFault::new(format!("its unit '{}' is not known", shown(other)), at)),
        };
        // A benchmark's own metric is told from what every benchmark has.
        let known = matches!(pair[1], "ns/op" | "B/op" | "allocs/op" | "MB/s");
        let title = if known { name.to_owned() } else { format!("{name}, {}", pair[1]) };
        let mut reading = SourceReading::new(id, title, value * scale, metric).printed_in(pair[0], scale);
        reading = reading.at("benchmark", axis_value(name));
        if let Some(threads) = threads {
            reading = reading.at("threads", threads);
        }
        readings.push(if package.is_empty() { reading } else { reading.at("package", package) });
    }
    Ok(readings)
}

/// A metric that the benchmark reports itself: a rate by the end of its unit or its name, a time by its beginning, else
/// a count. Ids of their own keep them apart from what Go itself prints.
fn own_metric(own: &str) -> (String, f64, Metric) {
    const RATES: [&str; 6] = ["/s", "/sec", "qps", "rps", "tps", "iops"];
    const TIMES: [(&str, f64); 4] = [("ns", 1e-9), ("us", 1e-6), ("\u{b5}s", 1e-6), ("ms", 1e-3)];
    let id = match snake(own).as_str() {
        name @ ("time" | "allocated" | "allocations" | "bytes") => format!("go_bench.own_{name}"),
        name => format!("go_bench.{name}"),
    };
    let per = axis_value(own);
    if let Some(known) = crate::units::unit(own).filter(|known| known.unit == Unit::BytesPerSecond) {
        return (id, known.scale, Metric { per: per.into(), ..bytes_per_second("") });
    }
    if RATES.iter().any(|end| own.to_ascii_lowercase().ends_with(end)) {
        return (id, 1.0, Metric { per: per.into(), ..rate("") });
    }
    let timed = |name: &str| {
        own == name
            || own.starts_with(&format!("{name}/"))
            || ["-", "_"].iter().any(|by| own.contains(&format!("{by}{name}/")))
    };
    if let Some((_, scale)) = TIMES.iter().find(|(name, _)| timed(name)) {
        return (id, *scale, Metric { per: per.into(), ..seconds("") });
    }
    (id, 1.0, Metric { unit: Unit::Count, per: per.into(), better: model::Better::Lower })
}

/// The name without its prefix, and the number of threads behind the last hyphen; one thread is not printed.
fn named(word: &str) -> (&str, Option<&str>) {
    let word = word.strip_prefix("Benchmark").unwrap_or(word);
    match word.rsplit_once('-') {
        Some((name, threads)) if !name.is_empty() && threads.parse::<u32>().is_ok() => (name, Some(threads)),
        _ => (word, None),
    }
}
