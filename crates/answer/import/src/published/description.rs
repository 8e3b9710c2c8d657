//! `evaluation.toml`: how the tables of a published evaluation become machines with results and facts, and how a suite
//! prints them with the measured machine among the printed ones.

use std::collections::BTreeMap;

use model::{Better, Primitive};
use serde::Deserialize;

/// One evaluation.
///
/// In every text, `{column}` is replaced by the current row's cell in that column.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationDescription {
    /// Its title.
    pub title: String,
    /// Attribution, shown wherever its results are shown.
    pub attribution: String,
    /// Name under which the catalogue has it as the source of definitions; empty if it has not.
    #[serde(default)]
    pub source: String,
    /// Date of the document, RFC 3339; if only the year is known, its first day.
    #[serde(default)]
    pub date: String,
    /// Machines with more details than the rows have, in the order in which runs are listed.
    #[serde(default, rename = "machine")]
    pub machines: Vec<MachineDescription>,
    /// Its tables, one CSV file each.
    #[serde(default, rename = "table")]
    pub tables: Vec<TableDescription>,
    /// Tables that are computed from others.
    #[serde(default, rename = "derived")]
    pub derived: Vec<DerivedTable>,
    /// Suites that measure it again, with the tables that they print.
    #[serde(default, rename = "suite")]
    pub suites: Vec<SuiteDescription>,
    /// Results of today that are not what the source measured.
    #[serde(default)]
    pub differs: Vec<DifferenceDescription>,
}

/// Results of today whose definition differs from the source's: their cells carry it as a footnote.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DifferenceDescription {
    /// Their id, in which `*` matches any text.
    pub id: String,
    /// Parameters that they have.
    #[serde(default)]
    pub parameters: String,
    /// How the definitions differ.
    pub says: String,
}

/// A machine of an evaluation.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineDescription {
    /// Its name.
    pub label: String,
    /// Other names under which rows print it.
    #[serde(default)]
    pub printed: Vec<String>,
    /// Summary in one line.
    #[serde(default)]
    pub summary: String,
    /// Notes for all its results.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Facts that are in no column.
    #[serde(default, rename = "fact")]
    pub facts: Vec<FactDescription>,
}

/// A fact of a machine.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactDescription {
    /// Its name.
    pub name: String,
    /// Its value; an empty one gives no fact.
    pub value: String,
    /// Unit of a number; a fact without a unit is a text.
    pub unit: Option<String>,
    /// Factor that converts the number to that unit.
    #[serde(default = "one")]
    pub scale: f64,
    /// Its source.
    #[serde(default = "printed")]
    pub source: String,
    /// Primitives that it affects.
    #[serde(default)]
    pub affects: Vec<Primitive>,
    /// Rows that have it.
    #[serde(default)]
    pub when: Filter,
    /// The machine, if the table's rule does not name it.
    pub machine: Option<String>,
}

/// Cells that a row must have: column and pattern, in which `*` matches any text. A pattern after `!` must not match.
pub type Filter = BTreeMap<String, String>;

/// How the rows of a table name their machine: the first rule that matches.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineRule {
    /// The name.
    pub label: String,
    /// Summary of the machine in one line.
    #[serde(default)]
    pub summary: String,
    /// Rows to which the rule applies.
    #[serde(default)]
    pub when: Filter,
}

/// A printed table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableDescription {
    /// Its file without `.csv`.
    pub name: String,
    /// Its title.
    pub title: String,
    /// How its rows name their machine.
    #[serde(default)]
    pub machine: Vec<MachineRule>,
    /// Machines that are columns instead: label and column. `{value}` is then the cell in the machine's column.
    #[serde(default)]
    pub machine_columns: BTreeMap<String, String>,
    /// Results in its rows.
    #[serde(default, rename = "result")]
    pub results: Vec<ResultDescription>,
    /// Facts in its rows.
    #[serde(default, rename = "fact")]
    pub facts: Vec<FactDescription>,
}

/// A result in the rows of a table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResultDescription {
    /// Its id.
    pub id: String,
    /// Column of its value; absent if machines are columns.
    pub column: Option<String>,
    /// Its parameters.
    #[serde(default)]
    pub parameters: String,
    /// Further parameters, for a machine with several rows in the table.
    #[serde(default)]
    pub parameters_if_repeated: String,
    /// Its title in the source; the column's name if absent.
    pub title: Option<String>,
    /// Unit as printed: one of `UNITS`.
    pub unit: String,
    /// What the unit is counted per.
    pub per: Option<String>,
    /// Direction, if the unit does not imply it.
    pub better: Option<Better>,
    /// Divisor of the value.
    #[serde(default = "one")]
    pub divide: f64,
    /// Primitives that it stresses, the first one mainly, if the source states them and the catalogue does not.
    #[serde(default)]
    pub stresses: Vec<Primitive>,
    /// The row with the upper end, if this one has the lower end of a range.
    #[serde(default)]
    pub up_to: Filter,
    /// What differs from the definition of that result, by little; the result is footnoted.
    pub near: Option<String>,
    /// Why it is another quantity than that result; it enters no mean and no verdict.
    pub other: Option<String>,
    /// Notes.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Rows that have it.
    #[serde(default)]
    pub when: Filter,
    /// The machine, if the table's rule does not name it.
    pub machine: Option<String>,
}

/// A printed table of ratios that can be recomputed from raw values.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DerivedTable {
    /// Its name.
    pub table: String,
    /// The machine that is the divisor.
    pub reference: String,
    /// How a ratio of 1 is printed.
    #[serde(default = "one")]
    pub scale: f64,
    /// Column and result.
    #[serde(default)]
    pub results: BTreeMap<String, String>,
    /// Column of the geometric mean over the results that `over` names.
    pub mean: Option<String>,
    /// Pattern of the results in the mean.
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
    /// Its charts.
    #[serde(default, rename = "chart")]
    pub charts: Vec<SuiteChart>,
}

/// A chart of results of the run over the sizes of one parameter, with a curve for each set of parameters of the
/// others.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteChart {
    /// Its title.
    pub title: String,
    /// Id of the results.
    pub result: String,
    /// The parameter of sizes.
    pub parameter: String,
    /// Title of the table below which it stands.
    pub below: String,
}

/// A table that a suite prints.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteTable {
    /// Its title.
    pub title: String,
    /// The printed table; absent if the table has only the measured machine.
    pub source: Option<String>,
    /// Note for readers of the table.
    #[serde(default)]
    pub note: String,
    /// Its rows.
    pub rows: SuiteRows,
    /// Its order.
    pub sort: Option<SuiteSort>,
    /// Its columns.
    #[serde(rename = "column")]
    pub columns: Vec<SuiteColumn>,
}

/// Rows of a table. `{}` in a column is replaced by the row's key.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuiteRows {
    /// Machines; the run's machine has a row for each of these keys.
    Machines(Vec<String>),
    /// Tests, named by these printed columns together; the run's machine has columns.
    Tests(Vec<String>),
    /// The keys themselves; there is no printed table.
    Given(Vec<String>),
}

/// Order of a table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteSort {
    /// Heading of the column.
    pub by: String,
    /// Whether the largest comes first.
    #[serde(default)]
    pub descending: bool,
    /// Only the first rows are sorted, as long as their cells match this.
    #[serde(default)]
    pub while_rows: Filter,
}

/// A column of a suite's table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteColumn {
    /// Its heading.
    pub heading: String,
    /// Name of the printed column; absent for a column of the run's machine.
    pub source: Option<String>,
    /// Whether it contains texts rather than numbers.
    #[serde(default)]
    pub words: bool,
    /// The cell for the run's machine.
    #[serde(default)]
    pub today: SuiteCell,
    /// The cell by the row's key: the first pattern that matches.
    #[serde(default)]
    pub by_key: Vec<KeyedCell>,
}

/// The cell of rows whose key matches a pattern.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyedCell {
    /// The pattern, in which `*` matches any text.
    pub key: String,
    /// The cell.
    pub today: SuiteCell,
}

/// Content of a cell for the run's machine.
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
    /// A text.
    Words(String),
    /// A fact of the machine.
    Fact(String),
    /// A fact that is a number, in the given unit.
    Number {
        /// Name of the fact.
        fact: String,
        /// Size of the unit in base units.
        scale: f64,
    },
    /// The reason why there is no value.
    Absent(String),
    /// The value of a result.
    Result(SuiteResult),
    /// The interval of a result.
    Interval(SuiteResult),
}

/// A result of the run in the unit of a column.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteResult {
    /// Its id.
    pub id: String,
    /// Its parameters; parameters that are left out have their default.
    #[serde(default)]
    pub parameters: String,
    /// The column's unit: one of `UNITS`.
    pub unit: String,
}

fn one() -> f64 {
    1.0
}

fn printed() -> String {
    "printed".to_owned()
}
