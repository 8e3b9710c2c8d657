//! `prony runs`: what is stored.

use anyhow::Result;
use clap::{Args, Subcommand};
use report::view::RunRow;
use store::{Selection, Selector, Summary};

use crate::Exit;
use crate::cli::Common;
use crate::{house, output};

/// Options of `prony runs`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    /// List the published evaluations that come with the program
    #[arg(long)]
    published: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
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

pub(crate) fn run(arguments: Arguments, common: &Common) -> Result<Exit> {
    if arguments.published {
        output::print(&report::view::runs(&published()?), common)?;
        return Ok(Exit::Fine);
    }
    match arguments.action.unwrap_or(Action::List) {
        Action::List => {
            let store = house::read(common)?;
            let rows: Vec<RunRow> = store.summaries()?.iter().map(row).collect();
            output::print(&report::view::runs(&rows), common)?;
        }
        Action::Show(arguments) => return super::show::run(&arguments, common),
        Action::Remove { runs } => {
            let mut store = house::write(common)?;
            let selector = Selector::new(store.as_ref())?;
            let ids = runs.iter().map(|name| id(&selector, name)).collect::<Result<Vec<_>>>()?;
            store.remove(&ids.iter().map(String::as_str).collect::<Vec<_>>())?;
        }
        Action::Label { run, label } => {
            if let Some(label) = &label {
                store::check_label(label)?;
            }
            let mut store = house::write(common)?;
            let id = id(&Selector::new(store.as_ref())?, &run)?;
            store.set_label(&id, label.as_deref())?;
        }
    }
    Ok(Exit::Fine)
}

fn id(selector: &Selector, name: &str) -> Result<String> {
    match selector.resolve(name)? {
        Selection::Stored(summary) => Ok(summary.id),
        Selection::File(path) => anyhow::bail!("{} is a file; name a stored run", path.display()),
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
    }
}

fn published() -> Result<Vec<RunRow>> {
    let catalogue = probes::catalogue();
    let mut rows = Vec::new();
    for listing in import::published::list()? {
        rows.extend(import::published::get(&listing.name, &catalogue)?.into_iter().map(|run| RunRow {
            handle: run.id.clone(),
            id: run.id.clone(),
            label: run.label.clone(),
            machine: run.machine.name.clone(),
            started: run.session.started.clone(),
            suite: run.plan.suite.clone(),
            figures: run.figures.len(),
            complete: run.session.complete,
        }));
    }
    Ok(rows)
}
