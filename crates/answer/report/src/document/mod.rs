//! Content of a report, before a format renders it.

mod boxes;
mod chart;
mod heat;
mod quantity;
mod table;

pub(crate) use boxes::PlacedBox;
pub use boxes::{BoxPicture, BoxTree};
pub use chart::{
    Chart, ChartAxis, ChartPlot, Curves, Division, Forest, ForestRow, Ladder, LadderRow, Mark, RowLink, SamplePoint,
    SampleSet, SamplesPlot, ScatterPlot, Series, Timeline, TimelineRow,
};
pub use heat::HeatMap;
pub(crate) use quantity::unit_gap;
pub use quantity::{Digits, PrintedQuantity, PrintedSpread};
pub use table::{Cell, Column, ColumnKind, RowDetail, RowGroup, Table, TableRow, Tone};

use serde::Serialize;

/// A report: title, sections, and commands to run next.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Document {
    /// Title in one line.
    pub title: String,
    /// Notes that precede the results.
    pub notes: Vec<String>,
    /// The body.
    pub sections: Vec<DocumentSection>,
    /// Summary in sentences.
    pub summary: Vec<String>,
    /// Commands to run next.
    pub next: Vec<String>,
    /// Data for programs, which the format `json` writes instead.
    #[serde(skip)]
    pub data: Option<EmbeddedJson>,
    /// One tidy table, which the format `csv` writes instead.
    #[serde(skip)]
    pub records: Option<Records>,
}

impl Document {
    /// A document that has only a title so far.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Adds a section with one block.
    pub fn add(&mut self, title: impl Into<String>, block: Block) {
        self.sections.push(DocumentSection::of(title, block));
    }

    /// The tables in reading order.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.sections.iter().flat_map(|section| &section.blocks).filter_map(|block| match block {
            Block::Table(table) | Block::Tiles(table) => Some(table),
            _ => None,
        })
    }
}

/// A part of a document under one heading; an empty heading is not printed.
#[derive(Debug, Clone, Default, Serialize)]
pub struct DocumentSection {
    /// Heading.
    pub title: String,
    /// Its content.
    pub blocks: Vec<Block>,
}

impl DocumentSection {
    /// A section with one block.
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
    /// A word that decides, in its colour, and the paragraph that explains it.
    Badge(Badge),
    /// Sentences, optionally numbered so that others can refer to them.
    List {
        /// Whether they are numbered, from 1.
        numbered: bool,
        /// The sentences.
        items: Vec<String>,
    },
    /// Names with their values.
    Facts(Vec<(String, String)>),
    /// Rows and columns.
    Table(Table),
    /// A few numbers that decide, large where there is room.
    Cards(Vec<VerdictCard>),
    /// A few results, large where there is room: a table of names, values and intervals.
    Tiles(Table),
    /// The machines and runs of the document.
    Machines(Vec<MachineCard>),
    /// Commands that a reader can copy.
    Commands(Vec<String>),
    /// Many small charts of one kind, side by side.
    Multiples(Vec<Chart>),
    /// A chart; formats without charts print its title and description.
    Chart(Chart),
    /// A matrix of quantities.
    Heat(HeatMap),
    /// Boxes in boxes, such as the parts of a machine.
    Boxes(BoxPicture),
    /// What only who wants to know reads: folded where a format can fold.
    Folded {
        /// Title of the details.
        title: String,
        /// The blocks.
        blocks: Vec<Block>,
    },
}

impl Block {
    /// A table with one group of rows.
    #[must_use]
    pub fn table(columns: Vec<Column>, rows: Vec<TableRow>) -> Self {
        Self::Table(Table::plain(columns, rows))
    }

    /// What is folded under a title.
    pub fn folded(title: impl Into<String>, blocks: Vec<Self>) -> Self {
        Self::Folded { title: title.into(), blocks }
    }

    /// Sentences without numbers.
    #[must_use]
    pub fn list(items: Vec<String>) -> Self {
        Self::List { numbered: false, items }
    }
}

/// A number that decides, with what it counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerdictCard {
    /// The number, or a word.
    pub value: String,
    /// What it counts.
    pub label: String,
    /// Its tone.
    pub tone: Tone,
}

/// A run and its machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MachineCard {
    /// Name of the run in the document.
    pub name: String,
    /// Number of the colour that stands for the run, from 0.
    pub colour: usize,
    /// What is known of the machine and of the run, the most important first.
    pub lines: Vec<String>,
    /// The quality of the data, if Prony measured them.
    pub badge: Option<Badge>,
}

/// A word that decides: `Quality: FAIR. Other processes used 31% of the CPUs.`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Badge {
    /// What it is about.
    pub name: String,
    /// The word.
    pub value: String,
    /// Its tone.
    pub tone: Tone,
    /// What explains it.
    pub text: String,
}

impl Badge {
    /// The words that are coloured: `Quality: FAIR.`
    #[must_use]
    pub fn head(&self) -> String {
        format!("{}: {}.", self.name, self.value)
    }
}

/// JSON text, serialised once so that order and digits of the source are kept.
#[derive(Debug, Clone)]
pub struct EmbeddedJson(String);

impl EmbeddedJson {
    /// Indented JSON of a value. Numbers that JSON cannot represent become `null`.
    ///
    /// # Errors
    /// When the value cannot be serialised (a map whose keys are not texts).
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::to_string_pretty(value).map(Self)
    }

    /// A long document on one line.
    ///
    /// # Errors
    /// As for [`EmbeddedJson::of`].
    pub fn compact<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::to_string(value).map(Self)
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }
}

/// One tidy table for other programs: base units, one column for each quantity, empty cells for unknown values.
#[derive(Debug, Clone, Default)]
pub struct Records {
    /// Names of the columns.
    pub header: Vec<&'static str>,
    /// One text for each column.
    pub rows: Vec<Vec<String>>,
}

impl Records {
    /// The members of these names, with blanks between them, of an object or of every object of a list.
    #[must_use]
    pub fn of(names: &'static str, data: &serde_json::Value) -> Self {
        let header: Vec<&str> = names.split(' ').collect();
        let cell = |value: &serde_json::Value| match value {
            serde_json::Value::Null => String::new(),
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let row = |entry: &serde_json::Value| header.iter().map(|name| cell(&entry[*name])).collect();
        let rows = data.as_array().map_or_else(|| vec![row(data)], |entries| entries.iter().map(row).collect());
        Self { header, rows }
    }
}
