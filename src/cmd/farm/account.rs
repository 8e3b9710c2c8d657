//! `prony farm account`: what runs cost, by node and user.

use std::path::PathBuf;

use ::farm::{Ledger, SqliteLedger};
use anyhow::{Context, Result};
use report::{Block, Cell, Column, ColumnKind, Document, DocumentSection, EmbeddedJson, Table, TableRow};
use serde::Serialize;

use super::setup::FarmSetup;
use super::tell_damage;
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::output;

/// Options of `prony farm account`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Ledgers of runs; --format csv writes one row for each node of each run
    #[arg(value_name = "LEDGER", required = true)]
    ledgers: Vec<PathBuf>,
}

/// One node of one run.
#[derive(Debug, Serialize)]
struct AccountRow {
    farm: String,
    user: String,
    node: String,
    chunks: u64,
    events: u64,
    failed: u64,
    /// CPU time of chunks that count, hours.
    cpu_hours: f64,
    /// Time of slots in chunks that count, hours.
    slot_hours: f64,
    /// CPU time of results that do not count, hours.
    wasted_cpu_hours: f64,
    bytes_read: u64,
    bytes_written: u64,
    /// Energy of the node's processors while its pilots ran, joules; `None` where there is no counter.
    energy: Option<f64>,
}

fn rows(ledger: &dyn Ledger) -> Result<Vec<AccountRow>> {
    let farm = ledger.farm()?;
    let setup: FarmSetup =
        serde_json::from_value(farm.settings.clone()).context("could not understand the ledger's settings")?;
    let about = ledger.descriptions()?;
    let energy = |node: &str| about.iter().find(|(name, _)| name == node)?.1.get("joules")?.as_f64();
    let user = if setup.user.is_empty() { "unknown".to_owned() } else { setup.user };
    let row = |node: ::farm::NodeTotals| AccountRow {
        farm: farm.id.clone(),
        user: user.clone(),
        energy: energy(&node.node),
        chunks: node.totals.commits,
        events: node.totals.events,
        failed: node.totals.failed,
        cpu_hours: node.totals.cpu / 3600.0,
        slot_hours: node.totals.wall / 3600.0,
        wasted_cpu_hours: node.totals.wasted / 3600.0,
        bytes_read: node.totals.read,
        bytes_written: node.totals.written,
        node: node.node,
    };
    Ok(ledger.nodes()?.into_iter().map(row).collect())
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let mut all = Vec::new();
    for path in &arguments.ledgers {
        let ledger = SqliteLedger::read(path)?;
        tell_damage(&ledger);
        all.extend(rows(&ledger)?);
    }
    let number = |title| Column::new(title, ColumnKind::Number);
    let columns = vec![
        Column::new("farm", ColumnKind::Label),
        Column::new("user", ColumnKind::Words),
        Column::new("node", ColumnKind::Words),
        number("chunks"),
        number("events"),
        number("failed"),
        number("cpu_hours"),
        number("slot_hours"),
        number("wasted_cpu_hours"),
        number("bytes_read"),
        number("bytes_written"),
        number("joules"),
    ];
    let line = |row: &AccountRow| TableRow {
        cells: vec![
            Cell::text(row.farm.clone()),
            Cell::text(row.user.clone()),
            Cell::text(row.node.clone()),
            Cell::Count(row.chunks),
            Cell::Count(row.events),
            Cell::Count(row.failed),
            Cell::text(format!("{:.6}", row.cpu_hours)),
            Cell::text(format!("{:.6}", row.slot_hours)),
            Cell::text(format!("{:.6}", row.wasted_cpu_hours)),
            Cell::Count(row.bytes_read),
            Cell::Count(row.bytes_written),
            row.energy.map_or(Cell::Empty, |joules| Cell::text(format!("{joules:.0}"))),
        ],
    };
    let mut document = Document::new("Account of farms");
    let table = Table::plain(columns, all.iter().map(line).collect());
    document.sections.push(DocumentSection::of("", Block::Table(table)));
    document.data = EmbeddedJson::of(&all).ok();
    output::print(&document, common)?;
    Ok(ExitStatus::Fine)
}
