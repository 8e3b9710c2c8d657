//! `prony trend`: growth of dated values, and its projection.

use std::path::Path;

use anyhow::Result;
use clap::Args;
use decide::trend::{Dated, TrendOptions, parse, trend};
use model::{BenchmarkResult, Metric, ResultKey};
use report::Document;
use store::Detail;

use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::value_parsers::{year, years};
use crate::{output, run_finder};

/// Longest file that is read.
const LIMIT: u64 = 64 << 20;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony trend dated.csv --project 2030
  prony trend published --results os.syscall_write")]
pub(crate) struct Arguments {
    /// A file of dates and values, - for standard input, or with --results runs or published
    #[arg(required = true, num_args = 1.., value_name = "FILE|RUN|published:NAME")]
    sources: Vec<String>,
    /// Use only results that match, such as os.fork_exit, at the dates of their runs
    #[arg(long, value_name = "GLOB")]
    results: Option<String>,
    /// Take values from this column of a CSV file [default: the second]
    #[arg(long, value_name = "NAME")]
    column: Option<String>,
    /// Fit only these years, such as 1990..1998.8 or 1990.., and compare later values with the fit
    #[arg(long, value_name = "FROM..TO", value_parser = years)]
    years: Option<(f64, f64)>,
    /// Extrapolate to these years
    #[arg(long, value_name = "YEAR", num_args = 1.., value_parser = year)]
    project: Vec<f64>,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    output::print(&document(arguments, common)?, common)
}

/// Its document, for a report of its own or as part of another.
pub(crate) fn document(arguments: &Arguments, common: &CommonOptions) -> Result<Document> {
    let DatedValues { data, name, metric } = data(arguments, common)?;
    let project = arguments.project.clone();
    let options = TrendOptions { window: arguments.years, project, metric, ..TrendOptions::default() };
    Ok(report::view::trend(&trend(&data, &options)?, &name))
}

/// Dated values and their description.
struct DatedValues {
    data: Vec<Dated>,
    name: String,
    /// Unit and direction, which a result states and a file does not.
    metric: Option<Metric>,
}

fn data(arguments: &Arguments, common: &CommonOptions) -> Result<DatedValues> {
    if let Some(result) = &arguments.results {
        return of_runs(&arguments.sources, result, common);
    }
    let [source] = arguments.sources.as_slice() else {
        anyhow::bail!("name one file of dated values, or runs together with --results ID");
    };
    anyhow::ensure!(
        source != "published" && !source.starts_with("published:"),
        "runs have many results: name the one whose growth is asked for, such as --results os.syscall_write"
    );
    let text = if source == "-" {
        super::choose::text_from(std::io::stdin(), "standard input", LIMIT)?
    } else {
        super::choose::text_of(Path::new(source), LIMIT)?
    };
    let name = arguments.column.clone().unwrap_or_else(|| {
        Path::new(source).file_stem().map_or_else(|| source.clone(), |stem| stem.to_string_lossy().into_owned())
    });
    Ok(DatedValues { data: parse(&text, arguments.column.as_deref())?, name, metric: None })
}

/// The result of each run at the date of the run.
fn of_runs(names: &[String], result: &str, common: &CommonOptions) -> Result<DatedValues> {
    let mut all: Vec<String> = Vec::new();
    for name in names {
        if name == "published" {
            all.extend(import::published::list()?.into_iter().map(|listing| listing.name));
        } else {
            all.push(name.clone());
        }
    }
    let found = run_finder::find(&all, common, Detail::Values)?;
    let runs = run_finder::alike(found.into_iter().map(|named| named.run).collect());
    let is = |name: &str| model::glob(result, name);
    let asked = |f: &&BenchmarkResult| is(&f.benchmark) || is(&f.key().to_string()) || is(&usual(f));
    let all_of = || runs.iter().flat_map(|run| run.results.iter().filter(asked).map(move |found| (run, found)));
    one_result(result, all_of().map(|(_, found)| found))?;
    let mut text = String::new();
    let (mut name, mut metric) = (String::new(), None);
    for (run, found) in all_of() {
        let Some(estimate) = found.outcome.estimate().filter(|estimate| estimate.value > 0.0) else { continue };
        let day = run.session.started.get(..10).unwrap_or_default();
        text.push_str(&format!("{day} {} # {}\n", estimate.value, run.name().replace('\n', " ")));
        name.clone_from(&found.title);
        metric = Some(found.metric.clone());
    }
    if text.is_empty() {
        let known = runs.iter().flat_map(|run| &run.results).map(|found| found.benchmark.as_str());
        let near = model::nearest(result, known);
        let near = if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) };
        anyhow::bail!("none of the {} runs has a value of {result}{near}", runs.len());
    }
    Ok(DatedValues { data: parse(&text, None)?, name, metric })
}

/// Name of a result at the parameters for which it stands.
fn usual(result: &BenchmarkResult) -> String {
    let parameters = result.stands_for.clone().unwrap_or_else(|| result.parameters.clone());
    ResultKey::new(result.benchmark.clone(), parameters).to_string()
}

/// Sets of parameters that a refusal lists.
const LISTED: usize = 4;

/// Refuses an id that stands for several results: values at different sets of parameters are no growth of anything.
/// Sizes of memory that were moved beyond the caches of a machine are one.
fn one_result<'a>(asked: &str, found: impl Iterator<Item = &'a BenchmarkResult>) -> Result<()> {
    let points = report::words::distinct(found.filter(|one| one.outcome.estimate().is_some()).map(usual));
    let rest = points.len().saturating_sub(LISTED);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    anyhow::ensure!(
        points.len() < 2,
        "{asked} is {} results, at different sets of parameters; name one of them, such as --results {}: {}{more}",
        points.len(),
        points[0],
        points.iter().take(LISTED).cloned().collect::<Vec<_>>().join("; ")
    );
    Ok(())
}
