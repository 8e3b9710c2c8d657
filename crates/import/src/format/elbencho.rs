//! elbencho: the table of each phase, by the time when its last thread was done.

use model::Metric;

use super::{CodeFormat, Parsed, SourceText, sure};
use crate::date::iso;
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, rate, seconds};
use crate::text::{SourceFault, axis_value, duration, lines, need, number, shown, spans};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "elbencho",
    tool: "elbencho",
    about: "time, rates and latency of each phase until its last thread was done, by the options of its command; no \
            spread is stated",
    by_lines: true,
    detect: |head| sure(head, &["RESULT TYPE", "FIRST DONE", "LAST DONE"]),
    parse,
};

/// Options of a command that define its figures: their names, the axis, and the value where they take none.
const OPTIONS: [(&str, &str, &str, Option<&str>); 9] = [
    ("-t", "--threads", "threads", None),
    ("-b", "--block", "block", None),
    ("-s", "--size", "size", None),
    ("-n", "--dirs", "dirs", None),
    ("-N", "--files", "files", None),
    ("--iodepth", "--iodepth", "depth", None),
    ("--hosts", "--hosts", "hosts", None),
    ("--direct", "--direct", "direct", Some("yes")),
    ("--rand", "--rand", "order", Some("random")),
];

/// Results with one value in each column: their name, the id and title, and base units in one.
const RATES: [(&str, &str, &str, f64); 6] = [
    ("Throughput MiB/s", "throughput", "Throughput", 1_048_576.0),
    ("IOPS", "iops", "I/O operations", 1.0),
    ("Files/s", "files", "Files", 1.0),
    ("Dirs/s", "dirs", "Directories", 1.0),
    ("Objects/s", "objects", "Objects", 1.0),
    ("Buckets/s", "buckets", "Buckets", 1.0),
];

/// Results that follow from others, or from the options.
const COUNTS: [&str; 7] =
    ["Total MiB", "Files total", "Dirs total", "Objects total", "Buckets total", "CPU util %", "lat hist"];

/// Where a reader of its tables is.
#[derive(Default)]
struct ElbenchoReader {
    sheet: SourceSheet,
    axes: Vec<(&'static str, String)>,
    /// The phase whose rows are read.
    operation: String,
    inside: bool,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut reader = ElbenchoReader::default();
    for (at, line) in lines(source.text) {
        if reader.line(line.trim(), at)? {
            source.took(at);
        }
    }
    reader.sheet.notes.push("each result is of all threads until the last one was done".to_owned());
    Ok(Parsed::Sheets(vec![reader.sheet]))
}

impl ElbenchoReader {
    /// Whether the line was understood.
    fn line(&mut self, line: &str, at: usize) -> Result<bool, SourceFault> {
        if let Some(words) = line.strip_prefix("COMMAND LINE:") {
            self.command(&words.split_whitespace().map(|word| word.trim_matches('"')).collect::<Vec<_>>());
        } else if let Some(date) = line.strip_prefix("ISO DATE") {
            if self.sheet.started.is_empty() {
                self.sheet.started = iso(date.trim_start_matches(" start").trim_start_matches([':', ' ']));
            }
        } else if line.starts_with("OPERATION") && line.contains("RESULT TYPE") {
            heading(line, at)?;
            self.sheet.begin_process();
            (self.inside, self.operation) = (true, String::new());
        } else if let Some((left, right)) =
            line.split_once(" :").or_else(|| line.split_once(':')).filter(|_| self.inside)
        {
            return self.row(left.trim(), right.trim(), at);
        } else {
            return Ok(line.starts_with("---"));
        }
        Ok(true)
    }

    fn command(&mut self, words: &[&str]) {
        let find = |(short, long, axis, fixed): &(&str, &str, &'static str, Option<&str>)| {
            words.iter().enumerate().find_map(|(place, word)| {
                let (name, inside) = word.split_once('=').map_or((*word, None), |(name, value)| (name, Some(value)));
                let named = name == *short || name == *long;
                let value = fixed.or(inside).or_else(|| words.get(place + 1).copied());
                value.filter(|_| named).map(|value| (*axis, axis_value(value.trim_matches(['"', '\'']))))
            })
        };
        self.axes = OPTIONS.iter().filter_map(find).collect();
    }

    /// `WRITE       Elapsed time     :    2m3.241s    2m5.755s`, or a further row without the operation.
    fn row(&mut self, left: &str, right: &str, at: usize) -> Result<bool, SourceFault> {
        if let Some(operation) = left.strip_suffix("Elapsed time") {
            self.operation = axis_value(operation).to_ascii_lowercase();
            let word = last(right, at)?;
            let value = elapsed(word).ok_or_else(|| SourceFault::new(format!("'{}' is no time", shown(word)), at))?;
            self.push("time", "Time", value, seconds("phase"), "");
            return Ok(true);
        }
        if self.operation.is_empty() {
            return Err(SourceFault::new("this row stands before its operation", at));
        }
        if let Some((_, id, title, scale)) = RATES.iter().find(|(name, ..)| *name == left) {
            let word = last(right, at)?;
            let metric = if *id == "throughput" { bytes_per_second("bytes") } else { rate("operations") };
            self.push(id, title, need(word, at)? * scale, metric, word);
        } else if let Some(what) = left.strip_suffix(" latency") {
            return self.latency(what, right);
        } else if let Some(what) = left.strip_suffix(" lat % us") {
            return Ok(self.percentiles(what, right));
        } else {
            return Ok(COUNTS.iter().any(|name| left.ends_with(name)));
        }
        Ok(true)
    }

    fn push(&mut self, id: &str, title: &str, value: f64, metric: Metric, digits: &str) {
        let mut reading = SourceReading::new(format!("elbencho.{id}"), title, value, metric);
        if !digits.is_empty() {
            reading = reading.printed(digits);
        }
        reading = reading.at("operation", self.operation.clone());
        let axes = self.axes.iter();
        self.sheet.readings.push(axes.fold(reading, |reading, (axis, value)| reading.at(axis, value.clone())));
    }

    /// `[ min=108us avg=469us max=14.5ms ]`
    fn latency(&mut self, what: &str, right: &str) -> Result<bool, SourceFault> {
        let cell = |name: &str| {
            let word = right.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
            word.and_then(duration)
        };
        let (Some(least), Some(average), Some(greatest)) = (cell("min"), cell("avg"), cell("max")) else {
            return Ok(false);
        };
        self.push(&latency_id(what), "Latency, average", average, seconds("operation"), "");
        if let Some(reading) = self.sheet.readings.last_mut() {
            reading.quantiles = vec![(0.0, least), (1.0, greatest)];
        }
        Ok(true)
    }

    /// `[ 1%<=215 50%<=512 ]`: upper bounds of the buckets in which the percentiles lie. Whether a latency has them.
    fn percentiles(&mut self, what: &str, right: &str) -> bool {
        let id = format!("elbencho.{}", latency_id(what));
        let last = self.sheet.readings.last_mut().filter(|reading| reading.id == id);
        let Some(reading) = last else { return false };
        for word in right.split_whitespace() {
            if let Some((percent, bound)) = word.split_once("%<=").and_then(|(a, b)| Some((number(a)?, number(b)?))) {
                reading.quantiles.push((percent / 100.0, bound * 1e-6));
            }
        }
        reading.quantiles.sort_by(|a, b| a.0.total_cmp(&b.0));
        reading.notes.push("its percentiles are upper bounds".to_owned());
        true
    }
}

/// `IO`, `Files`, `Dirs`: of what a latency is.
fn latency_id(what: &str) -> String {
    format!("{}_latency", crate::text::snake(what))
}

/// The columns are found by their names, which stand two blanks apart.
fn heading(line: &str, at: usize) -> Result<(), SourceFault> {
    let names: Vec<&str> = line.split("  ").map(str::trim).filter(|name| !name.is_empty()).collect();
    if names == ["OPERATION", "RESULT TYPE", "FIRST DONE", "LAST DONE"] {
        return Ok(());
    }
    Err(SourceFault::new(format!("the heading '{}' is not known", shown(line)), at))
}

/// The value of the last column, of two.
fn last(right: &str, at: usize) -> Result<&str, SourceFault> {
    match spans(right)[..] {
        [_, (from, to)] => Ok(&right[from..to]),
        _ => Err(SourceFault::new("the row does not have two values", at)),
    }
}

/// `1h2m3.5s`, `586ms`: numbers, each with its unit.
fn elapsed(word: &str) -> Option<f64> {
    let (mut rest, mut total) = (word, 0.0);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| c.is_ascii_alphabetic())?;
        let unit = rest[digits..].find(|c: char| !c.is_ascii_alphabetic()).map_or(rest.len(), |end| digits + end);
        total += duration(&rest[..unit])?;
        rest = &rest[unit..];
    }
    Some(total).filter(|_| !word.is_empty())
}

#[cfg(test)]
mod tests {
    #[test]
    fn times_are_sums_of_their_units() {
        for (word, expected) in [("2m5.755s", 125.755), ("586ms", 0.586), ("1h0m1s", 3601.0), ("30.140s", 30.14)] {
            assert!((super::elapsed(word).unwrap() - expected).abs() < 1e-9, "{word}");
        }
        for word in ["", "12", "5parsecs", "m"] {
            assert_eq!(super::elapsed(word), None, "{word}");
        }
    }
}
