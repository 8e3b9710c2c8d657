//! Tables of published evaluations, as printed.

use crate::Error;

/// A table as its document prints it: every cell is a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedTable {
    /// Name of its file, such as `table2_normalised`.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Names of its columns; the unit of a number is at the end of its column's name.
    pub columns: Vec<String>,
    /// Its rows, in the printed order.
    pub rows: Vec<Vec<String>>,
}

/// One row with the names of its cells.
#[derive(Clone, Copy)]
pub(crate) struct PublishedRow<'a> {
    table: &'a PublishedTable,
    cells: &'a [String],
}

impl PublishedTable {
    /// Reads a table of CSV.
    pub(super) fn read(name: &str, title: &str, text: &str) -> Result<Self, Error> {
        let damaged =
            |error: csv::Error| Error::EvaluationFile { file: format!("{name}.csv"), reason: error.to_string() };
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let columns = reader.headers().map_err(damaged)?.iter().map(str::to_owned).collect();
        let row = |record: csv::StringRecord| record.iter().map(|cell| cell.trim().to_owned()).collect();
        let rows = reader.records().map(|record| record.map(row).map_err(damaged)).collect::<Result<_, _>>()?;
        Ok(Self { name: name.to_owned(), title: title.to_owned(), columns, rows })
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = PublishedRow<'_>> {
        self.rows.iter().map(|cells| PublishedRow { table: self, cells })
    }

    /// The cell of a row in the named column.
    #[must_use]
    pub fn cell(&self, row: usize, column: &str) -> Option<&str> {
        let at = self.columns.iter().position(|name| name == column)?;
        self.rows.get(row)?.get(at).map(String::as_str)
    }

    /// The number in a cell; `None` if the cell is empty or not a number.
    #[must_use]
    pub fn number(&self, row: usize, column: &str) -> Option<f64> {
        self.cell(row, column)?.parse().ok()
    }
}

impl<'a> PublishedRow<'a> {
    /// Whether the table has such a column.
    pub(super) fn has(&self, column: &str) -> bool {
        self.table.columns.iter().any(|name| name == column)
    }

    /// The cell in the named column; empty if there is none.
    pub(crate) fn text(&self, column: &str) -> &'a str {
        let at = self.table.columns.iter().position(|name| name == column);
        at.and_then(|at| self.cells.get(at)).map_or("", String::as_str)
    }

    /// The number in the named column, if the cell is not empty.
    pub(crate) fn number(&self, column: &str) -> Option<f64> {
        self.text(column).parse().ok()
    }
}
