//! The tables of a published evaluation, with the machine of a run among the printed ones.
//!
//! The layout of a table is data: its columns, the content of each row, and the column by which it is sorted. Printed
//! rows keep their order and digits; a row of the run is placed by the sorting.

mod convert;
mod data;
mod place;
mod resolve;

use model::{Definition, ResultKey, Run, target_number};

use super::RunContext;
use super::machine::{heading, notes, warnings};
use super::report::curves;
use super::run::{summary, table as run_table};
use crate::{Block, Cell, Column, ColumnKind, Document, DocumentSection, EmbeddedJson, TableRow};
pub use convert::PrintedUnit;
use resolve::CellReader;

/// An evaluation to be printed.
#[derive(Debug, Clone)]
pub struct EvaluationView {
    /// Its title.
    pub title: String,
    /// Attribution, printed beside its results.
    pub attribution: String,
    /// Its tables, in their printed order.
    pub tables: Vec<EvaluationTable>,
    /// Results of the run whose definition is not that of the printed cells.
    pub definitions: Vec<(ResultKey, Definition)>,
    /// Its charts.
    pub charts: Vec<EvaluationChart>,
}

/// A chart of results of the run over sizes.
#[derive(Debug, Clone)]
pub struct EvaluationChart {
    /// Its title.
    pub title: String,
    /// Id of the results.
    pub benchmark: String,
    /// The parameter of sizes; every set of parameters of the other parameters is a curve.
    pub parameter: String,
    /// Title of the table below which it stands.
    pub below: String,
}

/// One table of it.
#[derive(Debug, Clone)]
pub struct EvaluationTable {
    /// Heading.
    pub title: String,
    /// A note on it.
    pub note: String,
    /// Columns, from the left.
    pub columns: Vec<EvaluationColumn>,
    /// Rows as printed; if a row is a test, the run's values are part of it.
    pub rows: Vec<Vec<Slot>>,
    /// Rows of the run's machine, if a row is a machine.
    pub today: Vec<Vec<Slot>>,
    /// Its order.
    pub sort: Option<TableSort>,
}

/// A column of it.
#[derive(Debug, Clone)]
pub struct EvaluationColumn {
    /// Heading, with the unit of its numbers.
    pub heading: String,
    /// Whether it holds numbers.
    pub numbers: bool,
}

/// Order of a table.
#[derive(Debug, Clone, Copy)]
pub struct TableSort {
    /// The column, from 0.
    pub column: usize,
    /// Whether the largest comes first.
    pub descending: bool,
    /// Number of sorted rows, from the first; the others stay as printed.
    pub rows: usize,
}

/// Content of a cell before the run is read.
#[derive(Debug, Clone)]
pub enum Slot {
    /// A text.
    Words(String),
    /// The name of the run's machine.
    Machine,
    /// A fact of the run's machine.
    Fact(String),
    /// A fact of the run's machine that is a number, and the size of its unit in base units.
    Number(String, f64),
    /// A number as printed; empty if the table has none.
    Printed(String),
    /// A result of the run.
    Result(ResultKey, PrintedUnit),
    /// The interval of a result of the run, if the value has a column of its own.
    Interval(ResultKey, PrintedUnit),
    /// No result corresponds to it; the reason.
    Absent(String),
}

/// The report of a run in the tables of an evaluation.
#[must_use]
pub fn in_tables(run: &Run, evaluation: &EvaluationView, context: &RunContext) -> Document {
    let mut document = Document::new(heading(run, context.handle.as_deref()));
    document.notes = warnings(run).into_iter().chain(notes(run)).collect();
    document.notes.push(format!("tables of: {}; {}", evaluation.title, evaluation.attribution));
    let drawn: Vec<_> = evaluation.tables.iter().map(|table| (table, place::placed(table, run))).collect();
    for (table, rows) in &drawn {
        document.sections.push(section(table, rows, run, &evaluation.definitions));
        for chart in evaluation.charts.iter().filter(|chart| chart.below == table.title) {
            document.sections.extend(drawn_chart(chart, run));
        }
    }
    document.summary = vec![summary(run, context)];
    document.data = EmbeddedJson::of(&data::document(evaluation, &drawn, run)).ok();
    document.records = Some(data::records(&drawn, run, &evaluation.definitions));
    document
}

/// The same after measuring: the JSON is the run itself, and every result with its remarks follows the tables.
#[must_use]
pub fn in_tables_measured(run: &Run, tables: &EvaluationView, context: &RunContext) -> Document {
    let plain = super::run(run, context);
    let mut document = in_tables(run, tables, context);
    let blocks = vec![Block::Table(run_table(run, true))];
    let folded = Block::Folded { title: "Every result of the run".to_owned(), blocks };
    document.add("", folded);
    Document { next: plain.next, data: plain.data, records: plain.records, ..document }
}

/// A chart over sizes; `None` where the run has no such results.
fn drawn_chart(chart: &EvaluationChart, run: &Run) -> Option<DocumentSection> {
    let measured =
        |result: &model::BenchmarkResult| result.benchmark == chart.benchmark && result.outcome.estimate().is_some();
    run.results.iter().any(measured).then(|| {
        let mut drawn = curves::chart(&[run], &[run.name().to_owned()], &chart.benchmark, &chart.parameter);
        drawn.title.clone_from(&chart.title);
        DocumentSection::of("", Block::Chart(drawn))
    })
}

/// How a result's definition stands to that of the printed cells: in every directory as in the first.
fn told<'a>(definitions: &'a [(ResultKey, Definition)], key: &ResultKey) -> Option<&'a Definition> {
    let further = key.parameters.get("place").and_then(target_number).is_some();
    let parameters = if further { key.parameters.clone().with("place", "target") } else { key.parameters.clone() };
    let usual = ResultKey::new(key.benchmark.clone(), parameters);
    definitions.iter().find(|(known, _)| *known == usual).map(|(_, definition)| definition)
}

fn section(
    table: &EvaluationTable,
    rows: &[Vec<Slot>],
    run: &Run,
    definitions: &[(ResultKey, Definition)],
) -> DocumentSection {
    let kind = |index: usize, column: &EvaluationColumn| match (index, column.numbers) {
        (0, false) => ColumnKind::Label,
        (_, false) => ColumnKind::Words,
        (_, true) => ColumnKind::Number,
    };
    let column = |(index, column): (usize, &EvaluationColumn)| Column::new(&column.heading, kind(index, column));
    let columns = table.columns.iter().enumerate().map(column).collect();
    // A table without printed cells continues none.
    let printed = rows.iter().flatten().any(|slot| matches!(slot, Slot::Printed(_)));
    let mut reader = CellReader::new(run, if printed { definitions } else { &[] });
    let mut drawn = Vec::new();
    for slots in rows {
        drawn.push(TableRow::of(slots.iter().map(|slot| reader.cell(slot)).collect()));
        drawn.extend(intervals(slots, &mut reader));
    }
    let mut blocks = vec![Block::table(columns, drawn)];
    blocks.extend((!table.note.is_empty()).then(|| Block::Text(table.note.clone())));
    let remarks = reader.remarks();
    if !remarks.is_empty() {
        blocks.push(Block::list(remarks));
    }
    DocumentSection { title: table.title.clone(), blocks }
}

/// The interval of every value below a row of the run's machine; `None` if intervals have a column.
fn intervals(slots: &[Slot], reader: &mut CellReader<'_>) -> Option<TableRow> {
    if slots.iter().any(|slot| matches!(slot, Slot::Interval(..))) {
        return None;
    }
    let cell = |slot: &Slot| match slot {
        Slot::Result(key, unit) => reader.interval(key, *unit),
        _ => Cell::Empty,
    };
    let mut cells: Vec<Cell> = slots.iter().map(cell).collect();
    if !cells.iter().any(|cell| matches!(cell, Cell::Interval(_))) {
        return None;
    }
    if let Some(first) = cells.first_mut().filter(|first| matches!(first, Cell::Empty)) {
        *first = Cell::Text(reader.level_words(), crate::Tone::Muted);
    }
    Some(TableRow::of(cells))
}
