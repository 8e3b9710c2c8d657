//! Anybody's table as CSV: a row for each machine, a column for each quantity, whose heading names its unit.
//!
//! It is the documented way in for tables that no other format reads; `docs/guide/tables.md` describes it.

use std::collections::HashMap;

use model::{Better, Catalogue, Fact, Metric, Parameters, Primitive, Unit};

use super::{CodeFormat, Confidence, Parsed, SourceText};
use crate::date;
use crate::facts;
use crate::rows::RowLines;
use crate::sheet::{self, SourceReading, SourceSheet};
use crate::text::{
    MOST_NAMES, SourceFault, check_columns, is_number, lines, name_value, number, one_line, shown, snake,
};
use crate::units::{NamedUnit, unit};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "wide-csv",
    tool: "table",
    about: "your own table: a row for each machine, a column for each quantity with its unit in the heading, such as \
            'triad (GB/s)'; rows of one machine are samples",
    by_lines: true,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default().to_ascii_lowercase();
    let named = [&b"machine"[..], b"\"machine\""].into_iter().filter_map(|name| first.strip_prefix(name));
    let named = named.filter_map(|rest| rest.first()).any(|byte| b",;\t".contains(byte));
    if named { Confidence::Certain } else { Confidence::No }
}

/// Content of a column.
enum WideColumn {
    Machine,
    Label,
    Date,
    /// A fact as text.
    Text(&'static str),
    /// A fact as a number: name, unit of the fact, scale, primitives.
    Number(&'static str, &'static str, f64),
    Quantity(WideQuantity),
}

struct WideQuantity {
    id: String,
    parameters: Parameters,
    title: String,
    scale: f64,
    metric: Metric,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let heading = source.text.lines().next().unwrap_or_default();
    let delimiter = delimiter(heading);
    if delimiter == b',' {
        check_columns(source.text)?;
    }
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(source.text.as_bytes());
    let mut rows = RowLines::new(source.text);
    let fault = |line| SourceFault::new("the row and the heading differ in length", line);
    let names = reader.headers().map_err(|_| fault(1))?.clone();
    let columns: Vec<WideColumn> = names.iter().map(|name| column(name, source.catalogue)).collect::<Result<_, _>>()?;
    check(&columns, &names)?;
    let mut sheets: Vec<SourceSheet> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for record in reader.records() {
        let record = record.map_err(|error| fault(rows.at(error.position())))?;
        let line = rows.at(record.position());
        let machine = columns.iter().zip(&record).find(|(column, _)| matches!(column, WideColumn::Machine));
        let machine = machine.map(|(_, cell)| name_value(cell)).filter(|name| name != "-");
        let machine = machine.ok_or_else(|| SourceFault::new("the row does not name its machine", line))?;
        let place = *places.entry(machine.clone()).or_insert(sheets.len());
        if place == sheets.len() {
            if sheets.len() == 5 * MOST_NAMES {
                return Err(SourceFault::new(format!("it has more than {} machines", 5 * MOST_NAMES), line));
            }
            sheets.push(SourceSheet { machine, ..SourceSheet::default() });
        }
        sheets[place].begin_repetition();
        row(&mut sheets[place], &columns, &names, &record, line)?;
    }
    // Every cell was understood, or the table refused.
    lines(source.text).for_each(|(at, _)| source.took(at));
    Ok(Parsed::Sheets(sheets))
}

/// What separates the columns: a semicolon or a tab if the heading has one outside quotes, else a comma.
fn delimiter(heading: &str) -> u8 {
    // Every second piece lies between quotes.
    let bare = || heading.split('"').step_by(2);
    [b';', b'\t'].into_iter().find(|byte| bare().any(|piece| piece.as_bytes().contains(byte))).unwrap_or(b',')
}

/// One column of machines, and no column twice.
fn check(columns: &[WideColumn], names: &csv::StringRecord) -> Result<(), SourceFault> {
    let mut seen = std::collections::HashSet::new();
    for (column, name) in columns.iter().zip(names) {
        let key = match column {
            WideColumn::Quantity(quantity) => format!("{} {}", quantity.id, quantity.parameters),
            WideColumn::Machine => "machine".to_owned(),
            WideColumn::Label => "label".to_owned(),
            WideColumn::Date => "date".to_owned(),
            WideColumn::Text(fact) | WideColumn::Number(fact, ..) => (*fact).to_owned(),
        };
        if !seen.insert(key) {
            return Err(SourceFault::new(format!("the column '{}' occurs twice", shown(name)), 1));
        }
    }
    if !seen.contains("machine") {
        return Err(SourceFault::new("there is no column 'machine'", 1));
    }
    Ok(())
}

/// Columns that describe the machine.
fn described(name: &str) -> Option<WideColumn> {
    Some(match name.to_ascii_lowercase().as_str() {
        "machine" => WideColumn::Machine,
        "label" => WideColumn::Label,
        "date" => WideColumn::Date,
        "cpu" | "cpu.model" => WideColumn::Text("cpu.model"),
        "os" | "os.name" => WideColumn::Text("os.name"),
        "compiler" => WideColumn::Text("compiler"),
        "smt" => WideColumn::Text("cpu.smt"),
        "cores" | "cpu.cores" => WideColumn::Number("cpu.cores", "1", 1.0),
        "threads" | "cpu.count" => WideColumn::Number("cpu.count", "1", 1.0),
        "sockets" => WideColumn::Number("cpu.sockets", "1", 1.0),
        "year" => WideColumn::Number("cpu.year", "1", 1.0),
        "channels" | "memory channels" => WideColumn::Number("memory.channels", "1", 1.0),
        _ => return None,
    })
}

/// Describing columns with a unit of their own.
fn described_in(name: &str, unit: &NamedUnit) -> Option<WideColumn> {
    Some(match (name.to_ascii_lowercase().as_str(), unit.unit) {
        ("clock" | "cpu.clock", Unit::Hertz) => WideColumn::Number("cpu.clock", "Hz", unit.scale),
        ("memory" | "memory.total", Unit::Bytes) => WideColumn::Number("memory.total", "B", unit.scale),
        ("l2" | "cache.l2.size", Unit::Bytes) => WideColumn::Number("cache.l2.size", "B", unit.scale),
        ("l3" | "cache.l3.size", Unit::Bytes) => WideColumn::Number("cache.l3.size", "B", unit.scale),
        _ => return None,
    })
}

/// What a heading names: `triad (GB/s)`, `copy:threads=4 [MB/s]`, `boots (count lower)`.
fn column(name: &str, catalogue: &Catalogue) -> Result<WideColumn, SourceFault> {
    let name = name.trim().trim_start_matches('\u{feff}');
    if let Some(column) = described(name) {
        return Ok(column);
    }
    let fault = |reason: &str| SourceFault::new(format!("the column '{}' {reason}", shown(name)), 1);
    let inside = name.strip_suffix(')').and_then(|rest| rest.rsplit_once('('));
    let inside = inside.or_else(|| name.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')));
    let Some((title, words)) = inside else {
        return Err(fault("has no unit: write it behind the name, as in 'triad (GB/s)'"));
    };
    let (word, better) = match words.trim().rsplit_once([' ', ',']) {
        Some((unit, "higher")) => (unit.trim_end_matches(','), Some(Better::Higher)),
        Some((unit, "lower")) => (unit.trim_end_matches(','), Some(Better::Lower)),
        _ => (words, None),
    };
    let named = unit(word.trim()).ok_or_else(|| fault("has a unit that is not known (see docs/guide/tables.md)"))?;
    if let Some(column) = described_in(title.trim(), &named) {
        return Ok(column);
    }
    let better = better
        .or(named.better)
        .ok_or_else(|| fault("does not say which direction is better: write '(UNIT higher)' or '(UNIT lower)'"))?;
    let (title, parameters) = match title.trim().split_once(':') {
        Some((title, parameters)) => (
            title.trim(),
            parameters.trim().parse::<Parameters>().map_err(|error| {
                fault(&format!("has a point that cannot be read: {}", one_line(&error.to_string(), 80)))
            })?,
        ),
        None => (title.trim(), Parameters::none()),
    };
    if catalogue.lacks(title) {
        return Err(fault("is not a result of this program, although its name begins like one"));
    }
    let (id, metric) = if let Some(ours) = catalogue.get(title) {
        if ours.metric.unit != named.unit {
            return Err(fault("has another unit than this program's result of that name"));
        }
        (title.to_owned(), ours.metric.clone())
    } else {
        (format!("table.{}", snake(title)), Metric { unit: named.unit, per: named.per.clone().into(), better })
    };
    Ok(WideColumn::Quantity(WideQuantity { id, parameters, title: name_value(title), scale: named.scale, metric }))
}

/// Adds facts of a machine, of which an earlier row may not say otherwise: such rows are of two machines, or of two
/// settings, whose values are no executions of one thing.
fn describe(
    sheet: &mut SourceSheet,
    facts: impl IntoIterator<Item = Fact>,
    column: &str,
    line: usize,
) -> Result<(), SourceFault> {
    for fact in facts {
        if sheet.facts.iter().any(|known| known.name == fact.name && known.value != fact.value) {
            let (machine, column) = (shown(&sheet.machine), shown(column));
            return Err(SourceFault::new(
                format!(
                    "machine '{machine}' has another '{column}' in an earlier row: name them as two machines, or write \
                     the setting into the columns, as in 'triad:threads=4 (GB/s)'"
                ),
                line,
            ));
        }
        sheet.fact([fact]);
    }
    Ok(())
}

/// Names the run by what its rows agree on; what they do not agree on is kept as notes.
fn label(sheet: &mut SourceSheet, label: String) {
    let said = |label: &str| format!("label {label}");
    let first = sheet.processes.len() == 1;
    let differ = sheet.notes.iter().any(|note| note.starts_with("label "));
    match sheet.label.take() {
        Some(known) if known == label => sheet.label = Some(known),
        None if first && !differ => sheet.label = Some(label),
        known => {
            for note in known.iter().chain([&label]).map(|label| said(label)) {
                if !sheet.notes.contains(&note) {
                    sheet.notes.push(note);
                }
            }
        }
    }
}

fn row(
    sheet: &mut SourceSheet,
    columns: &[WideColumn],
    names: &csv::StringRecord,
    record: &csv::StringRecord,
    line: usize,
) -> Result<(), SourceFault> {
    for ((column, name), cell) in columns.iter().zip(names).zip(record) {
        let cell = cell.trim();
        if ["", "-", "NA", "N/A", "n/a", "NaN", "nan"].contains(&cell) {
            continue;
        }
        let value = || {
            let what = match cell.split_once(',') {
                _ if is_number(cell) => "too large a number",
                Some((whole, rest)) if is_number(whole) && is_number(rest) => {
                    "not a number: write it with a decimal point, and without signs between thousands"
                }
                _ => "not a number",
            };
            let reason = || format!("'{}' in column '{}' is {what}", shown(cell), shown(name));
            number(cell).ok_or_else(|| SourceFault::new(reason(), line))
        };
        match column {
            WideColumn::Machine => {}
            WideColumn::Label => label(sheet, name_value(cell)),
            WideColumn::Date => {
                sheet.started = date::iso(cell);
                if sheet.started.is_empty() {
                    let reason = format!("'{}' is not a date: write it as 2024-05-31", shown(cell));
                    return Err(SourceFault::new(reason, line));
                }
            }
            WideColumn::Text(fact) => {
                let affects = if *fact == "cpu.model" { &[Primitive::CoreClock][..] } else { &[] };
                describe(sheet, sheet::text(fact, &name_value(cell), "table", affects), name, line)?;
            }
            WideColumn::Number(fact, unit, scale) => {
                let affects = if *fact == "cpu.clock" { &[Primitive::CoreClock][..] } else { &[] };
                let value = value()? * scale;
                if let Some(why) = facts::fault(fact, value) {
                    let reason = format!("'{}' in column '{}' is {why}; correct it", shown(cell), shown(name));
                    return Err(SourceFault::new(reason, line));
                }
                describe(sheet, [sheet::number(fact, value, unit, "table", affects)], name, line)?;
            }
            WideColumn::Quantity(quantity) => {
                let value = value()? * quantity.scale;
                let reading = SourceReading::new(&quantity.id, &quantity.title, value, quantity.metric.clone());
                let reading = reading.printed_in(cell, quantity.scale);
                sheet.readings.push(SourceReading { parameters: quantity.parameters.clone(), ..reading });
            }
        }
    }
    Ok(())
}
