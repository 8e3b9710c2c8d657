//! `prony list`: what can be measured.

use anyhow::Result;
use clap::Args;
use report::{Block, Cell, Column, ColumnKind, Document, DocumentSection, EmbeddedJson, Table, TableRow};

use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::output;

/// Options of `prony list`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// List the suites instead of the probes
    #[arg(long)]
    suites: bool,
    /// Only probes whose id contains this
    filter: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let document = if arguments.suites {
        suites()
    } else {
        let mut catalogue = probes::catalogue();
        if let Some(filter) = &arguments.filter {
            catalogue.probes.retain(|probe| probe.id.contains(filter.trim_matches('*')));
            anyhow::ensure!(!catalogue.probes.is_empty(), "no probe's id contains {filter} (prony list shows all)");
        }
        report::view::catalogue(&catalogue)
    };
    output::print(&document, common)?;
    Ok(ExitStatus::Fine)
}

fn suites() -> Document {
    let mut document = Document::new(format!("{} suites", probes::SUITES.len()));
    let columns = vec![
        Column::new("suite", ColumnKind::Label),
        Column::new("figures", ColumnKind::Number),
        Column::new("what it measures", ColumnKind::Words),
    ];
    let row = |suite: &probes::Suite| TableRow {
        cells: vec![Cell::text(suite.name), Cell::text(suite.selections().len().to_string()), Cell::text(suite.about)],
    };
    let rows = probes::SUITES.iter().map(row).collect();
    document.sections.push(DocumentSection::of("", Block::Table(Table::plain(columns, rows))));
    document.next = vec!["prony run --suite quick".to_owned()];
    let data: Vec<_> = probes::SUITES
        .iter()
        .map(|suite| {
            let figures: Vec<_> = suite
                .selections()
                .iter()
                .map(|selection| serde_json::json!({ "probe": selection.probe.id, "point": selection.point }))
                .collect();
            serde_json::json!({ "name": suite.name, "about": suite.about, "seconds": suite.seconds, "figures": figures })
        })
        .collect();
    document.data = EmbeddedJson::of(&data).ok();
    document
}
