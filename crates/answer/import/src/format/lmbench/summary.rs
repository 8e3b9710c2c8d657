//! Summary tables: columns under dashes, with cells that may be missing.

use model::{Metric, Primitive, Unit};

use super::tables::{LOAD, LmbenchTable, TABLES, spelt};
use crate::format::SourceText;
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, number, seconds, text};
use crate::text::{MOST_NAMES, SourceFault, lines, number as read, shown};

/// A host with one system. Every table has one row for each of its runs, in the same order.
struct LmbenchHost {
    sheet: SourceSheet,
    system: String,
    /// Whether the system's name fills its column, so that it may be cut.
    cut: bool,
    runs: Vec<LmbenchRun>,
    /// Rows of the present table.
    rows: usize,
}

#[derive(Default)]
struct LmbenchRun {
    readings: Vec<SourceReading>,
    /// Copies of each test that ran at once, if stated.
    copies: String,
}

/// Where the lines of a table are.
#[derive(Default)]
enum TableState<'a> {
    #[default]
    Outside,
    /// Under its title, with the words of its heading so far.
    Heading { title: &'static str, words: Vec<&'a str> },
    /// Under the dashes, whose groups have these begins and ends.
    Rows { table: &'static LmbenchTable, groups: Vec<(usize, usize)> },
}

pub(super) fn parse(source: &SourceText<'_>) -> Result<Vec<SourceSheet>, SourceFault> {
    let mut hosts: Vec<LmbenchHost> = Vec::new();
    let (mut place, mut version) = (TableState::Outside, "");
    for (at, line) in lines(source.text) {
        let trimmed = line.trim();
        if let Some(known) = TABLES.iter().find(|known| trimmed.starts_with(known.title)) {
            place = TableState::Heading { title: known.title, words: Vec::new() };
            hosts.iter_mut().for_each(|host| host.rows = 0);
        } else if let Some(rest) = trimmed.strip_prefix("L M B E N C H") {
            version = rest.trim_start().get(..1).unwrap_or_default();
        } else if trimmed.is_empty() {
            // A heading may have a second line without words.
            if line.is_empty() || !matches!(place, TableState::Heading { .. }) {
                place = TableState::Outside;
            }
        } else {
            match &mut place {
                TableState::Heading { title, words } if is_ruler(line) => {
                    place = TableState::Rows { table: table(title, words, at)?, groups: spans(line) };
                    if let TableState::Rows { table, groups } = &place {
                        check(table, groups, at)?;
                    }
                }
                TableState::Heading { words, .. } => {
                    // Dashes of the whole width, and a warning, stand above it.
                    if !trimmed.starts_with("---") && !trimmed.starts_with('(') {
                        words.extend(trimmed.split_whitespace());
                    }
                }
                TableState::Rows { table, groups } => {
                    if !row(&mut hosts, table, groups, line, at)? {
                        continue;
                    }
                }
                TableState::Outside => continue,
            }
        }
        source.took(at);
    }
    Ok(hosts.into_iter().map(|host| host.finish(version)).collect())
}

/// The table with these words in its heading.
fn table(title: &str, words: &[&str], at: usize) -> Result<&'static LmbenchTable, SourceFault> {
    let words = spelt(&words.join(" "));
    let heading = words.strip_prefix("Host OS ").unwrap_or(&words);
    let found = TABLES.iter().find(|known| known.title == title && known.heading == heading);
    found.ok_or_else(|| SourceFault::new(format!("the heading '{}' of '{title}' is not known", shown(heading)), at))
}

/// Every column needs its group of dashes, behind those of the host and the system.
fn check(table: &LmbenchTable, groups: &[(usize, usize)], at: usize) -> Result<(), SourceFault> {
    let (has, names) = (groups.len(), table.columns.len() + 2);
    if has == names {
        return Ok(());
    }
    Err(SourceFault::new(format!("{has} groups of dashes stand under a heading of {names}"), at))
}

fn is_ruler(line: &str) -> bool {
    line.starts_with("---") && line.contains("- -") && line.chars().all(|c| c == '-' || c.is_whitespace())
}

/// Begin and end of each group of dashes.
fn spans(line: &str) -> Vec<(usize, usize)> {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for (at, _) in line.bytes().enumerate().filter(|(_, byte)| *byte == b'-') {
        match spans.last_mut() {
            Some((_, end)) if *end == at => *end = at + 1,
            _ => spans.push((at, at + 1)),
        }
    }
    spans
}

/// Reads a row; whether it is one. Marks that people put under a row, and ends of rows that a mail program broke, have
/// no host.
fn row(
    hosts: &mut Vec<LmbenchHost>,
    table: &LmbenchTable,
    groups: &[(usize, usize)],
    line: &str,
    at: usize,
) -> Result<bool, SourceFault> {
    let (from, to) = groups[1];
    let (Some(name), Some(system)) = (line.get(..groups[0].1), line.get(from..to.min(line.len()))) else {
        return Ok(false);
    };
    if name.trim().is_empty() || name.starts_with(' ') {
        return Ok(false);
    }
    let host = host(hosts, name.trim(), system, to - from, at)?;
    if host.runs.len() == host.rows {
        host.runs.push(LmbenchRun::default());
    }
    host.rows += 1;
    let mut from = to;
    while let Some(start) = line.get(from..).and_then(|rest| rest.find(|c: char| !c.is_whitespace())) {
        let start = from + start;
        let end = line[start..].find(char::is_whitespace).map_or(line.len(), |end| start + end);
        from = end;
        let nearest = (0..groups.len() - 2).min_by_key(|group| {
            let (begin, close) = groups[group + 2];
            (begin + close).abs_diff(start + end)
        });
        if let Some(column) = nearest.and_then(|group| table.columns.get(group)) {
            host.cell(table, *column, &line[start..end]);
        }
    }
    Ok(true)
}

fn host<'a>(
    hosts: &'a mut Vec<LmbenchHost>,
    name: &str,
    system: &str,
    width: usize,
    at: usize,
) -> Result<&'a mut LmbenchHost, SourceFault> {
    let system = system.trim();
    let found = hosts.iter().position(|host| host.sheet.machine == name && host.system == system);
    let found = match found {
        Some(found) => found,
        None if hosts.len() == MOST_NAMES => {
            return Err(SourceFault::new(format!("it has more than {MOST_NAMES} hosts"), at));
        }
        None => {
            let facts = text("os.name", system, "summary", &[]).into_iter().collect();
            let sheet = SourceSheet { machine: name.to_owned(), facts, ..SourceSheet::default() };
            let (system, cut) = (system.to_owned(), system.len() >= width);
            hosts.push(LmbenchHost { sheet, system, cut, runs: Vec::new(), rows: 0 });
            hosts.len() - 1
        }
    };
    Ok(&mut hosts[found])
}

impl LmbenchHost {
    /// A cell of the row that was counted last.
    fn cell(&mut self, table: &LmbenchTable, (id, parameters): (&'static str, &'static str), word: &str) {
        let Some(run) = self.rows.checked_sub(1).and_then(|row| self.runs.get_mut(row)) else { return };
        if id == LOAD {
            word.clone_into(&mut run.copies);
            return;
        }
        // Large values are printed as `12.5K`.
        let (digits, times) = word.strip_suffix('K').map_or((word, 1.0), |digits| (digits, 1e3));
        let Some(value) = read(digits).filter(|_| !id.is_empty()) else { return };
        if id == "cpu.clock" {
            // It prints -1 where it could not find the clock.
            let clock = (value > 0.0).then(|| number(id, value * 1e6, "Hz", "summary", &[Primitive::CoreClock]));
            self.sheet.fact(clock);
            return;
        }
        let metric = match table.unit {
            Unit::BytesPerSecond => bytes_per_second("bytes"),
            Unit::Count => Metric::higher(Unit::Ratio, "loads at once"),
            _ => seconds("operation"),
        };
        let scale = table.scale * times;
        let reading = SourceReading::new(id, id, value * scale, metric).printed_in(digits, scale);
        run.readings.push(SourceReading { parameters: parameters.parse().unwrap_or_default(), ..reading });
    }

    /// The sheet, with its runs in order. Rows of a name that may be cut may be of several systems: they are no
    /// samples.
    fn finish(self, version: &str) -> SourceSheet {
        let mut sheet = self.sheet;
        sheet.version = Some(version.to_owned()).filter(|version| !version.is_empty());
        let apart = !self.cut || self.runs.len() == 1;
        if !apart {
            sheet.notes.push(format!("the name '{}' may be cut: its rows may be of several systems", self.system));
        }
        for run in self.runs {
            if apart {
                sheet.begin_repetition();
            }
            let copies = run.copies;
            let several = read(&copies).is_some_and(|copies| copies > 1.0);
            let placed = |reading: SourceReading| if several { reading.at("copies", copies.clone()) } else { reading };
            sheet.readings.extend(run.readings.into_iter().map(placed));
        }
        sheet
    }
}
