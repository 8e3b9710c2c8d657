//! perftest: bandwidth and latency of RDMA, a header of settings and a row for each size of message.

mod settings;

use model::{Metric, Unit};

use super::{CodeFormat, Confidence, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, bytes_per_second, rate, seconds};
use crate::text::{SourceFault, lines, need, number, shown, snake};
use settings::{DURATION, Pending, PerftestSettings, before, header, settle};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "perftest",
    tool: "perftest",
    about: "average and peak bandwidth and message rate, or latency with range and quantiles of one process, by size",
    by_lines: true,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    let with = |column| sure(head, &["#bytes", "#iterations", column]);
    with("BW average[").max(with("t_min[")).max(with("t_avg["))
}

/// Bytes of its MB, which newer versions write as MiB, and of a gigabit.
const MIB: f64 = 1_048_576.0;
const GIGABIT: f64 = 125e6;

/// Content of a column, with the scale of its unit.
#[derive(Clone, Copy, PartialEq)]
enum PerftestColumn {
    Size,
    Iterations,
    Peak(f64),
    Average(f64),
    Messages,
    Least,
    Greatest,
    Typical,
    Mean,
    Deviation,
    Tail(f64),
    Transactions,
    /// Share of the CPU's time.
    Cpu,
}

/// Begin of a name, its unit, and the column.
const COLUMNS: &[(&str, &str, PerftestColumn)] = &[
    ("#bytes", "", PerftestColumn::Size),
    ("#iterations", "", PerftestColumn::Iterations),
    ("BW peak", "[MB/sec]", PerftestColumn::Peak(MIB)),
    ("BW peak", "[MiB/sec]", PerftestColumn::Peak(MIB)),
    ("BW peak", "[Gb/sec]", PerftestColumn::Peak(GIGABIT)),
    ("BW average", "[MB/sec]", PerftestColumn::Average(MIB)),
    ("BW average", "[MiB/sec]", PerftestColumn::Average(MIB)),
    ("BW average", "[Gb/sec]", PerftestColumn::Average(GIGABIT)),
    ("MsgRate", "[Mpps]", PerftestColumn::Messages),
    ("t_min", "[usec]", PerftestColumn::Least),
    ("t_max", "[usec]", PerftestColumn::Greatest),
    ("t_typical", "[usec]", PerftestColumn::Typical),
    ("t_avg", "[usec]", PerftestColumn::Mean),
    ("t_stdev", "[usec]", PerftestColumn::Deviation),
    ("99% percentile", "[usec]", PerftestColumn::Tail(0.99)),
    ("99.9% percentile", "[usec]", PerftestColumn::Tail(0.999)),
    ("tps average", "", PerftestColumn::Transactions),
    ("CPU_Util", "[%]", PerftestColumn::Cpu),
];

/// One process's output.
#[derive(Default)]
struct PerftestProcess {
    title: String,
    settings: PerftestSettings,
    columns: Vec<PerftestColumn>,
    /// Its title or its header has come, and rows.
    begun: bool,
    rows: bool,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let mut processes: Vec<PerftestProcess> = vec![PerftestProcess::default()];
    let mut pending = Pending::default();
    for (at, line) in lines(source.text) {
        let line = line.trim();
        let title = title(line);
        let heading = if line.starts_with("#bytes") { Some(columns(line, at)?) } else { None };
        // An excerpt may lack the title or the whole header.
        let excerpt = heading.is_some() || line.starts_with("Dual-port");
        let fresh = processes.last().is_some_and(|process| process.begun && !process.rows);
        if title.is_some() || (excerpt && !fresh) {
            processes.push(begin(&mut sheet, title.unwrap_or_default(), std::mem::take(&mut pending)));
        }
        let Some(process) = processes.last_mut() else { continue };
        if let Some(columns) = heading {
            process.head(columns);
        } else if process.columns.is_empty() {
            let known = title.is_some() || (!process.rows && process.begun && header(&mut process.settings, line));
            if !known && !before(&mut pending, line) {
                continue;
            }
        } else if line.starts_with("-----") && process.rows {
            process.columns = Vec::new();
        } else if line.starts_with("Conflicting CPU frequency values detected") {
            let note = "the clocks by which it converts its times disagreed, as it says itself";
            if !sheet.notes.iter().any(|known| known == note) {
                sheet.notes.push(note.to_owned());
            }
        } else if line.starts_with(|c: char| c.is_ascii_digit()) {
            sheet.readings.extend(row(process, line, at)?);
            process.rows = true;
        } else {
            // Of a table without its last line, the next command is already another's.
            if !(process.rows && before(&mut pending, line)) {
                continue;
            }
        }
        source.took(at);
    }
    settle(&mut sheet, processes.into_iter().map(|process| process.settings).collect());
    Ok(Parsed::Sheets(vec![sheet]))
}

impl PerftestProcess {
    /// The heading of its table has come.
    fn head(&mut self, columns: Vec<PerftestColumn>) {
        let latency = columns.iter().any(|column| matches!(column, PerftestColumn::Mean | PerftestColumn::Typical));
        if self.settings.test.is_empty() {
            self.settings.test = if latency { "latency" } else { "bw" }.to_owned();
        }
        if self.title.is_empty() {
            self.title = self.settings.test.replace('_', " ");
        }
        if columns.contains(&PerftestColumn::Transactions) {
            self.settings.values.entry(DURATION.to_owned()).or_insert_with(|| "yes".to_owned());
        }
        self.columns = columns;
    }
}

/// `RDMA_Write Bidirectional BW Test`
fn title(line: &str) -> Option<&str> {
    let title = line.strip_suffix(" Test")?;
    let kind = title.ends_with(" BW") || title.ends_with(" Latency");
    let verb = ["Send", "RDMA_", "Atomic", "ATOMIC", "Raw"].iter().any(|verb| title.starts_with(verb));
    (kind && verb && title.len() < 80).then_some(title)
}

fn begin(sheet: &mut SourceSheet, title: &str, pending: Pending) -> PerftestProcess {
    let mut settings = PerftestSettings {
        first: sheet.readings.len(),
        test: if title.is_empty() { pending.command } else { snake(title) },
        end: if pending.server { "server" } else { "" },
        values: pending.settings,
        ..PerftestSettings::default()
    };
    if pending.device_memory {
        settings.values.insert("memory".to_owned(), "device".to_owned());
    }
    // Without a name it is not known to be the same test as one before.
    if !settings.test.is_empty() || sheet.processes.is_empty() {
        sheet.begin_process();
    }
    PerftestProcess { title: title.to_owned(), settings, begun: true, ..PerftestProcess::default() }
}

/// Names of columns have blanks in them: the longest known one counts.
fn columns(heading: &str, at: usize) -> Result<Vec<PerftestColumn>, SourceFault> {
    let mut columns = Vec::new();
    let mut rest = heading.trim();
    while !rest.is_empty() {
        let whole = |(name, unit, _): &&(&str, &str, PerftestColumn)| {
            rest.strip_prefix(name).is_some_and(|tail| tail.starts_with(unit))
        };
        let Some((name, unit, column)) = COLUMNS.iter().find(whole) else {
            let word = shown(rest.split("  ").next().unwrap_or(rest).trim());
            return Err(SourceFault::new(format!("its column '{word}' is not known"), at));
        };
        columns.push(*column);
        rest = rest[name.len() + unit.len()..].trim_start();
    }
    Ok(columns)
}

/// Words of a row. Numbers of two decimals that are too wide for their columns stand right beside each other.
fn cells(line: &str) -> Vec<&str> {
    line.split_whitespace().flat_map(apart).filter(|part| !part.is_empty()).collect()
}

fn apart(word: &str) -> [&str; 2] {
    let glued = word.matches('.').count() == 2 && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let end = word.find('.').map(|at| at + 3).filter(|end| glued && *end < word.len());
    end.map_or([word, ""], |end| word.split_at(end).into())
}

/// The cells of a row, one below each name of the heading.
fn cells_below<'a>(columns: &[PerftestColumn], line: &'a str, at: usize) -> Result<Vec<&'a str>, SourceFault> {
    let words = cells(line);
    if words.len() == columns.len() {
        return Ok(words);
    }
    let (has, names) = (words.len(), columns.len());
    Err(SourceFault::new(format!("the row has {has} values and its heading {names}"), at))
}

fn row(process: &PerftestProcess, line: &str, at: usize) -> Result<Vec<SourceReading>, SourceFault> {
    let columns = &process.columns;
    let words = cells_below(columns, line, at)?;
    let cell = |wanted: PerftestColumn| columns.iter().position(|column| *column == wanted).map(|at| words[at]);
    let whole = |wanted, what: &str| match cell(wanted) {
        Some(word) => {
            word.parse::<u64>().map_err(|_| SourceFault::new(format!("the {what} is not a whole number"), at))
        }
        None => Err(SourceFault::new(format!("its heading names no {what}"), at)),
    };
    let size = whole(PerftestColumn::Size, "size")?;
    let iterations = u32::try_from(whole(PerftestColumn::Iterations, "number of iterations")?).unwrap_or(u32::MAX);
    let time = |wanted| cell(wanted).map(|word| Ok(need(word, at)? * 1e-6)).transpose();
    let extremes = time(PerftestColumn::Least)?.zip(time(PerftestColumn::Greatest)?);
    let spread = extremes.map_or(SourceSpread::None, |(least, greatest)| SourceSpread::Range(least, greatest));
    let mut tails: Vec<(f64, f64)> = time(PerftestColumn::Typical)?.map(|median| (0.5, median)).into_iter().collect();
    for quantile in [0.99, 0.999] {
        tails.extend(time(PerftestColumn::Tail(quantile))?.map(|value| (quantile, value)));
    }
    let zero = |wanted: fn(&PerftestColumn) -> bool| {
        columns.iter().position(wanted).is_none_or(|at| number(words[at]) == Some(0.0))
    };
    // An end that saw nothing states 0 of everything.
    let idle = zero(|column| matches!(column, PerftestColumn::Average(_)))
        && zero(|column| *column == PerftestColumn::Messages);
    let reading = |end: &str, what: &str, word: &str, scale: f64, metric: Metric| {
        let title = format!("{}{what}", process.title);
        let id = format!("perftest.{}{end}", process.settings.test);
        let reading = SourceReading::new(id, title, need(word, at)? * scale, metric).printed_in(word, scale);
        Ok(reading.at("size", model::format_size(size)))
    };
    let mut readings: Vec<SourceReading> = Vec::new();
    for (column, word) in columns.iter().zip(&words) {
        readings.push(match column {
            // With a duration the peak is not measured.
            PerftestColumn::Peak(_) if number(word) == Some(0.0) => continue,
            PerftestColumn::Average(_) | PerftestColumn::Messages if idle => continue,
            PerftestColumn::Peak(scale) => reading("_peak", ", peak", word, *scale, bytes_per_second("bytes"))?,
            PerftestColumn::Average(scale) => reading("", "", word, *scale, bytes_per_second("bytes"))?,
            PerftestColumn::Messages => reading("_messages", ", messages", word, 1e6, rate("messages"))?,
            PerftestColumn::Transactions => {
                reading("_transactions", ", transactions", word, 1.0, rate("transactions"))?
            }
            PerftestColumn::Cpu => {
                reading("_cpu", ", CPU", word, 0.01, Metric::lower(Unit::Ratio, "time of the CPUs"))?
            }
            PerftestColumn::Typical => {
                let median = reading("_typical", ", median", word, 1e-6, seconds("message"))?;
                median.spread(spread.clone()).counts(1, iterations)
            }
            PerftestColumn::Mean => {
                let mut mean = reading("", "", word, 1e-6, seconds("message"))?.spread(spread.clone());
                mean.quantiles.clone_from(&tails);
                mean.counts(1, iterations)
            }
            _ => continue,
        });
    }
    Ok(readings)
}
