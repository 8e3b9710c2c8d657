//! `prony runs`: what is stored.

use anyhow::Result;
use clap::{Args, Subcommand};
use report::view::RunRow;
use report::{Block, Cell, Column, ColumnKind, Document, DocumentSection, EmbeddedJson, Table, TableRow};
use store::{Selector, StoreSelection, Summary};

use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::{output, run_finder};

/// Options of `prony runs`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<RunsAction>,
    /// List the published evaluations that come with the program
    #[arg(long)]
    published: bool,
}

#[derive(Debug, Subcommand)]
enum RunsAction {
    /// List stored runs (the default)
    List,
    /// Show one run
    Show(super::show::Arguments),
    /// Forget runs
    Remove {
        /// Runs: number, id, label
        #[arg(required = true, value_name = "RUN")]
        runs: Vec<String>,
    },
    /// Give a run a label; without one, take it away
    Label {
        /// The run: number, id, label
        run: String,
        /// Its new label
        label: Option<String>,
    },
}

pub(crate) fn run(arguments: Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    if arguments.published {
        output::print(&published()?, common)?;
        return Ok(ExitStatus::Fine);
    }
    match arguments.action.unwrap_or(RunsAction::List) {
        RunsAction::List => {
            if let Some(missing) = run_finder::missing(common) {
                output::remark(&format!("{missing} yet; prony run makes it"));
            }
            let store = run_finder::read(common)?;
            let rows: Vec<RunRow> = store.summaries()?.iter().map(row).collect();
            output::print(&report::view::runs(&rows), common)?;
        }
        RunsAction::Show(arguments) => return super::show::run(&arguments, common),
        RunsAction::Remove { runs } => {
            let mut store = run_finder::write(common)?;
            let selector = Selector::new(store.as_ref())?;
            // A run may be named twice, by its number and by its label.
            let ids = runs.iter().map(|name| id(&selector, name)).collect::<Result<std::collections::BTreeSet<_>>>()?;
            store.remove(&ids.iter().map(String::as_str).collect::<Vec<_>>())?;
            output::remark(&format!("removed {} {}", ids.len(), if ids.len() == 1 { "run" } else { "runs" }));
        }
        RunsAction::Label { run, label } => {
            if let Some(label) = &label {
                store::check_label(label)?;
            }
            let mut store = run_finder::write(common)?;
            let id = id(&Selector::new(store.as_ref())?, &run)?;
            store.set_label(&id, label.as_deref())?;
            output::remark(&match label {
                Some(label) => format!("the label of run {run} is '{label}'"),
                None => format!("run {run} has no label any more"),
            });
        }
    }
    Ok(ExitStatus::Fine)
}

fn id(selector: &Selector, name: &str) -> Result<String> {
    match selector.resolve(name)? {
        StoreSelection::Stored(summary) => Ok(summary.id),
        StoreSelection::File(path) => anyhow::bail!("{} is a file; name a stored run", path.display()),
    }
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
