//! YABS (yet-another-bench-script): disks by fio or dd, network by iperf3, scores of Geekbench; its text and its JSON.

mod cells;
mod document;

use super::{CodeFormat, Confidence, Parsed, SourceText, sure};
use crate::date::ctime;
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, bytes_per_second, number, seconds, text};
use crate::text::{MOST_NAMES, SourceFault, between, lines, name_value, parameter_value, plain, shown};
use cells::{block, data_rate, disk, network, score, system};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "yabs",
    tool: "YABS",
    about: "fio's mixed reads and writes by block or dd's three copies, iperf3 and ping by place, and Geekbench \
            scores; text or JSON; no spread is stated",
    by_lines: true,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    let disk = sure(head, &["Disk Speed Tests", "Basic System Information:"]);
    let places = sure(head, &["iperf3 Network Speed Tests (", "Send Speed"]);
    let scores = sure(head, &["Basic System Information:", "Benchmark Test:", "Single Core"]);
    let document = sure(head, &["\"fio\"", "\"speed_rw\"", "\"iops_rw\""]);
    let short = sure(head, &["\"distro\"", "\"mem\"", "\"geekbench\""]).max(sure(head, &["\"distro\"", "\"iperf\""]));
    let named = sure(head, &["#              Yet-Another-Bench-Script"]);
    named.max(disk).max(places).max(scores).max(document).max(short)
}

/// What the lines below a heading are.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum YabsPart {
    #[default]
    None,
    System,
    Network,
    Disk,
    Copies,
    Places,
    Score,
}

/// A run of the script.
#[derive(Default)]
struct YabsRun {
    sheet: SourceSheet,
    part: YabsPart,
    /// Headings that it has had.
    done: Vec<String>,
    /// Names of the open table's columns.
    columns: Vec<String>,
    /// Protocol of the open table of places, and version of the open scores.
    detail: String,
    /// What stated no result, and how many more.
    silent: Vec<String>,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    if source.text.trim_start().starts_with('{') {
        return document::parse(source);
    }
    let mut runs: Vec<SourceSheet> = Vec::new();
    let mut run = YabsRun::default();
    for (at, line) in lines(source.text) {
        // The progress that it overwrites stands before a carriage return.
        let line = plain(line);
        let line = line.rsplit('\r').next().unwrap_or_default().trim();
        let banner = line.starts_with('#') && line.contains("Yet-Another-Bench-Script");
        let part = heading(line);
        if banner || part.is_some_and(|_| run.done.iter().any(|done| done == line)) {
            runs.push(std::mem::take(&mut run).end());
            if runs.len() > MOST_NAMES {
                return Err(SourceFault::new(format!("it has more than {MOST_NAMES} runs"), at));
            }
        }
        let known = if let Some((part, detail)) = part {
            run.open(part, detail, line);
            true
        } else if line.is_empty() {
            run.part = YabsPart::None;
            true
        } else {
            row(&mut run, line, at)?
        };
        if known || banner {
            source.took(at);
        }
    }
    runs.push(run.end());
    Ok(Parsed::Sheets(SourceSheet::merged(runs)))
}

impl YabsRun {
    fn open(&mut self, part: YabsPart, detail: &str, line: &str) {
        (self.part, self.columns) = (part, Vec::new());
        detail.clone_into(&mut self.detail);
        self.done.push(line.to_owned());
        // Its results belong to the disk that they were made on.
        if let Some(partition) = between(line, "(Partition ", ")").filter(|_| part == YabsPart::Disk) {
            self.sheet.fact(text("device.partition", &name_value(partition), "output", &[]));
        }
    }

    fn end(mut self) -> SourceSheet {
        silent_note(&mut self.sheet, &self.silent);
        self.sheet
    }
}

/// Says what stated no result.
fn silent_note(sheet: &mut SourceSheet, silent: &[String]) {
    if let Some(first) = silent.first() {
        let more = silent.len() - 1;
        let others = if more == 0 { String::new() } else { format!(", and {more} more") };
        sheet.notes.push(format!("no result of {first}{others}"));
    }
}

/// The part that a line begins, and its protocol or version.
fn heading(line: &str) -> Option<(YabsPart, &str)> {
    let protocol = between(line, "iperf3 Network Speed Tests (", "):");
    if line == "Basic System Information:" {
        Some((YabsPart::System, ""))
    } else if line.ends_with(" Network Information:") {
        Some((YabsPart::Network, ""))
    } else if line.starts_with("fio Disk Speed Tests") {
        Some((YabsPart::Disk, ""))
    } else if line.starts_with("dd Disk Speed Tests") || line.starts_with("dd Sequential Disk Speed Tests") {
        Some((YabsPart::Copies, ""))
    } else if let Some(protocol) = protocol.filter(|_| line.starts_with("iperf3")) {
        Some((YabsPart::Places, protocol))
    } else {
        let version = line.strip_prefix("Geekbench ")?.strip_suffix(" Benchmark Test:")?;
        Some((YabsPart::Score, version))
    }
}

/// Whether a line is of the open part, or one of those around the parts.
fn row(run: &mut YabsRun, line: &str, at: usize) -> Result<bool, SourceFault> {
    let rule = line.chars().all(|c| "-| ".contains(c));
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    match run.part {
        _ if rule => {}
        YabsPart::None => return Ok(around(run, line)),
        YabsPart::System => {
            let Some((name, value)) = line.split_once(':') else { return Ok(false) };
            let Some(facts) = system(name.trim(), value.trim(), at)? else { return Ok(false) };
            facts.into_iter().for_each(|fact| run.sheet.fact(Some(fact)));
        }
        // Whose network it is says nothing of the machine.
        YabsPart::Network => {
            let name = line.split(':').next().unwrap_or_default().trim();
            return Ok(["Protocol", "ISP", "ASN", "Host", "Location", "Country"].contains(&name));
        }
        YabsPart::Score => match &cells[..] {
            ["Test", "Value"] | ["Full Test", _] => {}
            [name, value] => match score(name, value, &run.detail, at)? {
                Some(reading) => run.sheet.readings.push(reading),
                None => run.silent.push(format!("Geekbench {}", parameter_value(&run.detail))),
            },
            _ => return Ok(false),
        },
        _ if cells.len() < 2 => return Ok(false),
        _ if ["Block Size", "Provider", ""].contains(&cells[0]) => {
            run.columns = columns(run.part, &cells, at)?;
        }
        part => {
            if cells.len() != run.columns.len() {
                let (has, names) = (cells.len(), run.columns.len());
                return Err(SourceFault::new(format!("the row has {has} values and its heading {names}"), at));
            }
            record(run, part, &cells, at)?;
        }
    }
    Ok(true)
}

fn record(run: &mut YabsRun, part: YabsPart, cells: &[&str], at: usize) -> Result<(), SourceFault> {
    let cell = |name: &str| run.columns.iter().position(|column| column == name).map(|at| cells[at]);
    match part {
        YabsPart::Disk => {
            for (size, cell) in run.columns.iter().zip(cells).skip(1) {
                let readings = disk(cells[0], size, cell, at)?;
                if readings.is_empty() {
                    run.silent.push(format!("fio with blocks of {size}"));
                }
                run.sheet.readings.extend(readings);
            }
        }
        YabsPart::Places => {
            let place = [cell("Provider").unwrap_or_default(), cell("Location (Link)").unwrap_or_default()];
            for name in ["Send Speed", "Recv Speed", "Ping"] {
                let Some(word) = cell(name) else { continue };
                match network(name, word, place, &run.detail, at)? {
                    Some(reading) => run.sheet.readings.push(reading),
                    None => run.silent.push(format!("{} of {}", parameter_value(name), parameter_value(place[0]))),
                }
            }
        }
        _ => run.sheet.readings.extend(copies(&run.columns, cells, at)?),
    }
    Ok(())
}

/// Names of a table's columns; those of blocks are their sizes.
fn columns(part: YabsPart, cells: &[&str], at: usize) -> Result<Vec<String>, SourceFault> {
    let name = |(place, cell): (usize, &&str)| {
        let known = match part {
            YabsPart::Disk if place == 0 => (*cell == "Block Size").then(|| (*cell).to_owned()),
            YabsPart::Disk => cell.strip_suffix("(IOPS)").and_then(|size| block(size.trim())),
            YabsPart::Places => ["Provider", "Location (Link)", "Send Speed", "Recv Speed", "Ping"]
                .contains(cell)
                .then(|| (*cell).to_owned()),
            _ => {
                let test = cell.strip_prefix("Test ").is_some_and(|number| number.parse::<u8>().is_ok());
                (test || *cell == "Avg" || (place == 0 && cell.is_empty())).then(|| (*cell).to_owned())
            }
        };
        known.ok_or_else(|| SourceFault::new(format!("its column '{}' is not known", shown(cell)), at))
    };
    cells.iter().enumerate().map(name).collect()
}

/// `Write  | 881 MB/s    | 817 MB/s    | 811 MB/s    | 836.33 MB/s`: each test is a process of dd, and its megabyte
/// 10^6 bytes.
fn copies(columns: &[String], cells: &[&str], at: usize) -> Result<Option<SourceReading>, SourceFault> {
    let (id, title) = match cells[0].trim_end_matches('*') {
        "Write" => ("yabs.dd_write", "Sequential write by dd"),
        "Read" => ("yabs.dd_read", "Sequential read by dd"),
        other => return Err(SourceFault::new(format!("the test '{}' is not known", shown(other)), at)),
    };
    let mut values: Vec<f64> = Vec::new();
    for (_, cell) in columns.iter().zip(cells).filter(|(name, cell)| name.starts_with("Test ") && !cell.is_empty()) {
        values.push(data_rate(cell, 1.0, at)?.0);
    }
    let Some(first) = values.first().copied() else { return Ok(None) };
    Ok(Some(SourceReading::new(id, title, first, bytes_per_second("bytes")).spread(SourceSpread::Samples(values))))
}

/// Lines before and between the parts: version, date, how long it took.
fn around(run: &mut YabsRun, line: &str) -> bool {
    let inner = line.trim_matches(|c: char| c == '#' || c.is_whitespace());
    let dated = |version: &str| version.len() == 10 && version.starts_with("20");
    if line.starts_with('#') && inner.strip_prefix('v').is_some_and(dated) {
        run.sheet.version = Some(inner.to_owned());
        return true;
    }
    if line.starts_with("YABS completed in ") || line.starts_with("{\"version\":\"v20") {
        return true;
    }
    // It is also printed with the day first: `Mon 27 Feb 2023 11:03:22 PM EST`.
    let words: Vec<&str> = line.split_whitespace().collect();
    let started = match words[..] {
        [_, day, month, year, ref clock @ ..] if day.parse::<u8>().is_ok() && line.len() < 60 => {
            ctime(&format!("{month} {day} {} {year}", clock.join(" ")))
        }
        _ if (5..8).contains(&words.len()) && line.len() < 60 => ctime(line),
        _ => String::new(),
    };
    let found = !started.is_empty() && run.sheet.started.is_empty() && run.done.is_empty();
    if found {
        run.sheet.started = started;
    }
    found
}
