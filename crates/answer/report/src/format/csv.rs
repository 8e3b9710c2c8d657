//! CSV (RFC 4180): the report's records, or its tables if a view has none.

use std::io::Write;

use crate::{Cell, Document, Error, ReportFormat, Table, TableRow};

/// Renders one tidy table.
#[derive(Debug, Clone, Copy, Default)]
pub struct Csv;

impl ReportFormat for Csv {
    fn render(&self, document: &Document, out: &mut dyn Write) -> Result<(), Error> {
        let mut writer = ::csv::WriterBuilder::new().flexible(true).from_writer(out);
        match &document.records {
            Some(records) => {
                writer.write_record(&records.header)?;
                for row in &records.rows {
                    writer.write_record(row)?;
                }
            }
            None => {
                for table in document.tables() {
                    write_table(&mut writer, table)?;
                }
            }
        }
        writer.flush()?;
        Ok(())
    }
}

fn write_table<W: Write>(writer: &mut ::csv::Writer<W>, table: &Table) -> Result<(), Error> {
    let grouped = table.groups.iter().any(|group| !group.title.is_empty());
    let first = grouped.then_some("group");
    writer.write_record(first.into_iter().chain(table.columns.iter().map(|column| column.title.as_str())))?;
    for group in &table.groups {
        for row in &group.rows {
            let cells = (0..table.columns.len()).map(|index| plain(row, index));
            writer.write_record(grouped.then(|| group.title.clone()).into_iter().chain(cells))?;
        }
    }
    Ok(())
}

/// A cell for programs: numbers in base units, texts unchanged.
fn plain(row: &TableRow, index: usize) -> String {
    match row.cells.get(index).unwrap_or(&Cell::Empty) {
        Cell::Empty => String::new(),
        Cell::Text(text, _) | Cell::Link { text, .. } | Cell::Across(text, _) | Cell::Heat { text, .. } => {
            text.replace('\u{a0}', " ")
        }
        Cell::Printed(text) => text.clone(),
        Cell::Count(count) => count.to_string(),
        Cell::Value(quantity) | Cell::Marked(quantity, _) => quantity.value.to_string(),
        Cell::Below(quantity) => format!("< {}", quantity.value),
        Cell::Interval(quantity) if quantity.has_interval() => {
            let note = quantity.ends_note().map(|note| format!(" {note}").replace('\u{a0}', " ")).unwrap_or_default();
            format!("{} – {}{note}", quantity.low, quantity.high)
        }
        Cell::Interval(_) => String::new(),
    }
}
