//! `prony runs`: what is stored.

use std::collections::BTreeMap;

use anyhow::Result;
use clap::{Args, Subcommand};
use report::view::RunRow;
use report::words::plural;
use report::{Block, Cell, Column, ColumnKind, Document, DocumentSection, EmbeddedJson, Table, TableRow};
use store::{Selector, Summary};

use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::{output, run_finder};

/// Options of `prony runs`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony runs
  prony runs label 3 web-3
  prony runs remove 1 2")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<RunsAction>,
    /// List the published evaluations that come with Prony
    #[arg(long)]
    published: bool,
}

#[derive(Debug, Subcommand)]
enum RunsAction {
    /// Remove runs from the store
    #[command(after_help = "Examples:
  prony runs remove 1 web-3")]
    Remove {
        /// Runs: number, id, label
        #[arg(required = true, value_name = "RUN")]
        runs: Vec<String>,
    },
    /// Give a run a label, or remove the one it has ('')
    #[command(after_help = "Examples:
  prony runs label 3 web-3")]
    Label {
        /// The run: number, id, label
        run: String,
        /// Its new label; an empty one removes the label that it has
        label: String,
    },
}

pub(crate) fn run(arguments: Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    if arguments.published {
        output::print(&published()?, common)?;
        return Ok(ExitStatus::Fine);
    }
    match arguments.action {
        None => {
            if let Some(missing) = run_finder::missing(common) {
                output::remark(&format!("{missing} yet; prony run makes it"));
            }
            let store = run_finder::read(common)?;
            let rows: Vec<RunRow> = store.summaries()?.iter().map(row).collect();
            output::print(&report::view::runs(&rows), common)?;
        }
        Some(RunsAction::Remove { runs }) => remove(&runs, common)?,
        Some(RunsAction::Label { run, label }) => {
            set_label(&run, Some(label.as_str()).filter(|label| !label.is_empty()), common)?;
        }
    }
    Ok(ExitStatus::Fine)
}

fn remove(names: &[String], common: &CommonOptions) -> Result<()> {
    let mut store = run_finder::remove(common)?;
    let selector = Selector::new(store.as_ref())?;
    // A run may be named twice, by its number and by its label.
    let runs: BTreeMap<u64, String> = names
        .iter()
        .map(|name| stored(&selector, name))
        .map(|run| run.map(|run| (run.number, run.id)))
        .collect::<Result<_>>()?;
    store.remove(&runs.values().map(String::as_str).collect::<Vec<_>>())?;
    let data: Vec<_> = runs.iter().map(|(number, id)| serde_json::json!({ "run": number, "id": id })).collect();
    output::done(format!("Removed {}", plural(runs.len(), "run")), Vec::new(), (&["run", "id"], &data.into()), common)
}

fn set_label(name: &str, label: Option<&str>, common: &CommonOptions) -> Result<()> {
    label.map_or(Ok(()), store::check_label)?;
    let mut store = run_finder::write(common)?;
    let Summary { number, id, .. } = stored(&Selector::new(store.as_ref())?, name)?;
    store.set_label(&id, label)?;
    let words = match label {
        Some(label) => format!("The label of run {number} is \"{label}\""),
        None => format!("Run {number} has no label any more"),
    };
    let data = serde_json::json!({ "run": number, "id": id, "label": label });
    output::done(words, Vec::new(), (&["run", "id", "label"], &data), common)
}

fn stored(selector: &Selector, name: &str) -> Result<Summary> {
    anyhow::ensure!(!store::is_path(name), "{name} is a file; name a stored run");
    Ok(selector.resolve(name)?.clone())
}

fn row(summary: &Summary) -> RunRow {
    RunRow {
        handle: summary.number.to_string(),
        id: summary.id.clone(),
        label: summary.label.clone(),
        machine: summary.machine.clone(),
        started: summary.started.clone(),
        suite: summary.suite.clone(),
        figures: summary.figures as usize,
        complete: summary.complete,
        interrupted: summary.interrupted,
    }
}

/// The published evaluations: a name for all machines of each, and a name for each machine.
fn published() -> Result<Document> {
    let listings = import::published::list()?;
    let machines: usize = listings.iter().map(|listing| listing.machines.len()).sum();
    let mut document = Document::new(format!("{} published evaluations of {machines} machines", listings.len()));
    for listing in &listings {
        let columns = vec![Column::new("name", ColumnKind::Label), Column::new("machine", ColumnKind::Words)];
        let row = |(id, name): &(String, String)| TableRow { cells: vec![Cell::text(id), Cell::text(name)] };
        let rows = listing.machines.iter().map(row).collect();
        document.sections.push(DocumentSection::of(listing.name.clone(), Block::Text(listing.attribution.to_owned())));
        document.sections.push(DocumentSection::of("", Block::Table(Table::plain(columns, rows))));
    }
    document.next = vec!["prony compare published:babar-cpu-1998 latest --figures os.syscall_write".to_owned()];
    let data: Vec<_> = listings
        .iter()
        .map(|listing| {
            let machines: Vec<_> =
                listing.machines.iter().map(|(id, name)| serde_json::json!({ "id": id, "machine": name })).collect();
            serde_json::json!({ "name": listing.name, "attribution": listing.attribution, "machines": machines })
        })
        .collect();
    document.data = EmbeddedJson::of(&data).ok();
    Ok(document)
}
