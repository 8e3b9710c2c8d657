//! Intel MPI Benchmarks: a table of message sizes for each benchmark and number of processes.

use super::{CodeFormat, Parsed, SourceText, likely, sure};
use crate::date::ctime;
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, bytes_per_second, rate, seconds, text};
use crate::text::{SourceFault, after, axis_value, between, first_number, lines, need, number, shown, snake};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "imb",
    tool: "Intel MPI Benchmarks",
    about: "times and rates by message size and number of processes; least and greatest over processes are the range",
    by_lines: true,
    detect: |head| {
        sure(head, &["MPI Benchmarks", "# Benchmarking"]).max(likely(head, &["# Benchmarking ", "#repetitions"]))
    },
    parse,
};

/// Content of a column.
#[derive(Clone, Copy, PartialEq)]
enum ImbColumn {
    Bytes,
    Repetitions,
    Time,
    Least,
    Greatest,
    Average,
    Rate,
    Messages,
    /// A part of a non-blocking operation's time: end of the id.
    Part(&'static str),
    Overlap,
    Defects,
}

const COLUMNS: &[(&str, ImbColumn)] = &[
    ("#bytes", ImbColumn::Bytes),
    ("#repetitions", ImbColumn::Repetitions),
    ("t[usec]", ImbColumn::Time),
    ("t_min[usec]", ImbColumn::Least),
    ("t_max[usec]", ImbColumn::Greatest),
    ("t_avg[usec]", ImbColumn::Average),
    ("Mbytes/sec", ImbColumn::Rate),
    ("Msg/sec", ImbColumn::Messages),
    ("t_ovrl[usec]", ImbColumn::Time),
    ("t_pure[usec]", ImbColumn::Part("pure")),
    ("t_CPU[usec]", ImbColumn::Part("cpu")),
    ("overlap[%]", ImbColumn::Overlap),
    ("defects", ImbColumn::Defects),
];

/// The benchmark whose table is read.
#[derive(Default)]
struct ImbBenchmark {
    name: String,
    processes: String,
    groups: String,
    threads: String,
    /// `aggregate` or not, of one-sided operations and files.
    mode: String,
    columns: Vec<ImbColumn>,
    /// Bytes in an `Mbyte`: 10^6 since 2018, 2^20 before; none if no version is stated and no row tells it.
    megabyte: Option<f64>,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let mut table = ImbBenchmark::default();
    // An excerpt does not state its version.
    let mut megabyte = megabyte_of(source.text);
    for (at, line) in lines(source.text) {
        let trimmed = line.trim();
        if let Some(version) = after(trimmed, "MPI Benchmarks") {
            sheet.version = version.split(',').next().map(|version| version.trim_start_matches('v').trim().to_owned());
            // From 2018 on, and in its updates, a megabyte is 10^6 bytes.
            megabyte = Some(if first_number(version).is_some_and(|year| year >= 2018.0) { 1e6 } else { MIB });
            sheet.begin_process();
        } else if let Some(name) = after(trimmed, "# Benchmarking") {
            table = ImbBenchmark { name: snake(name), megabyte, ..ImbBenchmark::default() };
        } else if let Some(count) = after(trimmed, "#processes =") {
            table.processes = axis_value(count.split_whitespace().next().unwrap_or_default());
            table.threads = between(count, "(threads:", ")").map(axis_value).unwrap_or_default();
        } else if let Some(mode) = trimmed.strip_prefix('#').and_then(|rest| rest.trim().strip_prefix("MODE:")) {
            table.mode = axis_value(&mode.trim().to_ascii_lowercase());
        } else if trimmed.starts_with("# (") && trimmed.contains("groups of") {
            table.groups = axis_value(trimmed.trim_start_matches("# (").split_whitespace().next().unwrap_or_default());
        } else if let Some(date) = after(trimmed, "# Date") {
            sheet.started = ctime(date.trim_start_matches(':'));
        } else if let Some(machine) = after(trimmed, "# Machine") {
            sheet.fact(text("cpu.architecture", machine.trim_start_matches(':'), "output", &[]));
        } else if let Some(release) = after(trimmed, "# Release") {
            sheet.fact(text("kernel.release", release.trim_start_matches(':'), "output", &[]));
        } else if !table.name.is_empty() && is_heading(trimmed) {
            table.columns = columns(trimmed, at)?;
        } else if !table.columns.is_empty() && trimmed.starts_with(|c: char| c.is_ascii_digit()) {
            row(&mut sheet, &table, trimmed, at)?;
        } else if trimmed.is_empty() {
            table.columns.clear();
        } else if !trimmed.starts_with('#') {
            continue;
        }
        source.took(at);
    }
    Ok(Parsed::Sheets(vec![sheet]))
}

const MIB: f64 = 1_048_576.0;

/// Note of an excerpt of small messages alone.
const UNKNOWN: &str = "its rates are left out: neither a version nor a row tells how many bytes its megabyte has";

/// The bytes of a megabyte that sizes, times and rates of the rows agree on: a rate is one, two or four messages in a
/// time.
fn megabyte_of(text: &str) -> Option<f64> {
    let (mut columns, mut votes) = (Vec::new(), [0_u32; 2]);
    for (at, line) in lines(text) {
        if is_heading(line.trim()) {
            columns = self::columns(line.trim(), at).unwrap_or_default();
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let cell = |wanted: ImbColumn| {
            let place = columns.iter().position(|column| *column == wanted)?;
            words.get(place).filter(|_| words.len() == columns.len()).and_then(|word| number(word))
        };
        let time = cell(ImbColumn::Greatest).or_else(|| cell(ImbColumn::Time));
        let (Some(bytes), Some(time), Some(rate)) = (cell(ImbColumn::Bytes), time, cell(ImbColumn::Rate)) else {
            continue;
        };
        // With fewer digits both are possible.
        if rate < 10.0 || time < 1.0 {
            continue;
        }
        let messages = rate * time / bytes;
        let near = |scale: f64| [1.0, 2.0, 4.0].iter().any(|count| (messages * scale / count - 1.0).abs() < 0.012);
        votes[0] += u32::from(near(1.0));
        votes[1] += u32::from(near(MIB / 1e6));
    }
    match votes[0].cmp(&votes[1]) {
        std::cmp::Ordering::Greater => Some(1e6),
        std::cmp::Ordering::Less => Some(MIB),
        std::cmp::Ordering::Equal => None,
    }
}

fn is_heading(line: &str) -> bool {
    line.starts_with("#bytes") || line.starts_with("#repetitions")
}

fn columns(line: &str, at: usize) -> Result<Vec<ImbColumn>, SourceFault> {
    let known = |name: &str| {
        let found = COLUMNS.iter().find(|(known, _)| *known == name).map(|(_, column)| *column);
        found.ok_or_else(|| SourceFault::new(format!("its column '{}' is not known", shown(name)), at))
    };
    line.split_whitespace().map(known).collect()
}

fn row(sheet: &mut SourceSheet, table: &ImbBenchmark, line: &str, at: usize) -> Result<(), SourceFault> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if words.len() != table.columns.len() {
        let (has, names) = (words.len(), table.columns.len());
        return Err(SourceFault::new(format!("the row has {has} values and its heading {names}"), at));
    }
    let cell = |wanted: ImbColumn| table.columns.iter().position(|column| *column == wanted).map(|at| words[at]);
    let time = |wanted: ImbColumn| cell(wanted).map(|word| Ok(need(word, at)? * 1e-6)).transpose();
    let id =
        |end: &str| if end.is_empty() { format!("imb.{}", table.name) } else { format!("imb.{}_{end}", table.name) };
    let mut readings = Vec::new();
    let main = cell(ImbColumn::Average).or(cell(ImbColumn::Time));
    if let Some(word) = main {
        let spread = match (time(ImbColumn::Least)?, time(ImbColumn::Greatest)?) {
            (Some(least), Some(greatest)) => SourceSpread::Range(least, greatest),
            _ => SourceSpread::None,
        };
        let ranks = spread != SourceSpread::None;
        let reading = SourceReading::new(id(""), &table.name, need(word, at)? * 1e-6, seconds("operation"));
        let reading = reading.printed_in(word, 1e-6).spread(spread);
        readings.push(if ranks { reading.note("the range is over processes, not over repetitions") } else { reading });
    }
    for (column, word) in table.columns.iter().zip(&words) {
        match column {
            ImbColumn::Rate => {
                let value = need(word, at)?;
                // A message of no bytes has no rate.
                match table.megabyte.filter(|_| cell(ImbColumn::Bytes) != Some("0")) {
                    Some(scale) => {
                        let metric = bytes_per_second("bytes");
                        let reading = SourceReading::new(id("bandwidth"), "Bandwidth", value * scale, metric);
                        readings.push(reading.printed_in(word, scale));
                    }
                    None if table.megabyte.is_none() && !sheet.notes.iter().any(|note| note == UNKNOWN) => {
                        sheet.notes.push(UNKNOWN.to_owned());
                    }
                    None => {}
                }
            }
            ImbColumn::Messages => {
                readings.push(SourceReading::new(id("messages"), "Message rate", need(word, at)?, rate("messages")));
            }
            ImbColumn::Part(name) => {
                let reading = SourceReading::new(id(name), *name, need(word, at)? * 1e-6, seconds("operation"));
                readings.push(reading.printed_in(word, 1e-6));
            }
            _ => {}
        }
    }
    let size = cell(ImbColumn::Bytes).map(str::parse).transpose();
    let size = size.map_err(|_| SourceFault::new("the size is not a whole number", at))?;
    sheet.readings.extend(readings.into_iter().map(|reading| table.placed(reading, size)));
    Ok(())
}

impl ImbBenchmark {
    /// The reading at the settings of its table, and at the size of its row.
    fn placed(&self, reading: SourceReading, size: Option<u64>) -> SourceReading {
        let axes = [
            ("processes", &self.processes),
            ("groups", &self.groups),
            ("threads", &self.threads),
            ("mode", &self.mode),
        ];
        let reading = size.into_iter().fold(reading, |reading, size| reading.at("size", model::format_size(size)));
        let stated = axes.into_iter().filter(|(_, value)| !value.is_empty());
        stated.fold(reading, |reading, (axis, value)| reading.at(axis, value.clone()))
    }
}
