//! What a report says, before a format draws it.

mod boxes;
mod chart;
mod quantity;
mod table;

pub(crate) use boxes::PlacedBox;
pub use boxes::{BoxPicture, BoxTree};
pub use chart::{
    Chart, ChartAxis, ChartPlot, Curves, Division, Forest, ForestRow, Mark, ScatterPlot, Series, Strip, StripRow,
};
pub use quantity::{Digits, PrintedQuantity, PrintedSpread};
pub use table::{Cell, Column, ColumnKind, RowGroup, Table, TableRow, Tone};

use serde::Serialize;

/// A report: what it is about, its sections, and what to do next.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Document {
    /// One line that names the subject.
    pub title: String,
    /// What a reader should know before the figures.
    pub notes: Vec<String>,
    /// The body.
    pub sections: Vec<DocumentSection>,
    /// Sentences that sum it up.
    pub summary: Vec<String>,
    /// Commands that lead on.
    pub next: Vec<String>,
    /// What programs read instead: the format `json` writes exactly this.
    #[serde(skip)]
    pub data: Option<EmbeddedJson>,
    /// One tidy table: the format `csv` writes exactly this.
    #[serde(skip)]
    pub records: Option<Records>,
}

impl Document {
    /// A document that so far has only its title.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// The tables in reading order.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.sections.iter().flat_map(|section| &section.blocks).filter_map(|block| match block {
            Block::Table(table) => Some(table),
            _ => None,
        })
    }
}

/// A part of a document under one heading; an empty heading is not drawn.
#[derive(Debug, Clone, Default, Serialize)]
pub struct DocumentSection {
    /// Heading.
    pub title: String,
    /// What stands under it.
    pub blocks: Vec<Block>,
}

impl DocumentSection {
    /// A section of one block.
    #[must_use]
    pub fn of(title: impl Into<String>, block: Block) -> Self {
        Self { title: title.into(), blocks: vec![block] }
    }
}

/// One element of a section.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Block {
    /// A paragraph.
    Text(String),
    /// Sentences in order, numbered when others refer to them by number.
    List {
        /// Whether they are numbered from 1.
        numbered: bool,
        /// The sentences.
        items: Vec<String>,
    },
    /// Names with what they say.
    Facts(Vec<(String, String)>),
    /// Rows and columns.
    Table(Table),
    /// A picture; formats without pictures give its title and how to read it.
    Chart(Chart),
    /// Boxes in boxes, such as the parts of a machine.
    Boxes(BoxPicture),
    /// What only who wants to know reads: folded where a format can fold.
    Folded {
        /// What it holds.
        title: String,
        /// The blocks.
        blocks: Vec<Block>,
    },
}

/// JSON text, serialised once so that order and digits of the source are kept.
#[derive(Debug, Clone)]
pub struct EmbeddedJson(String);

impl EmbeddedJson {
    /// Findings or a list, indented for people too. Numbers that JSON cannot hold become `null`.
    ///
    /// # Errors
    /// When the value refuses to be serialised (a map with keys that are no text).
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::to_string_pretty(value).map(Self)
    }

    /// A long document on one line.
    ///
    /// # Errors
    /// As [`EmbeddedJson::of`].
    pub fn compact<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::to_string(value).map(Self)
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }
}

/// One tidy table for other programs: base units, a column a quantity, empty where nothing is known.
#[derive(Debug, Clone, Default)]
pub struct Records {
    /// Names of the columns.
    pub header: Vec<&'static str>,
    /// As many texts a row as there are columns.
    pub rows: Vec<Vec<String>>,
}
