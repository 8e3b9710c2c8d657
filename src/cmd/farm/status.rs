//! `prony farm status`: a ledger, read during the run or afterwards.

use std::path::PathBuf;

use ::farm::{SqliteLedger, Story};
use anyhow::{Context, Result};

use super::{tell_damage, view};
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::output;

/// Options of `prony farm status`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The ledger that a run writes or wrote
    #[arg(value_name = "LEDGER")]
    ledger: PathBuf,
    /// Write the report, with its timeline, to this file instead, in HTML or in --format
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let ledger = SqliteLedger::read(&arguments.ledger)?;
    tell_damage(&ledger);
    let live = SqliteLedger::is_live(&arguments.ledger)?;
    let story = Story::read(&ledger)?;
    let folder = std::env::current_dir().context("could not find the current directory")?;
    let mut run = application::document("farm", story.farm.job.seed, 0.02, None, folder);
    // The farm did not run under the present conditions of this machine.
    run.session.notes.clear();
    measure::began_at(&mut run, story.farm.created);
    run.session.complete = story.invariants.broken().is_empty();
    run.session.seconds = story.seconds;
    run.figures = story.figures();
    run.session.farm = Some(story.record());
    let mut document = view::document(&story, &run, None, &view::FarmChecked::default());
    let counted = story.invariants.totals.commits;
    document.notes.insert(
        0,
        match (live, counted == story.invariants.planned) {
            (true, _) => {
                "the run goes on: a coordinator writes to this ledger; what does not hold yet may still come".to_owned()
            }
            (false, true) => "the run is over".to_owned(),
            (false, false) => {
                format!(
                    "no coordinator writes to this ledger; prony farm resume {} goes on",
                    arguments.ledger.display()
                )
            }
        },
    );
    let Some(path) = &arguments.output else {
        output::print(&document, common)?;
        return Ok(ExitStatus::Fine);
    };
    let text = output::rendered(&document, common.named_format().unwrap_or("html"))?;
    store::write_file(path, &text).with_context(|| format!("could not write the report to {}", path.display()))?;
    output::write(format!("Wrote {}\n", path.display()).as_bytes())?;
    Ok(ExitStatus::Fine)
}
