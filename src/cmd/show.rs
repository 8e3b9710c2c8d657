//! `prony show`: the results of a run, plain or in the tables of an evaluation.

use anyhow::Result;
use clap::Args;
use model::Run;
use store::Detail;

use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::{evaluation, output, run_finder};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony show
  prony show 1 2 --format csv")]
pub(crate) struct Arguments {
    /// Runs: numbers, labels, files, published:NAME; several with --format csv or json [default: latest]
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    /// Show one run in the tables of an evaluation, such as babar, or of a folder with evaluation.toml
    #[arg(long = "as", value_name = "EVALUATION")]
    evaluation: Option<String>,
    /// Print every result with its variant and notes
    #[arg(long)]
    all: bool,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let runs = run_finder::names_or_latest(&arguments.runs, ["latest"]);
    if let Some(evaluation) = &arguments.evaluation {
        anyhow::ensure!(runs.len() == 1, "the tables of an evaluation take one run; name one");
        let tables = evaluation::named(evaluation)?;
        let found = run_finder::find_one(&runs[0], common)?;
        let context = report::view::RunContext { handle: Some(found.handle), ..Default::default() };
        return output::print(&report::view::in_tables(&found.run, &tables, &context), common);
    }
    let mut named = run_finder::find(&runs, common, Detail::Whole)?;
    if named.len() > 1 {
        let runs: Vec<Run> = named.into_iter().map(|named| named.run).collect();
        return output::print_runs(&runs, common);
    }
    let found = named.remove(0);
    let context = report::view::RunContext { handle: Some(found.handle), brief: !arguments.all, ..Default::default() };
    output::print_run(&document(&found.run, &context)?, &found.run, common)
}

/// The results of a stored run.
pub(crate) fn document(run: &Run, context: &report::view::RunContext) -> Result<report::Document> {
    let document = super::time::stored(run, context).or_else(|| super::experiment::stored(run, context));
    match document {
        Some(document) => Ok(document),
        None => super::net::document(run, context),
    }
}
