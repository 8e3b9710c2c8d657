//! `prony farm status`: a ledger, read during the run or afterwards.

use std::path::{Path, PathBuf};

use ::farm::{SqliteLedger, Story};
use anyhow::{Context, Result};

use report::Document;

use super::{tell_damage, verify, view};
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::output;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony farm status farm-1a2b3c.ledger
  prony farm status --check farm-1a2b3c.ledger")]
pub(crate) struct Arguments {
    /// The ledger that a run writes or wrote
    #[arg(value_name = "LEDGER")]
    ledger: PathBuf,
    /// Compare every file that chunks produced with the ledger (exit code 1: they differ)
    #[arg(long)]
    check: bool,
    /// Write this file instead, in HTML or in --format
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let path = &arguments.ledger;
    let ledger = SqliteLedger::read(path)?;
    tell_damage(&ledger);
    let (document, exit) =
        if arguments.check { verify::document(&ledger, path)? } else { (status(&ledger, path)?, ExitStatus::Fine) };
    output::save(&document, arguments.output.as_deref(), common)?;
    Ok(exit)
}

/// The progress of a run, or its result.
fn status(ledger: &SqliteLedger, path: &Path) -> Result<Document> {
    let live = SqliteLedger::is_live(path)?;
    let story = Story::read(ledger)?;
    let folder = std::env::current_dir().context("could not find the current directory")?;
    let mut run = application::document("farm", story.farm.job.seed, 0.02, None, folder);
    // The farm did not run under the present conditions of this machine.
    run.session.notes.clear();
    measure::began_at(&mut run, story.farm.created);
    run.session.complete = story.invariants.broken().is_empty();
    run.session.seconds = story.seconds;
    run.results = story.results();
    run.session.farm = Some(story.record());
    let mut document = view::document(&story, &run, None, &view::FarmChecked::default());
    let counted = story.invariants.totals.commits;
    document.notes.insert(
        0,
        match (live, counted == story.invariants.planned) {
            (true, _) => "still running: a check that fails now may pass later".to_owned(),
            (false, true) => "finished".to_owned(),
            (false, false) => {
                format!("stopped before the end; continue with: prony farm resume {}", path.display())
            }
        },
    );
    Ok(document)
}
