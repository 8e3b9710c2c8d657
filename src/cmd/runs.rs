//! `prony runs`: what is stored.

use std::collections::BTreeMap;

use anyhow::Result;
use clap::{Args, Subcommand};
use report::words::{day, plural};
use report::{Block, Cell, Column, Document, EmbeddedJson, Records, TableRow, Tone};
use serde_json::json;
use store::{Selector, Summary};

use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::{output, run_finder};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony runs
  prony runs label 3 web-3
  prony runs rm 1 2")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<RunsAction>,
    /// List the published evaluations that come with Prony
    #[arg(long)]
    published: bool,
}

#[derive(Debug, Subcommand)]
enum RunsAction {
    /// Remove runs from the store
    #[command(after_help = "Examples:
  prony runs rm 1 web-3")]
    Rm {
        /// Runs: number, id, label
        #[arg(required = true, value_name = "RUN")]
        runs: Vec<String>,
    },
    /// Label a run, or remove its label ('')
    #[command(after_help = "Examples:
  prony runs label 3 web-3")]
    Label {
        /// The run: number, id, label
        run: String,
        /// Its new label; an empty one removes the label that it has
        label: String,
    },
}

pub(crate) fn run(arguments: Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    if arguments.published {
        return output::print(&published()?, common);
    }
    match arguments.action {
        None => {
            if let Some(missing) = run_finder::missing(common) {
                output::remark(&format!("{missing} yet; prony run creates it"));
            }
            let store = run_finder::read(common)?;
            output::print(&list(&store.summaries()?), common)
        }
        Some(RunsAction::Rm { runs }) => remove(&runs, common),
        Some(RunsAction::Label { run, label }) => {
            set_label(&run, Some(label.as_str()).filter(|label| !label.is_empty()), common)
        }
    }
}

fn remove(names: &[String], common: &CommonOptions) -> Result<ExitStatus> {
    let mut store = run_finder::remove(common)?;
    let selector = Selector::new(store.as_ref())?;
    // A run may be named twice, by its number and by its label.
    let runs: BTreeMap<u64, String> = names
        .iter()
        .map(|name| stored(&selector, name))
        .map(|run| run.map(|run| (run.number, run.id)))
        .collect::<Result<_>>()?;
    store.remove(&runs.values().map(String::as_str).collect::<Vec<_>>())?;
    let data: Vec<_> = runs.iter().map(|(number, id)| json!({ "run": number, "id": id })).collect();
    output::done(format!("Removed {}", plural(runs.len(), "run")), Vec::new(), ("run id", &data.into()), common)
}

fn set_label(name: &str, label: Option<&str>, common: &CommonOptions) -> Result<ExitStatus> {
    label.map_or(Ok(()), store::check_label)?;
    let mut store = run_finder::write(common)?;
    let Summary { number, id, .. } = stored(&Selector::new(store.as_ref())?, name)?;
    store.set_label(&id, label)?;
    let words = match label {
        Some(label) => format!("Labelled run {number} \"{label}\""),
        None => format!("Removed the label of run {number}"),
    };
    let data = json!({ "run": number, "id": id, "label": label });
    output::done(words, Vec::new(), ("run id label", &data), common)
}

fn stored(selector: &Selector, name: &str) -> Result<Summary> {
    anyhow::ensure!(!store::is_path(name), "{name} is a file; name a stored run");
    Ok(selector.resolve(name)?.clone())
}

/// The list of stored runs.
fn list(runs: &[Summary]) -> Document {
    let mut document = Document::new(format!("{} stored", plural(runs.len(), "run")));
    let row = |run: &Summary| {
        let remark = if run.interrupted { Cell::Text("incomplete".to_owned(), Tone::Caution) } else { Cell::Empty };
        let (number, label) = (run.number.to_string(), run.label.clone().unwrap_or_default());
        let texts = [number, label, run.machine.clone(), day(&run.started), run.suite.clone()].map(Cell::text);
        let cells = texts.into_iter().chain([Cell::Count(run.results.into()), remark]).collect();
        TableRow::of(cells)
    };
    if let [earlier @ .., last] = runs {
        let columns = Column::list("run|label|machine|started|suite|#results|~");
        document.add("", Block::table(columns, runs.iter().map(row).collect()));
        // Runs of different suites have hardly a result in common.
        let alike = earlier.iter().rev().find(|run| run.suite == last.suite);
        document.next.extend(alike.map(|alike| format!("prony compare {} {}", alike.number, last.number)));
        document.next.push(format!("prony report {}", last.number));
    } else {
        document.title = "No run is stored yet".to_owned();
        document.next = vec!["prony run".to_owned()];
    }
    let data = |run: &Summary| {
        json!({
            "handle": run.number.to_string(), "id": run.id, "label": run.label, "machine": run.machine,
            "started": run.started, "suite": run.suite, "results": run.results, "complete": run.complete,
            "interrupted": run.interrupted,
        })
    };
    let data = runs.iter().map(data).collect();
    let mut records = Records::of("handle id label machine started suite results complete interrupted", &data);
    records.header[0] = "run";
    document.records = Some(records);
    document.data = EmbeddedJson::of(&data).ok();
    document
}

/// The published evaluations: a name for all machines of each, and a name for each machine.
fn published() -> Result<Document> {
    let listings = import::published::list()?;
    let machines: usize = listings.iter().map(|listing| listing.machines.len()).sum();
    let mut document = Document::new(format!("{} published evaluations of {machines} machines", listings.len()));
    for listing in &listings {
        let columns = Column::list("name|machine");
        let row = |(id, name): &(String, String)| TableRow::of(vec![Cell::text(id), Cell::text(name)]);
        let rows = listing.machines.iter().map(row).collect();
        document.add(listing.name.clone(), Block::Text(listing.attribution.to_owned()));
        document.add("", Block::table(columns, rows));
    }
    document.next = vec!["prony compare published:babar-cpu-1998 latest --results os.syscall_write".to_owned()];
    let data: Vec<_> = listings
        .iter()
        .map(|listing| {
            let machines: Vec<_> =
                listing.machines.iter().map(|(id, name)| json!({ "id": id, "machine": name })).collect();
            json!({ "name": listing.name, "attribution": listing.attribution, "machines": machines })
        })
        .collect();
    document.data = EmbeddedJson::of(&data).ok();
    Ok(document)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_runs_of_one_suite_are_suggested_for_comparison() {
        let run = |number, suite: &str| Summary { number, suite: suite.to_owned(), ..Summary::default() };
        let next = |runs: &[Summary]| list(runs).next.join(" · ");
        assert_eq!(next(&[run(1, "quick"), run(12, "quick")]), "prony compare 1 12 · prony report 12");
        assert_eq!(next(&[run(1, "quick"), run(13, "time")]), "prony report 13");
        assert_eq!(next(&[run(1, "quick"), run(13, "time"), run(14, "quick")]), "prony compare 1 14 · prony report 14");
        assert_eq!(list(&[]).title, "No run is stored yet");
        // The time limit ends every run of the default suite; only interrupted runs are incomplete.
        let ended = Summary { interrupted: true, ..run(2, "quick") };
        let text = |run| String::from_utf8(output::rendered(&list(&[run]), "terminal").unwrap()).unwrap();
        assert!(text(ended).contains("incomplete") && !text(run(2, "quick")).contains("incomplete"));
    }
}
