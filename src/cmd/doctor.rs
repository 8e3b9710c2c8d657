//! `prony doctor`: what may disturb measuring here.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use measure::{Check, Health};
use model::{Run, Topology};
use report::{Block, Cell, Column, Document, DocumentSection, EmbeddedJson, Records, TableRow, Tone};
use serde_json::json;
use store::{Detail, Store};

use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::{output, progress, run_finder};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony doctor")]
pub(crate) struct Arguments {
    /// Check this directory for measuring files in it
    #[arg(long, value_name = "DIR", default_value = ".")]
    directory: PathBuf,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let spinner = progress::spinner("looking around", progress::draws());
    let mut workers = super::run::workers()?;
    let store = run_finder::read(common).ok();
    let earlier = store.as_deref().map(earlier_runs).unwrap_or_default();
    let places = directories(&earlier);
    let checks = measure::doctor(&mut workers, &arguments.directory, &earlier, &places);
    spinner.finish_and_clear();
    output::print(&document(&checks, os::topology::read().ok()), common)
}

/// Every check with its advice, and the machine.
fn document(checks: &[Check], topology: Option<Topology>) -> Document {
    let mut document = Document::new("What may disturb measuring here");
    let words = |state| match state {
        Health::Fine => ("fine", Tone::Good),
        Health::Attention => ("attention", Tone::Caution),
        Health::Bad => ("bad", Tone::Bad),
        Health::Unknown => ("unknown", Tone::Muted),
    };
    let mut rows = Vec::new();
    for check in checks {
        let (word, tone) = words(check.state);
        let cells = vec![Cell::text(&check.subject), Cell::Text(word.to_owned(), tone), Cell::text(&check.says)];
        rows.push(TableRow::of(cells));
        if !check.advice.is_empty() {
            let advice = format!("do: {}", check.advice);
            rows.push(TableRow::of(vec![Cell::Empty, Cell::Empty, Cell::Text(advice, Tone::Strong)]));
        }
    }
    document.add("", Block::table(Column::list("||"), rows));
    let drawn = topology.as_ref().map(report::view::topology).unwrap_or_default();
    if !drawn.is_empty() {
        document.sections.push(DocumentSection { title: "The machine".to_owned(), blocks: drawn });
    }
    let disturbs = |check: &&Check| matches!(check.state, Health::Attention | Health::Bad);
    document.summary.push(match checks.iter().filter(disturbs).count() {
        0 => "Nothing was found that would disturb measuring here.".to_owned(),
        1 => "One thing may disturb measuring here.".to_owned(),
        many => format!("{many} things may disturb measuring here."),
    });
    document.next = ["prony run --suite quick", "prony selftest"].map(str::to_owned).to_vec();
    let finding = |check: &Check| {
        let mut finding = json!({ "subject": check.subject, "state": words(check.state).0, "says": check.says });
        if !check.advice.is_empty() {
            finding["advice"] = json!(check.advice);
        }
        finding
    };
    let findings = checks.iter().map(finding).collect();
    document.records = Some(Records::of("subject state says advice", &findings));
    let mut data = json!({ "title": document.title, "findings": findings, "summary": document.summary });
    if let Some(topology) = topology {
        data["topology"] = json!(topology);
    }
    document.data = EmbeddedJson::of(&data).ok();
    document
}

/// Stored runs that are read, newest first, and the time in which as many as possible are.
const RUNS: usize = 50;
const PATIENCE: Duration = Duration::from_secs(1);

/// The newest stored runs of Prony. The commands that need a store say why it cannot be read.
fn earlier_runs(store: &dyn Store) -> Vec<Run> {
    let stored = store.summaries().unwrap_or_default();
    let began = Instant::now();
    let newest = stored.iter().rev().filter(|summary| summary.tool.is_none()).take(RUNS);
    let newest = newest.take_while(|_| began.elapsed() < PATIENCE);
    newest.filter_map(|summary| store.get(&summary.id, Detail::Values).ok()).collect()
}

/// Directories in which these runs measured.
fn directories(runs: &[Run]) -> Vec<PathBuf> {
    let measured = runs.iter().flat_map(|Run { plan, .. }| plan.directory.iter().chain(&plan.more_directories));
    measured.map(PathBuf::from).collect()
}
