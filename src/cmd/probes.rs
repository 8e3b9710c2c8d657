//! `prony probes`: the catalogue, and the details of each probe.

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
  prony probes                   every probe, by family
  prony probes latency           those whose id contains a word; 'os.*' matches whole ids
  prony probes os.fork_exit      what it measures, its axes, and whose definition it continues
  prony probes --suites          every suite
  prony probes --suite quick     the figures of a suite")]
pub(crate) struct Arguments {
    /// A probe to show in full, or a part of ids, or a pattern such as 'os.*'
    #[arg(value_name = "NAME|PATTERN", conflicts_with_all = ["suites", "suite"])]
    name: Option<String>,
    /// List the suites
    #[arg(long)]
    suites: bool,
    /// List the figures of a suite (prony probes --suites)
    #[arg(long, value_name = "NAME", conflicts_with = "suites")]
    suite: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let document = match (&arguments.name, &arguments.suite) {
        _ if arguments.suites => suites(),
        (_, Some(suite)) if suite == ams::SUITE => of_ams(),
        (_, Some(suite)) => match rating::components(suite) {
            Some(document) => document,
            None => figures(suite)?,
        },
        (Some(name), None) => named(name)?,
        (None, None) => report::view::catalogue(probes::catalogue()),
    };
    output::print(&document, common)
}

/// The page of one probe, or the list of those that a pattern matches.
fn named(name: &str) -> Result<Document> {
    if let Some(description) = probes::describe(name) {
        return Ok(report::view::probe(&description));
    }
    let mut catalogue = probes::catalogue().clone();
    let is_pattern = name.contains(['*', '?']);
    catalogue.probes.retain(|probe| if is_pattern { model::glob(name, &probe.id) } else { probe.id.contains(name) });
    if catalogue.probes.is_empty() {
        measure::select(None, &[name.to_owned()], 0.02)?;
        anyhow::bail!("no probe's id contains {name} (prony probes lists all)");
    }
    Ok(report::view::catalogue(&catalogue))
}

fn suites() -> Document {
    let all = || probes::SUITES.iter().map(|suite| (suite.name, suite.selections().len(), suite.about));
    let rows: Vec<TableRow> = all()
        .chain(rating::SUITES.iter().copied())
        .chain([ams::LISTED])
        .map(|(name, figures, about)| {
            TableRow::of(vec![Cell::text(name), Cell::text(figures.to_string()), Cell::text(about)])
        })
        .collect();
    let mut document = Document::new(format!("{} suites", rows.len()));
    let columns = Column::list("suite|#figures|what it measures");
    document.add("", Block::table(columns, rows));
    document.next = vec!["prony probes --suite quick".to_owned(), "prony run --suite quick".to_owned()];
    let mut data: Vec<_> = probes::SUITES
        .iter()
        .map(|suite| {
            let figures: Vec<_> = suite
                .selections()
                .iter()
                .map(|selection| serde_json::json!({ "probe": selection.probe.id, "point": selection.point }))
                .collect();
            serde_json::json!({ "name": suite.name, "about": suite.about, "seconds": suite.seconds, "figures": figures })
        })
        .collect();
    let others = rating::SUITES.iter().chain([&ams::LISTED]);
    data.extend(
        others.map(
            |(name, _, about)| serde_json::json!({ "name": name, "about": about, "seconds": probes::LONGEST_SUITE }),
        ),
    );
    document.data = EmbeddedJson::of(&data).ok();
    document
}

/// The suite whose figures are applications and sessions: which ones depends on what is installed.
fn of_ams() -> Document {
    let (name, figures, about) = ams::LISTED;
    let mut document = Document::new(format!("{name}: {}", report::words::plural(figures, "figure")));
    document.notes.push(about.to_owned());
    document.next = vec![format!("prony run --suite {name}")];
    document.data = EmbeddedJson::of(&serde_json::json!({ "name": name, "about": about })).ok();
    document
}

/// The figures of a suite.
fn figures(suite: &str) -> Result<Document> {
    let entries = measure::select(Some(suite), &[], 0.02)?;
    let mut document = Document::new(format!("{suite}: {}", report::words::plural(entries.len(), "figure")));
    let known = probes::suite(suite);
    document.notes.extend(known.map(|suite| suite.about.to_owned()));
    let columns = Column::list("probe|point|what it measures");
    let row = |entry: &model::PlanEntry| {
        let title = probes::find(&entry.probe).map_or("", |probe| probe.title);
        TableRow::of(vec![Cell::text(&entry.probe), Cell::text(entry.point.to_string()), Cell::text(title)])
    };
    let rows = entries.iter().map(row).collect();
    document.add("", Block::table(columns, rows));
    document.next = vec![format!("prony run --suite {suite}")];
    let figures: Vec<_> =
        entries.iter().map(|entry| serde_json::json!({ "probe": entry.probe, "point": entry.point })).collect();
    let data = serde_json::json!({
        "name": suite, "about": known.map(|suite| suite.about), "seconds": known.map(|suite| suite.seconds),
        "figures": figures,
    });
    document.data = EmbeddedJson::of(&data).ok();
    Ok(document)
}
