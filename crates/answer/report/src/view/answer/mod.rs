//! The screen after measuring: the key results, the quality of the data, and what to do next.

mod key;

use model::{BenchmarkResult, Run, percent};

pub use key::key_results;

use super::RunContext;
use super::machine::warnings;
use super::quality::{badge, counted};
use super::run::{cells, next, run, summary};
use crate::words::Told;
use crate::{Block, Column, Document, DocumentSection, Table, TableRow};

/// Commands that are suggested.
const NEXT: usize = 3;

/// The report of a run that was just measured, at most 24 lines of 80 columns.
#[must_use]
pub fn answer(run_: &Run, context: &RunContext) -> Document {
    let mut document = run(run_, context);
    if run_.results.is_empty() {
        return document;
    }
    document.notes = warnings(run_);
    document.sections = vec![DocumentSection::of("", Block::Table(key_table(run_, context)))];
    let blocks = badge(run_).into_iter().chain([Block::Text(summary(run_, context))]).collect();
    document.sections.push(DocumentSection { title: String::new(), blocks });
    document.next = context.handle.iter().map(|handle| format!("prony show {handle}")).collect();
    document.next.extend(next(run_, context).into_iter().filter(|command| !command.starts_with("prony benchmarks")));
    document.next.truncate(NEXT);
    document
}

/// The key results of a run.
pub(super) fn key_table(run: &Run, context: &RunContext) -> Table {
    let columns = vec![
        Column::label(""),
        Column::number("value"),
        Column::number(format!("{} interval", percent(run.plan.level))),
    ];
    let told = Told { brief: true, flags: counted(run), ..Told::default() };
    let row = |(title, result): (String, &BenchmarkResult)| {
        let mut cells = cells(result, title, compare::quality::target(run, result), &told);
        cells.truncate(columns.len());
        TableRow::of(cells)
    };
    let rows = key_results(run, context.catalogue).into_iter().map(row).collect();
    Table::plain(columns, rows)
}
