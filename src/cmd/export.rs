//! `prony export`: runs in the formats of other tools.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use clap::builder::PossibleValuesParser;
use model::Run;
use report::words::plural;
use store::Detail;

use crate::cli::CommonOptions;
use crate::{ExitStatus, output, run_finder};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony export --to openmetrics
  prony export 1 2 --to benchstat --output runs.txt")]
pub(crate) struct Arguments {
    /// Runs: numbers, labels, files, published:NAME [default: latest]
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    /// Write this tool's format
    #[arg(long = "to", value_name = "FORMAT", value_parser = format_names())]
    to: String,
    /// Write this file [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

fn format_names() -> PossibleValuesParser {
    PossibleValuesParser::new(::export::formats().iter().map(|format| format.name))
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let asked = common.format();
    let names = run_finder::names_or_latest(&arguments.runs, ["latest"]);
    anyhow::ensure!(
        asked == "terminal",
        "could not export as {asked}: --to names the format of another tool; prony show {} --format {asked} writes runs as \
         {asked}",
        names.join(" ")
    );
    let named = run_finder::find(&names, common, Detail::Whole)?;
    let runs: Vec<Run> = named.into_iter().map(|named| named.run).collect();
    let mut bytes = Vec::new();
    ::export::export(&runs, &arguments.to, &mut bytes)?;
    if arguments.to == "openmetrics" {
        without_sample(&runs);
    }
    let Some(path) = &arguments.output else { return output::write(&bytes) };
    store::write_file(path, &bytes).with_context(|| format!("could not write {}", path.display()))?;
    Ok(ExitStatus::Fine)
}

/// Says how many results have no sample: a gauge has one value, and has no word for modes, bounds and reasons.
fn without_sample(runs: &[Run]) {
    let results = || runs.iter().flat_map(|run| &run.results);
    let without = results().filter(|result| result.outcome.estimate().is_none()).count();
    if without > 0 {
        let verb = if without == 1 { "has" } else { "have" };
        output::remark(&format!(
            "{without} of {} {verb} no sample: in modes, below the resolution, or not measured",
            plural(results().count(), "result")
        ));
    }
}
