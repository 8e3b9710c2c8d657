//! `evaluation.toml`: how the tables of a published evaluation become machines with figures and facts, and how a suite prints
//! them with today's machine among the printed ones.

use std::collections::BTreeMap;

use model::{Better, Primitive};
use serde::Deserialize;

/// One evaluation.
///
/// In every text, `{column}` stands for the cell of the row at hand in that column.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationDescription {
    /// What it is.
    pub title: String,
    /// Who is to be named wherever its figures are shown.
    pub attribution: String,
    /// When the document appeared, RFC 3339; where only the year is known, its first day.
    #[serde(default)]
    pub date: String,
    /// Machines of which more is known than the rows say, in the order in which runs of machines are listed.
    #[serde(default, rename = "machine")]
    pub machines: Vec<MachineDescription>,
    /// Its tables, one CSV file each.
    #[serde(default, rename = "table")]
    pub tables: Vec<TableDescription>,
    /// Tables that are worked out from others.
    #[serde(default, rename = "derived")]
    pub derived: Vec<DerivedTable>,
    /// Suites that measure it, with the tables that they print.
    #[serde(default, rename = "suite")]
    pub suites: Vec<SuiteDescription>,
}

/// A machine of an evaluation.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineDescription {
    /// What it is called.
    pub label: String,
    /// Other names under which rows print it.
    #[serde(default)]
    pub printed: Vec<String>,
    /// One line on it.
    #[serde(default)]
    pub summary: String,
    /// What a reader of all its figures should know.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Facts that no column holds.
    #[serde(default, rename = "fact")]
    pub facts: Vec<FactDescription>,
}

/// A fact of a machine.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactDescription {
    /// Its name.
    pub name: String,
    /// Its value; empty ones make no fact.
    pub value: String,
    /// Unit of a number; a fact without one is in words.
    pub unit: Option<String>,
    /// What multiplies the number into that unit.
    #[serde(default = "one")]
    pub scale: f64,
    /// Where it stands.
    #[serde(default = "printed")]
    pub source: String,
    /// Primitives that it affects.
    #[serde(default)]
    pub affects: Vec<Primitive>,
    /// Rows that hold it.
    #[serde(default)]
    pub when: Filter,
    /// The machine, where the table's rule does not name it.
    pub machine: Option<String>,
}

/// Cells that a row must have: column and pattern, in which `*` stands for anything. A pattern after `!` must not fit.
pub type Filter = BTreeMap<String, String>;

/// How the rows of a table name their machine: the first rule that fits.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineRule {
    /// The name.
    pub label: String,
    /// One line on the machine.
    #[serde(default)]
    pub summary: String,
    /// Rows for which the rule holds.
    #[serde(default)]
    pub when: Filter,
}

/// A printed table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableDescription {
    /// Its file without `.csv`.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// How its rows name their machine.
    #[serde(default)]
    pub machine: Vec<MachineRule>,
    /// Machines that are columns instead: label and column. `{value}` is then the cell in the machine's column.
    #[serde(default)]
    pub machine_columns: BTreeMap<String, String>,
    /// Figures that its rows hold.
    #[serde(default, rename = "figure")]
    pub figures: Vec<FigureDescription>,
    /// Facts that its rows hold.
    #[serde(default, rename = "fact")]
    pub facts: Vec<FactDescription>,
}

/// A figure that the rows of a table hold.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureDescription {
    /// Its id.
    pub id: String,
    /// Column of its value; where machines are columns, it is left out.
    pub column: Option<String>,
    /// Where on its axes.
    #[serde(default)]
    pub point: String,
    /// Further axes, where a machine has several rows in the table.
    #[serde(default)]
    pub point_if_repeated: String,
    /// What the source calls it; the column's name when left out.
    pub title: Option<String>,
    /// Unit as printed: one of `UNITS`.
    pub unit: String,
    /// What one of the unit is counted per.
    pub per: Option<String>,
    /// Which way is better, where the unit does not say.
    pub better: Option<Better>,
    /// What divides the value.
    #[serde(default = "one")]
    pub divide: f64,
    /// What it measures, the first above all, where the source says so and the catalogue's definition does not.
    #[serde(default)]
    pub stresses: Vec<Primitive>,
    /// The row that prints the upper end, where this one prints the lower end of a range.
    #[serde(default)]
    pub up_to: Filter,
    /// What a reader should know.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Rows that hold it.
    #[serde(default)]
    pub when: Filter,
    /// The machine, where the table's rule does not name it.
    pub machine: Option<String>,
}

/// A printed table of ratios that its raw values give again.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DerivedTable {
    /// Its name.
    pub table: String,
    /// The machine by which it divides.
    pub reference: String,
    /// How it prints a ratio of 1.
    #[serde(default = "one")]
    pub scale: f64,
    /// Column and figure.
    #[serde(default)]
    pub figures: BTreeMap<String, String>,
    /// Column of the geometric mean over all figures that `over` names.
    pub mean: Option<String>,
    /// Figures over which the mean is taken, as a pattern.
    #[serde(default)]
    pub over: String,
}

/// A suite that measures an evaluation again.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteDescription {
    /// Its name.
    pub name: String,
    /// Title above its tables.
    pub title: String,
    /// Its tables.
    #[serde(default, rename = "table")]
    pub tables: Vec<SuiteTable>,
}

/// A table that a suite prints.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteTable {
    /// Its title.
    pub title: String,
    /// The printed table; left out where today's machine stands alone.
    pub source: Option<String>,
    /// What a reader of the table should know.
    #[serde(default)]
    pub note: String,
    /// What its rows are.
    pub rows: SuiteRows,
    /// How it is sorted.
    pub sort: Option<SuiteSort>,
    /// Its columns.
    #[serde(rename = "column")]
    pub columns: Vec<SuiteColumn>,
}

/// What the rows of a table are. `{}` in a column stands for the row's key.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuiteRows {
    /// Machines; the run's machine has a row for each of these keys.
    Machines(Vec<String>),
    /// Tests, named by these printed columns together; the run's machine has columns.
    Tests(Vec<String>),
    /// The keys themselves: nothing is printed.
    Given(Vec<String>),
}

/// How a table is sorted.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteSort {
    /// Heading of the column.
    pub by: String,
    /// Whether the largest stands first.
    #[serde(default)]
    pub descending: bool,
    /// Only the first rows are sorted, while their cells are these.
    #[serde(default)]
    pub while_rows: Filter,
}

/// A column of a suite's table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteColumn {
    /// Its heading.
    pub heading: String,
    /// Name of the printed column; left out for a column of the run's machine.
    pub source: Option<String>,
    /// Whether it holds words rather than numbers.
    #[serde(default)]
    pub words: bool,
    /// What stands there for the run's machine.
    #[serde(default)]
    pub today: SuiteCell,
    /// What stands there by the row's key: the first pattern that fits.
    #[serde(default)]
    pub by_key: Vec<KeyedCell>,
}

/// What stands in a row whose key fits a pattern.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyedCell {
    /// The pattern, in which `*` stands for anything.
    pub key: String,
    /// The cell.
    pub today: SuiteCell,
}

/// What a cell says of the run's machine.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuiteCell {
    /// Nothing.
    #[default]
    Empty,
    /// Its name.
    Machine,
    /// The row's key.
    Key,
    /// Words.
    Words(String),
    /// A fact of it.
    Fact(String),
    /// A fact that is a number, in units of so many base units.
    Number {
        /// Name of the fact.
        fact: String,
        /// Base units of one.
        scale: f64,
    },
    /// Why there is nothing.
    Absent(String),
    /// The value of a figure.
    Figure(SuiteFigure),
    /// The interval of a figure.
    Interval(SuiteFigure),
}

/// A figure of the run in the unit of a column.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteFigure {
    /// Its id.
    pub id: String,
    /// Where on its axes; axes that are left out take their default.
    #[serde(default)]
    pub point: String,
    /// The column's unit: one of `UNITS`.
    pub unit: String,
}

fn one() -> f64 {
    1.0
}

fn printed() -> String {
    "printed".to_owned()
}
