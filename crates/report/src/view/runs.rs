//! The list of runs.

use serde::Serialize;

use crate::words::{day, plural};
use crate::{Block, Cell, Column, ColumnKind, Document, DocumentSection, EmbeddedJson, Records, Table, TableRow, Tone};

/// One run in the list.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RunRow {
    /// Number or name that selects it.
    pub handle: String,
    /// Unique id.
    pub id: String,
    /// Label given by the owner.
    pub label: Option<String>,
    /// The machine's name.
    pub machine: String,
    /// Start, RFC 3339 in UTC.
    pub started: String,
    /// Name of the suite.
    pub suite: String,
    /// Number of figures.
    pub figures: usize,
    /// Whether everything planned was measured.
    pub complete: bool,
    /// Whether it was interrupted; a run that its time limit ended was not.
    pub interrupted: bool,
}

/// The report of `prony runs`: one row for each run, in the given order.
#[must_use]
pub fn runs(rows: &[RunRow]) -> Document {
    let mut document = Document::new(format!("{} stored", plural(rows.len(), "run")));
    let columns = vec![
        Column::new("run", ColumnKind::Label),
        Column::new("label", ColumnKind::Words),
        Column::new("machine", ColumnKind::Words),
        Column::new("started (UTC)", ColumnKind::Words),
        Column::new("suite", ColumnKind::Words),
        Column::new("figures", ColumnKind::Number),
        Column::new("", ColumnKind::Remark),
    ];
    if rows.is_empty() {
        document.title = "No run is stored yet".to_owned();
        document.next = vec!["prony run".to_owned()];
    } else {
        let rows = rows.iter().map(row).collect();
        document.sections.push(DocumentSection::of("", Block::Table(Table::plain(columns, rows))));
    }
    if let [earlier @ .., last] = rows {
        // Runs of different suites have hardly a figure in common.
        let alike = earlier.iter().rev().find(|run| run.suite == last.suite);
        document.next.extend(alike.map(|alike| format!("prony compare {} {}", alike.handle, last.handle)));
        document.next.push(format!("prony report {}", last.handle));
    }
    document.data = EmbeddedJson::of(rows).ok();
    document.records = Some(records(rows));
    document
}

fn row(run: &RunRow) -> TableRow {
    let remark = if run.interrupted { Cell::Text("incomplete".to_owned(), Tone::Caution) } else { Cell::Empty };
    TableRow {
        cells: vec![
            Cell::text(&run.handle),
            Cell::text(run.label.clone().unwrap_or_default()),
            Cell::text(&run.machine),
            Cell::text(day(&run.started)),
            Cell::text(&run.suite),
            Cell::Count(run.figures as u64),
            remark,
        ],
    }
}

fn records(rows: &[RunRow]) -> Records {
    let header = vec!["run", "id", "label", "machine", "started", "suite", "figures", "complete", "interrupted"];
    let rows = rows
        .iter()
        .map(|run| {
            vec![
                run.handle.clone(),
                run.id.clone(),
                run.label.clone().unwrap_or_default(),
                run.machine.clone(),
                run.started.clone(),
                run.suite.clone(),
                run.figures.to_string(),
                run.complete.to_string(),
                run.interrupted.to_string(),
            ]
        })
        .collect();
    Records { header, rows }
}
