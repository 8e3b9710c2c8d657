//! `prony benchmarks`: the catalogue, and the details of each benchmark.

use anyhow::Result;
use clap::Args;
use report::{Block, Cell, Column, Document, EmbeddedJson, TableRow};

use super::app::ams;
use super::rating;
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::output;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony benchmarks latency         every benchmark whose id contains a word
  prony benchmarks os.fork_exit    one benchmark in full
  prony benchmarks --suite         every suite
  prony benchmarks --suite quick   the results of a suite")]
pub(crate) struct Arguments {
    /// A benchmark to show in full, or a part of ids, or a pattern such as 'os.*'
    #[arg(value_name = "NAME|PATTERN", conflicts_with = "suite")]
    name: Option<String>,
    /// List the results of this suite; without a name, list the suites
    #[arg(long, value_name = "NAME", num_args = 0..=1)]
    suite: Option<Option<String>>,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let document = match (&arguments.name, &arguments.suite) {
        (_, Some(None)) => suites(),
        (_, Some(Some(suite))) if suite == ams::SUITE => of_ams(),
        (_, Some(Some(suite))) => match rating::components(suite) {
            Some(document) => document,
            None => results(suite)?,
        },
        (Some(name), None) => named(name)?,
        (None, None) => report::view::catalogue(benchmarks::catalogue()),
    };
    output::print(&document, common)
}

/// The page of one benchmark, or the list of those that a pattern matches.
fn named(name: &str) -> Result<Document> {
    if let Some(description) = benchmarks::describe(name) {
        return Ok(report::view::benchmark(&description));
    }
    let mut catalogue = benchmarks::catalogue().clone();
    let is_pattern = name.contains(['*', '?']);
    catalogue
        .benchmarks
        .retain(|benchmark| if is_pattern { model::glob(name, &benchmark.id) } else { benchmark.id.contains(name) });
    if catalogue.benchmarks.is_empty() {
        measure::select(None, &[name.to_owned()], 0.02)?;
        anyhow::bail!("no benchmark's id contains {name} (prony benchmarks lists all)");
    }
    Ok(report::view::catalogue(&catalogue))
}

fn suites() -> Document {
    let all = || benchmarks::SUITES.iter().map(|suite| (suite.name, suite.selections().len(), suite.about));
    let rows: Vec<TableRow> = all()
        .chain(rating::SUITES.iter().copied())
        .chain([ams::LISTED])
        .map(|(name, results, about)| {
            TableRow::of(vec![Cell::text(name), Cell::text(results.to_string()), Cell::text(about)])
        })
        .collect();
    let mut document = Document::new(format!("{} suites", rows.len()));
    let columns = Column::list("suite|#results|what it measures");
    document.add("", Block::table(columns, rows));
    document.next = vec!["prony benchmarks --suite quick".to_owned(), "prony run --suite quick".to_owned()];
    let mut data: Vec<_> = benchmarks::SUITES
        .iter()
        .map(|suite| {
            let results: Vec<_> = suite
                .selections()
                .iter()
                .map(|selection| serde_json::json!({ "benchmark": selection.benchmark.id, "parameters": selection.parameters }))
                .collect();
            serde_json::json!({ "name": suite.name, "about": suite.about, "seconds": suite.seconds, "results": results })
        })
        .collect();
    let others = rating::SUITES.iter().chain([&ams::LISTED]);
    data.extend(others.map(
        |(name, _, about)| serde_json::json!({ "name": name, "about": about, "seconds": benchmarks::LONGEST_SUITE }),
    ));
    document.data = EmbeddedJson::of(&data).ok();
    document
}

/// The suite whose results are applications and sessions: which ones depends on what is installed.
fn of_ams() -> Document {
    let (name, results, about) = ams::LISTED;
    let mut document = Document::new(format!("{name}: {}", report::words::plural(results, "result")));
    document.notes.push(about.to_owned());
    document.next = vec![format!("prony run --suite {name}")];
    document.data = EmbeddedJson::of(&serde_json::json!({ "name": name, "about": about })).ok();
    document
}

/// The results of a suite.
fn results(suite: &str) -> Result<Document> {
    let entries = measure::select(Some(suite), &[], 0.02)?;
    let mut document = Document::new(format!("{suite}: {}", report::words::plural(entries.len(), "result")));
    let known = benchmarks::suite(suite);
    document.notes.extend(known.map(|suite| suite.about.to_owned()));
    let columns = Column::list("benchmark|parameters|what it measures");
    let row = |entry: &model::PlanEntry| {
        let title = benchmarks::find(&entry.benchmark).map_or("", |benchmark| benchmark.title);
        TableRow::of(vec![Cell::text(&entry.benchmark), Cell::text(entry.parameters.to_string()), Cell::text(title)])
    };
    let rows = entries.iter().map(row).collect();
    document.add("", Block::table(columns, rows));
    document.next = vec![format!("prony run --suite {suite}")];
    let results: Vec<_> = entries
        .iter()
        .map(|entry| serde_json::json!({ "benchmark": entry.benchmark, "parameters": entry.parameters }))
        .collect();
    let data = serde_json::json!({
        "name": suite, "about": known.map(|suite| suite.about), "seconds": known.map(|suite| suite.seconds),
        "results": results,
    });
    document.data = EmbeddedJson::of(&data).ok();
    Ok(document)
}
