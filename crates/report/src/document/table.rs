//! Tables with typed cells.

use model::UnitScale;
use serde::Serialize;

use super::PrintedQuantity;

/// How a piece of text is meant. Every tone also reads without colour: the words say it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    /// As it is.
    #[default]
    Plain,
    /// A heading.
    Strong,
    /// Beside the point.
    Muted,
    /// Better, in order.
    Good,
    /// Worse, broken.
    Bad,
    /// To be read with care.
    Caution,
}

/// What a column holds, which decides how it is aligned and where room is taken from when the page is narrow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnKind {
    /// The row's name: keeps its line as long as it can.
    Label,
    /// Words: wrap when the page is narrow.
    Words,
    /// Numbers: never wrapped, aligned at the decimal point.
    Number,
    /// Words at the end of a row that go on the next line when they do not fit.
    Remark,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Heading.
    pub title: String,
    /// What it holds.
    pub kind: ColumnKind,
}

impl Column {
    /// A column.
    #[must_use]
    pub fn new(title: impl Into<String>, kind: ColumnKind) -> Self {
        Self { title: title.into(), kind }
    }
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cell {
    /// Nothing.
    Empty,
    /// Words.
    Text(String, Tone),
    /// Words that take this cell and the empty ones after it: "two modes: ...", "not measured: ...".
    Across(String, Tone),
    /// A number as its source prints it, digit for digit.
    Printed(String),
    /// A number of things.
    Count(u64),
    /// A quantity without its interval.
    Value(PrintedQuantity),
    /// An upper bound of a quantity: `< 12 ns`.
    Below(PrintedQuantity),
    /// The interval of a quantity, in the same prefix as the row.
    Interval(PrintedQuantity),
}

impl Cell {
    /// Plain words.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into(), Tone::Plain)
    }

    /// The quantity that it shows.
    #[must_use]
    pub const fn quantity(&self) -> Option<&PrintedQuantity> {
        match self {
            Self::Value(quantity) | Self::Below(quantity) | Self::Interval(quantity) => Some(quantity),
            _ => None,
        }
    }
}

/// A row: as many cells as the table has columns; missing ones are empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TableRow {
    /// The cells.
    pub cells: Vec<Cell>,
}

impl TableRow {
    /// The prefix that all quantities of one unit share in this row: the one that suits the largest.
    #[must_use]
    pub fn scale(&self, unit: model::Unit) -> UnitScale {
        let largest = self
            .cells
            .iter()
            .filter_map(Cell::quantity)
            .filter(|quantity| quantity.unit == unit)
            .map(PrintedQuantity::magnitude)
            .fold(0.0, f64::max);
        UnitScale::of(unit, largest)
    }
}

/// Rows under one heading.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RowGroup {
    /// Heading; empty when the table is not parted.
    pub title: String,
    /// What holds for all rows of it.
    pub note: String,
    /// The rows.
    pub rows: Vec<TableRow>,
}

/// A table, parted into groups.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Table {
    /// Columns, from the left.
    pub columns: Vec<Column>,
    /// Groups, from the top.
    pub groups: Vec<RowGroup>,
}

impl Table {
    /// A table that is not parted.
    #[must_use]
    pub fn plain(columns: Vec<Column>, rows: Vec<TableRow>) -> Self {
        Self { columns, groups: vec![RowGroup { rows, ..RowGroup::default() }] }
    }

    /// Every row, whatever its group.
    pub fn rows(&self) -> impl Iterator<Item = &TableRow> {
        self.groups.iter().flat_map(|group| &group.rows)
    }
}
