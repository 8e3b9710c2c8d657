//! Classic tables. Their last heading line states a unit for each column; what a column contains follows from it.

use model::{Better, Metric, Unit};

use super::{Banner, NOTE, named, spread, unit};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, metric, rate, seconds};
use crate::text::{SourceFault, need, number, parameter_value, shown};

/// Content of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
enum NetperfColumn {
    /// Size of a buffer or message, bytes.
    Size,
    /// Duration.
    Seconds,
    /// Messages sent, or errors.
    Count,
    /// The result, scaled to base units.
    Rate(f64, RateOf),
    /// Share of CPU time, percent.
    Cpu,
    /// CPU time for each KiB or transaction.
    Demand(DemandOf),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum RateOf {
    Bytes,
    Transactions,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum DemandOf {
    Kibibyte,
    Transaction,
}

/// The table that is being read.
#[derive(Default)]
pub(super) struct NetperfTable {
    /// The line of units, from its first word on, with what follows if it was wrapped.
    units: Vec<String>,
    /// The second row of a table was read: there are no more.
    rows: usize,
    /// Size of the messages of its first row.
    message: Option<String>,
}

impl NetperfTable {
    /// A line that is not a row: whether it belongs to a heading.
    pub(super) fn heading(&mut self, line: &str) -> bool {
        let words: Vec<&str> = line.split_whitespace().collect();
        let begins = words.first().is_some_and(|word| word.eq_ignore_ascii_case("bytes"));
        if self.rows > 0 && begins {
            *self = Self::default();
        }
        let digits = line.starts_with(|c: char| c.is_ascii_digit());
        if begins || (!self.units.is_empty() && self.rows == 0 && !digits) {
            self.units.extend(words.iter().map(|word| (*word).to_owned()));
            return true;
        }
        matches!(words.first(), Some(&("Recv" | "Socket" | "Size" | "Local" | "Send" | "/Remote")))
    }

    /// A row of numbers: its result, if it is one. Whether it was understood.
    pub(super) fn row(
        &mut self,
        sheet: &mut SourceSheet,
        banner: &Banner,
        line: &str,
        at: usize,
    ) -> Result<bool, SourceFault> {
        if self.units.is_empty() {
            return Err(SourceFault::new("this row of numbers has no heading with units", at));
        }
        let columns = columns(&self.units, at)?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let sizes = columns.iter().filter(|column| **column == NetperfColumn::Size).count();
        self.rows += 1;
        if words.len() == columns.len() && self.rows == 1 {
            let sizes = NetperfSizes::of(&columns, &words);
            self.message = sizes.message.map(str::to_owned);
            readings(sheet, banner, &columns, &words, ("", &sizes), at)?;
            return Ok(true);
        }
        // The second row of a datagram test: what arrived, without the size of messages and the errors.
        let received: Vec<NetperfColumn> =
            without_second(&without_second(&columns, NetperfColumn::Size), NetperfColumn::Count);
        if self.rows == 2 && columns.contains(&NetperfColumn::Count) && words.len() == received.len() {
            let sizes = NetperfSizes { message: self.message.as_deref(), exchanged: None };
            readings(sheet, banner, &received, &words, ("_received", &sizes), at)?;
            return Ok(true);
        }
        // The second row of a request test: the sizes of the other side.
        if self.rows == 2 && sizes > 2 && words.len() == 2 {
            return Ok(true);
        }
        Err(SourceFault::new(format!("the row has {} values and its heading {}", words.len(), columns.len()), at))
    }
}

fn without_second(columns: &[NetperfColumn], kind: NetperfColumn) -> Vec<NetperfColumn> {
    let second = columns.iter().enumerate().filter(|(_, column)| **column == kind).nth(1).map(|(at, _)| at);
    columns.iter().enumerate().filter(|(at, _)| Some(*at) != second).map(|(_, column)| *column).collect()
}

/// The columns that a line of units names; `MBytes  /s` and `% S` are one column each.
fn columns(units: &[String], at: usize) -> Result<Vec<NetperfColumn>, SourceFault> {
    let mut columns = Vec::new();
    let mut words = units.iter().map(String::as_str).peekable();
    while let Some(word) = words.next() {
        let column = match word {
            "bytes" | "Bytes" if words.peek() != Some(&"/s") => NetperfColumn::Size,
            "secs." | "secs" => NetperfColumn::Seconds,
            "#" => NetperfColumn::Count,
            "per" if words.peek() == Some(&"sec") => {
                words.next();
                NetperfColumn::Rate(1.0, RateOf::Transactions)
            }
            "%" => {
                // The letters say how the share was measured.
                words.next_if(|word| word.len() <= 2 && word.chars().all(|c| c.is_ascii_alphabetic() || c == '?'));
                NetperfColumn::Cpu
            }
            "us/KB" => NetperfColumn::Demand(DemandOf::Kibibyte),
            "us/Tr" => NetperfColumn::Demand(DemandOf::Transaction),
            rate => {
                words.next_if(|word| *word == "/s" || *word == "/sec");
                let (scale, _) = unit(rate, "", at).map_err(|_| {
                    SourceFault::new(format!("the unit '{}' of its heading is not known", shown(rate)), at)
                })?;
                NetperfColumn::Rate(scale, RateOf::Bytes)
            }
        };
        columns.push(column);
    }
    if columns.iter().filter(|column| matches!(column, NetperfColumn::Rate(..))).count() != 1 {
        return Err(SourceFault::new("the heading does not name one column of rates", at));
    }
    Ok(columns)
}

/// The sizes of a row that define its results.
struct NetperfSizes<'a> {
    message: Option<&'a str>,
    /// Those of requests and of responses.
    exchanged: Option<[(&'static str, &'a str); 2]>,
}

impl<'a> NetperfSizes<'a> {
    fn of(columns: &[NetperfColumn], words: &[&'a str]) -> Self {
        let sizes: Vec<&str> =
            columns.iter().zip(words).filter(|(c, _)| **c == NetperfColumn::Size).map(|(_, w)| *w).collect();
        let stream = !columns.contains(&NetperfColumn::Rate(1.0, RateOf::Transactions));
        // Streams state the size of a message last: after both buffers, or after the only one of a datagram test.
        let message = sizes.last().copied().filter(|_| stream);
        // Requests and responses have one byte unless -r says another.
        let exchanged = match sizes[..] {
            [.., request, response] if !stream && sizes.len() > 2 && (request, response) != ("1", "1") => {
                Some([("request", request), ("response", response)])
            }
            _ => None,
        };
        Self { message, exchanged }
    }

    fn exchange(&self, reading: SourceReading) -> SourceReading {
        let sizes = self.exchanged.into_iter().flatten();
        sizes.fold(reading, |reading, (parameter, size)| reading.at(parameter, format!("{}B", parameter_value(size))))
    }
}

fn readings(
    sheet: &mut SourceSheet,
    banner: &Banner,
    columns: &[NetperfColumn],
    words: &[&str],
    (side, sizes): (&str, &NetperfSizes<'_>),
    at: usize,
) -> Result<(), SourceFault> {
    let id = format!("{}{side}", named(&banner.test));
    let title = format!("{}{}", banner.test.replace('_', " "), if side.is_empty() { "" } else { ", received" });
    let (mut shares, mut demands) = (0, 0);
    for (column, word) in columns.iter().zip(words) {
        let value = need(word, at)?;
        match column {
            NetperfColumn::Rate(scale, of) => {
                let metric = match of {
                    RateOf::Bytes => crate::sheet::bytes_per_second("bytes"),
                    RateOf::Transactions => rate("transactions"),
                };
                let mut reading = SourceReading::new(&id, &title, value * scale, metric).printed_in(word, *scale);
                if let Some(message) = sizes.message {
                    reading = reading.at("message", format!("{}B", parameter_value(message)));
                }
                // Without the warning, the requested width was reached; with it, the warning states the whole width.
                let width = banner.achieved.or_else(|| banner.width.map(|half| half * 2.0));
                let spread = spread(value * scale, banner.level, width);
                if spread != SourceSpread::None {
                    reading = reading.note(NOTE);
                }
                sheet.readings.push(sizes.exchange(reading.spread(spread)));
            }
            // A negative share or demand says that it could not be measured.
            NetperfColumn::Cpu | NetperfColumn::Demand(_) => {
                let seen = if *column == NetperfColumn::Cpu { &mut shares } else { &mut demands };
                let whose = if side.is_empty() && *seen == 0 { "local" } else { "remote" };
                *seen += 1;
                let cost = cost(banner, *column, whose, word, sizes.message);
                sheet.readings.extend(cost.map(|reading| sizes.exchange(reading)));
            }
            NetperfColumn::Size | NetperfColumn::Seconds | NetperfColumn::Count => {}
        }
    }
    Ok(())
}

/// CPU time of one side.
fn cost(
    banner: &Banner,
    column: NetperfColumn,
    side: &str,
    word: &str,
    message: Option<&str>,
) -> Option<SourceReading> {
    let value = number(word).filter(|value| *value >= 0.0)?;
    let (name, value, metric): (&str, f64, Metric) = match column {
        NetperfColumn::Cpu => ("cpu", value / 100.0, metric(Unit::Ratio, "CPU time", Better::Lower)),
        NetperfColumn::Demand(DemandOf::Kibibyte) => ("demand", value * 1e-6, seconds("KiB")),
        NetperfColumn::Demand(DemandOf::Transaction) => ("demand", value * 1e-6, seconds("transaction")),
        _ => return None,
    };
    let title = shown(&format!("{side} CPU {} of {}", if name == "cpu" { "use" } else { "time" }, banner.test));
    let reading = SourceReading::new(format!("{}_{side}_{name}", named(&banner.test)), title, value, metric);
    Some(match message {
        Some(message) => reading.at("message", format!("{}B", parameter_value(message))),
        None => reading,
    })
}
