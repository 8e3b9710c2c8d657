//! `prony history`: what changed on a machine since when, and what changed with it.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Args;
use model::Run;
use report::view::HistoryContext;
use store::{Detail, Summary};

use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::value_parsers::date;
use crate::{output, run_finder};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony history
  prony history 'os.*' --since 2026-11-01 --output history.html")]
pub(crate) struct Arguments {
    /// Show only results that match, such as 'os.*'; all are searched
    #[arg(value_name = "GLOB")]
    results: Option<String>,
    /// Show this machine [default: that of the latest run]
    #[arg(long, value_name = "NAME")]
    machine: Option<String>,
    /// Show only this day and later ones, such as 2026-11-03
    #[arg(long, value_name = "DATE", value_parser = date)]
    since: Option<String>,
    /// Write this file, with a chart of each result; - for standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let runs = runs(arguments, common)?;
    let named: Vec<(String, &Run)> = runs.iter().map(|(handle, run)| (handle.clone(), run)).collect();
    let found = history::history(&named);
    let matches = |metric: &history::MetricHistory| {
        arguments.results.as_ref().is_none_or(|glob| compare::matches(glob, &metric.key))
    };
    let shown: Vec<bool> = found.metrics.iter().map(matches).collect();
    if let Some(glob) = arguments.results.as_ref().filter(|_| !shown.contains(&true)) {
        let known = found.metrics.iter().map(|metric| metric.key.benchmark.as_str());
        let near = model::nearest(glob, known);
        let near = if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) };
        anyhow::bail!("no result of {} matches {glob}{near}", found.machine);
    }
    let since = arguments.since.clone().unwrap_or_default();
    let charts = arguments.output.is_some();
    let document = report::view::history(&found, &HistoryContext { shown, since, charts });
    let path = arguments.output.as_deref().filter(|path| path.as_os_str() != "-");
    output::save(&document, path, common)
}

/// The runs of the machine that Prony measured, in the order of time, with their numbers.
fn runs(arguments: &Arguments, common: &CommonOptions) -> Result<Vec<(String, Run)>> {
    let store = run_finder::read(common)?;
    let mut summaries = store.summaries()?;
    // An experiment measures its own settings, not the machine as it is.
    summaries.retain(|run| run.tool.is_none() && run.measured > 0 && run.suite != super::experiment::SUITE);
    summaries.sort_by(|a, b| (&a.started, a.number).cmp(&(&b.started, b.number)));
    let latest = summaries.last().map(|run| run.machine.clone());
    let Some(machine) = arguments.machine.clone().or(latest) else {
        let missing = run_finder::missing(common).unwrap_or_else(|| "the store has no run".to_owned());
        anyhow::bail!("{missing}; `prony run` measures this machine and keeps the run");
    };
    let known: Vec<&str> = report::words::distinct(summaries.iter().map(|run| run.machine.as_str()));
    ensure!(
        known.contains(&machine.as_str()),
        "there is no run of a machine named {machine}; the machines are {}",
        known.join(", ")
    );
    let of_machine = |run: &&Summary| run.machine == machine;
    let get = |run: &Summary| Ok((run.number.to_string(), store.get(&run.id, Detail::Values)?));
    summaries.iter().filter(of_machine).map(get).collect()
}
