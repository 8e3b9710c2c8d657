//! `prony app fit`.

use anyhow::Result;
use model::Run;
use report::Document;

use super::view;
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::cmd::predict::learnt_from;
use crate::{output, run_finder};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony app fit os.fork_exit --against os.fork_shell published:babar-cpu-1998")]
pub(crate) struct Arguments {
    /// The application: NAME of application.NAME, or any result by its id or id:parameters
    #[arg(value_name = "APPLICATION")]
    application: String,
    /// Fit against this result, by its id or id:parameters
    #[arg(long, value_name = "RESULT", default_value = "rating.int_1_speed")]
    against: String,
    /// Runs: numbers, labels, files, published:NAME [default: the whole store]
    #[arg(num_args = 0.., value_name = "RUN")]
    runs: Vec<String>,
    /// Group machines by this fact [default: the first word of the CPU model]
    #[arg(long, value_name = "FACT")]
    family: Option<String>,
}

/// Confidence of the intervals.
const LEVEL: f64 = 0.95;

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    output::print(&document(arguments, common)?, common)
}

/// Its document, for a report of its own or as part of another.
pub(crate) fn document(arguments: &Arguments, common: &CommonOptions) -> Result<Document> {
    let runs: Vec<Run> = run_finder::alike(learnt_from(&arguments.runs, common)?);
    let own = format!("application.{}", arguments.application);
    let known = runs.iter().flat_map(|run| &run.results).any(|result| result.benchmark == own);
    let application = if known { own } else { arguments.application.clone() };
    let pairs = application::pairs(&runs, &application, &arguments.against, arguments.family.as_deref());
    let has = |run: &&Run, name: &str| {
        run.results.iter().any(|result| result.benchmark == name || result.key().to_string() == name)
    };
    let used = runs.iter().filter(|run| has(run, &application) || has(run, &arguments.against)).count();
    let fit = application::fit(&application, &arguments.against, pairs, LEVEL)?;
    let mut document = view::fit(&fit);
    if used > fit.pairs.len() {
        document.notes.push(format!("{used} runs have these results; the newest of each machine counts."));
    }
    Ok(document)
}
