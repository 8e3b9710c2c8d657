//! Tab-separated values: the tables as people read them, a line for each row, for `cut` and spreadsheets.

use std::io::Write;

use super::terminal::{cell_text, clean};
use crate::{Document, Error, ReportFormat};

/// Renders the tables of a document with an empty line between two, or its records if it has no table.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tsv;

impl ReportFormat for Tsv {
    fn render(&self, document: &Document, out: &mut dyn Write) -> Result<(), Error> {
        let mut tables = document.tables().peekable();
        if tables.peek().is_none()
            && let Some(records) = &document.records
        {
            write_row(out, records.header.iter().copied())?;
            records.rows.iter().try_for_each(|row| write_row(out, row.iter().map(String::as_str)))?;
        }
        for (index, table) in tables.enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            let grouped = table.groups.iter().any(|group| !group.title.is_empty());
            let titles = table.columns.iter().map(|column| column.title.as_str());
            write_row(out, grouped.then_some("group").into_iter().chain(titles))?;
            for group in &table.groups {
                for row in &group.rows {
                    let cells: Vec<String> = (0..table.columns.len()).map(|column| cell_text(row, column)).collect();
                    let first = grouped.then_some(group.title.as_str());
                    write_row(out, first.into_iter().chain(cells.iter().map(String::as_str)))?;
                }
            }
        }
        Ok(())
    }
}

fn write_row<'a>(out: &mut dyn Write, cells: impl Iterator<Item = &'a str>) -> Result<(), Error> {
    let cells: Vec<String> = cells.map(|cell| clean(cell).replace('\u{a0}', " ")).collect();
    writeln!(out, "{}", cells.join("\t"))?;
    Ok(())
}
