//! Tables with typed cells.

use serde::Serialize;

use super::{PrintedQuantity, RowLink, SamplesPlot};
use crate::words::family_title;

/// Meaning of a text. It must be clear without colour as well.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    /// Neutral.
    #[default]
    Plain,
    /// A heading.
    Strong,
    /// Secondary.
    Muted,
    /// Better, or in order.
    Good,
    /// Worse, or broken.
    Bad,
    /// To be read with care.
    Caution,
}

/// Content of a column, which determines its alignment and where a narrow page saves width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnKind {
    /// The row's name, which is wrapped last.
    Label,
    /// Texts, which wrap on a narrow page.
    Words,
    /// Numbers: never wrapped, aligned at the decimal point.
    Number,
    /// Texts at the end of a row, which move to the next line if they do not fit.
    Remark,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Heading.
    pub title: String,
    /// Its content.
    pub kind: ColumnKind,
}

impl Column {
    /// A column.
    #[must_use]
    pub fn new(title: impl Into<String>, kind: ColumnKind) -> Self {
        Self { title: title.into(), kind }
    }

    /// Columns from their titles, with `|` between them. The first has the names of the rows and the others have texts,
    /// unless a title begins with `#` for numbers or `~` for remarks.
    #[must_use]
    pub fn list(titles: &str) -> Vec<Self> {
        let column = |(place, title): (usize, &str)| match title.split_at_checked(1) {
            Some(("#", title)) => Self::number(title),
            Some(("~", title)) => Self::remark(title),
            _ if place == 0 => Self::label(title),
            _ => Self::words(title),
        };
        titles.split('|').enumerate().map(column).collect()
    }

    /// A column of names.
    #[must_use]
    pub fn label(title: impl Into<String>) -> Self {
        Self::new(title, ColumnKind::Label)
    }

    /// A column of texts.
    #[must_use]
    pub fn words(title: impl Into<String>) -> Self {
        Self::new(title, ColumnKind::Words)
    }

    /// A column of numbers.
    #[must_use]
    pub fn number(title: impl Into<String>) -> Self {
        Self::new(title, ColumnKind::Number)
    }

    /// A column of remarks.
    #[must_use]
    pub fn remark(title: impl Into<String>) -> Self {
        Self::new(title, ColumnKind::Remark)
    }
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cell {
    /// Nothing.
    Empty,
    /// A text.
    Text(String, Tone),
    /// A text that leads to another page, where a format has links. The address is a path, which is encoded already.
    Link {
        /// The text.
        text: String,
        /// The path.
        to: String,
    },
    /// A text over this cell and the empty ones after it: "two modes: ...", "not measured: ...".
    Across(String, Tone),
    /// A gain (above 1 is better) in words, on a ground coloured by its size where there are colours.
    Heat {
        /// The words.
        text: String,
        /// The gain.
        gain: f64,
    },
    /// A number exactly as its source prints it.
    Printed(String),
    /// A count.
    Count(u64),
    /// A quantity without its interval.
    Value(PrintedQuantity),
    /// The same with the mark of a footnote.
    Marked(PrintedQuantity, char),
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

    /// The tone of a gain: better or worse by more than 2%, which is what comparisons count as the same.
    #[must_use]
    pub(crate) fn gain_tone(gain: f64) -> Tone {
        match gain.ln() {
            x if x > 0.02 => Tone::Good,
            x if x < -0.02 => Tone::Bad,
            _ => Tone::Plain,
        }
    }

    /// The quantity that the cell shows.
    #[must_use]
    pub const fn quantity(&self) -> Option<&PrintedQuantity> {
        match self {
            Self::Value(quantity) | Self::Marked(quantity, _) | Self::Below(quantity) | Self::Interval(quantity) => {
                Some(quantity)
            }
            _ => None,
        }
    }
}

/// A row; missing cells are empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TableRow {
    /// The cells.
    pub cells: Vec<Cell>,
    /// What a page shows when the row is opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Box<RowDetail>>,
}

impl TableRow {
    /// A row of these cells.
    #[must_use]
    pub const fn of(cells: Vec<Cell>) -> Self {
        Self { cells, detail: None }
    }
}

/// The result behind a row, for formats in which a row can be found, linked and opened.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RowDetail {
    /// The result.
    pub link: RowLink,
    /// Whether any of its intervals is wider than its target.
    pub wide: bool,
    /// Whether it is slower or faster than the baseline, by a test.
    pub changed: bool,
    /// Its samples, if they are kept.
    pub samples: Option<SamplesPlot>,
    /// Quantiles of its single operations: the columns, and a row for each run.
    pub tails: Option<Table>,
}

impl RowDetail {
    /// Whether opening the row shows anything.
    #[must_use]
    pub const fn has_content(&self) -> bool {
        self.samples.is_some() || self.tails.is_some()
    }
}

/// Rows with a common heading.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RowGroup {
    /// Heading; empty if the table has one group.
    pub title: String,
    /// A note on all its rows.
    pub note: String,
    /// The rows.
    pub rows: Vec<TableRow>,
}

impl RowGroup {
    /// Rows in groups by the family of their benchmark, as long as it stays the same.
    pub fn by_family<'a>(rows: impl Iterator<Item = (&'a str, TableRow)>) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for (benchmark, row) in rows {
            let title = family_title(benchmark.split('.').next().unwrap_or_default());
            match groups.last_mut().filter(|last| last.title == title) {
                Some(last) => last.rows.push(row),
                None => groups.push(Self { title, note: String::new(), rows: vec![row] }),
            }
        }
        groups
    }
}

/// A table in groups of rows.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Table {
    /// Columns, from the left.
    pub columns: Vec<Column>,
    /// Groups, from the top.
    pub groups: Vec<RowGroup>,
}

impl Table {
    /// A table with one group.
    #[must_use]
    pub fn plain(columns: Vec<Column>, rows: Vec<TableRow>) -> Self {
        Self { columns, groups: vec![RowGroup { rows, ..RowGroup::default() }] }
    }

    /// Drops the columns that are empty in all rows.
    pub(crate) fn drop_empty(&mut self) {
        for index in (0..self.columns.len()).rev() {
            let empty = |row: &TableRow| row.cells.get(index).is_none_or(|cell| *cell == Cell::Empty);
            if self.rows().all(empty) {
                self.columns.remove(index);
                let rows = self.groups.iter_mut().flat_map(|group| &mut group.rows);
                rows.filter(|row| index < row.cells.len()).for_each(|row| drop(row.cells.remove(index)));
            }
        }
    }

    /// The rows of all groups.
    pub fn rows(&self) -> impl Iterator<Item = &TableRow> {
        self.groups.iter().flat_map(|group| &group.rows)
    }
}
