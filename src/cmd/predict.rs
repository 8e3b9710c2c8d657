//! `prony predict`: an application on machines without a run of it.

use anyhow::Result;
use clap::Args;
use model::Run;
use predict::{Error, PredictOptions, PredictorTable, from_runs, near_machines, predict};
use report::Document;
use store::Detail;

use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::{output, run_finder};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony predict reconstruct
  prony predict ams02.test3 --from published:ams02-2002 --on 3")]
pub(crate) struct Arguments {
    /// The application: NAME of application.NAME, or the id of any result
    #[arg(value_name = "APPLICATION")]
    application: String,
    /// Predict these machines: runs or machine names [default: all where it never ran]
    #[arg(long, num_args = 1.., value_name = "RUN|MACHINE")]
    on: Vec<String>,
    /// Learn from these runs [default: the whole store]
    #[arg(long, num_args = 1.., value_name = "RUN")]
    from: Vec<String>,
}

/// Confidence of the intervals.
const LEVEL: f64 = 0.9;

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    output::print(&document(arguments, common)?, common)
}

/// Its document, for a report of its own or as part of another.
pub(crate) fn document(arguments: &Arguments, common: &CommonOptions) -> Result<Document> {
    let mut runs = learnt_from(&arguments.from, common)?;
    let mut asked = Vec::new();
    for name in &arguments.on {
        asked.push(asked_for(name, &mut runs, common)?);
    }
    let refs: Vec<&Run> = runs.iter().collect();
    let table = from_runs(&refs, &arguments.application)?;
    let targets = targets(&table, &asked, &runs)?;
    anyhow::ensure!(
        !targets.is_empty(),
        "every machine has run {}; name one with --on to predict it from the others",
        table.application.name
    );
    Ok(report::view::predict(&predict(&table, &targets, &PredictOptions { level: LEVEL })?))
}

/// The named runs, or all of the store.
pub(crate) fn learnt_from(names: &[String], common: &CommonOptions) -> Result<Vec<Run>> {
    if !names.is_empty() {
        let found = run_finder::find(names, common, Detail::Values)?;
        return Ok(run_finder::alike(found.into_iter().map(|named| named.run).collect()));
    }
    let store = run_finder::read(common)?;
    store.summaries()?.iter().map(|summary| Ok(store.get(&summary.id, Detail::Values)?)).collect()
}

/// A requested machine, by the id of a run of it or by its name; a run outside the training set is added.
enum RequestedMachine {
    Run(String),
    Machine(String),
}

fn asked_for(name: &str, runs: &mut Vec<Run>, common: &CommonOptions) -> Result<RequestedMachine> {
    if runs.iter().any(|run| run.machine.name == name || run.label.as_deref() == Some(name)) {
        return Ok(RequestedMachine::Machine(name.to_owned()));
    }
    let found = match run_finder::find_one(name, common) {
        Ok(found) => found,
        Err(error) => {
            let near = near_machines(runs, name);
            let error = if near.is_empty() {
                error
            } else {
                Error::NoMachine { name: name.to_owned(), near: near.join("; ") }.into()
            };
            return Err(error);
        }
    };
    let id = found.run.id.clone();
    if !runs.iter().any(|run| run.id == id) {
        runs.push(found.run);
    }
    Ok(RequestedMachine::Run(id))
}

fn targets(table: &PredictorTable, asked: &[RequestedMachine], runs: &[Run]) -> Result<Vec<usize>> {
    if asked.is_empty() {
        return Ok((0..table.machines.len()).filter(|&m| table.machines[m].application.is_none()).collect());
    }
    asked
        .iter()
        .map(|asked| {
            let found = match asked {
                RequestedMachine::Run(id) => table.machines.iter().position(|machine| machine.runs.contains(id)),
                RequestedMachine::Machine(name) => table.machines.iter().position(|machine| machine.name == *name),
            };
            found.ok_or_else(|| {
                let (RequestedMachine::Run(name) | RequestedMachine::Machine(name)) = asked;
                Error::NoMachine { name: name.clone(), near: near_machines(runs, name).join("; ") }.into()
            })
        })
        .collect()
}
