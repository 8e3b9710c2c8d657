//! `prony farm status --cost`: what runs cost, by node and user.

use std::path::PathBuf;

use ::farm::{Ledger, SqliteLedger};
use anyhow::Result;
use model::Unit;
use report::{Block, Cell, Column, Document, DocumentSection, EmbeddedJson, PrintedQuantity, Records, TableRow};
use serde::Serialize;

use super::setup::FarmSetup;
use super::tell_damage;

/// Every column, for other programs: more than a page has room for.
const COLUMNS: &str = "farm user node chunks events failed cpu_hours slot_hours wasted_cpu_hours bytes_read bytes_written \
                       energy";

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
    let setup = FarmSetup::of(&farm)?;
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

/// The nodes of a farm: their work and time, then their data and resources.
fn sections(nodes: &[AccountRow]) -> [DocumentSection; 2] {
    let hours = |hours: f64| Cell::Printed(format!("{hours:.6}"));
    let bytes = |count: u64| Cell::Value(PrintedQuantity::bare(count as f64, Unit::Bytes));
    let time = |row: &AccountRow| {
        TableRow::of(vec![
            Cell::text(row.node.clone()),
            Cell::Count(row.chunks),
            Cell::Count(row.events),
            Cell::Count(row.failed),
            hours(row.cpu_hours),
            hours(row.slot_hours),
            hours(row.wasted_cpu_hours),
        ])
    };
    let columns = Column::list("node|#chunks|#events|#failed|#CPU hours|#slot hours|#wasted CPU hours");
    let times = Block::table(columns, nodes.iter().map(time).collect());
    let joules = |joules: f64| Cell::Value(PrintedQuantity::bare(joules, Unit::Joules));
    let used = |row: &AccountRow| {
        TableRow::of(vec![
            Cell::text(row.node.clone()),
            bytes(row.bytes_read),
            bytes(row.bytes_written),
            row.energy.map_or(Cell::Empty, joules),
        ])
    };
    let used = Block::table(Column::list("node|#read|#written|#energy"), nodes.iter().map(used).collect());
    let title = nodes.first().map(|first| format!("farm {}, user {}", first.farm, first.user)).unwrap_or_default();
    [DocumentSection::of(title, times), DocumentSection::of("", used)]
}

/// The cost of the runs of some ledgers.
pub(super) fn document(ledgers: &[PathBuf]) -> Result<Document> {
    let mut all = Vec::new();
    for path in ledgers {
        let ledger = SqliteLedger::read(path)?;
        tell_damage(&ledger);
        all.extend(rows(&ledger)?);
    }
    let mut document = Document::new("Cost by farm and node");
    document.sections = all.chunk_by(|a, b| a.farm == b.farm).flat_map(sections).collect();
    let data = serde_json::to_value(&all)?;
    document.records = Some(Records::of(COLUMNS, &data));
    document.data = EmbeddedJson::of(&data).ok();
    Ok(document)
}
