//! `prony farm status`: a ledger, read during the run or afterwards.

use std::path::PathBuf;

use ::farm::Story;
use anyhow::{Context, Result};
use report::{Html, ReportFormat};

use super::ledger_location::LedgerLocation;
use super::view;
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::output;

/// Options of `prony farm status`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The ledger that a run writes or wrote: a file, or the address of a database
    #[arg(value_name = "LEDGER")]
    ledger: PathBuf,
    /// The run, where the ledger is a database [default: the last that was entered]
    #[arg(long, value_name = "ID")]
    farm: Option<String>,
    /// Write the report, with its timeline, to this HTML file instead
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let ledger = LedgerLocation::named(&arguments.ledger, arguments.farm.as_deref())?.read()?;
    let story = Story::read(&*ledger)?;
    let folder = std::env::current_dir().context("could not find the current directory")?;
    let mut run = application::document("farm", story.farm.job.seed, 0.02, None, folder);
    // The farm did not run under the present conditions of this machine.
    run.session.notes.clear();
    run.session.complete = story.invariants.broken().is_empty();
    run.session.seconds = story.seconds;
    run.figures = story.figures();
    let document = view::document(&story, &run, None, None);
    let Some(path) = &arguments.output else {
        output::print(&document, common)?;
        return Ok(ExitStatus::Fine);
    };
    let mut text = Vec::new();
    Html.render(&document, &mut text)?;
    std::fs::write(path, text).with_context(|| format!("could not write the report to {}", path.display()))?;
    output::write(format!("Wrote {}\n", path.display()).as_bytes())?;
    Ok(ExitStatus::Fine)
}
