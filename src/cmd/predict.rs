//! `prony predict`: an application on machines without a run of it.

use analyse::predict::{Error, PredictOptions, PredictorTable, evaluate, from_runs, predict};
use anyhow::Result;
use clap::Args;
use model::Run;
use report::Document;
use store::Detail;

use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::value_parsers::percent;
use crate::{output, run_finder};

/// Options of `prony predict`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The application: NAME of application.NAME, or the id of any figure
    #[arg(value_name = "APPLICATION")]
    application: String,
    /// Machines to predict it on: runs, or names of machines [default: every machine where it never ran]
    #[arg(long, num_args = 1.., value_name = "RUN|MACHINE")]
    on: Vec<String>,
    /// Runs to learn from: numbers, ids, labels, files or published:NAME [default: the whole store]
    #[arg(long, num_args = 1.., value_name = "RUN")]
    from: Vec<String>,
    /// Confidence of the intervals, in percent
    #[arg(long, value_name = "PERCENT", default_value = "90", value_parser = percent)]
    level: f64,
    /// Predict every machine whose value is known, from other models of CPU alone, and print the errors
    #[arg(long, conflicts_with = "on")]
    evaluate: bool,
    /// Seed of all that is random: the choices of machines in an evaluation
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Choices of machines for each size of an evaluation.
const REPEATS: usize = 10;

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    output::print(&document(arguments, common)?, common)?;
    Ok(ExitStatus::Fine)
}

/// Its document, for a report of its own or as part of another.
pub(crate) fn document(arguments: &Arguments, common: &CommonOptions) -> Result<Document> {
    anyhow::ensure!(arguments.level < 1.0, "no interval holds with a confidence of 100%; ask for less, such as 95");
    let mut runs = learnt_from(&arguments.from, common)?;
    let mut asked = Vec::new();
    for name in &arguments.on {
        asked.push(asked_for(name, &mut runs, common)?);
    }
    let runs: Vec<&Run> = runs.iter().collect();
    let table = from_runs(&runs, &arguments.application)?;
    let options = PredictOptions { level: arguments.level };
    if arguments.evaluate {
        let sizes = [1, 2, 3, 5, 8, 12, 20, 30];
        let found = evaluate(&table, &sizes, REPEATS, arguments.seed, &options)?;
        return Ok(report::view::evaluation(&found));
    }
    let targets = targets(&table, &asked)?;
    anyhow::ensure!(
        !targets.is_empty(),
        "every machine has run {}; name one with --on to see what would have been predicted",
        table.application.name
    );
    Ok(report::view::predict(&predict(&table, &targets, &options)?))
}

/// The named runs, or all of the store.
pub(crate) fn learnt_from(names: &[String], common: &CommonOptions) -> Result<Vec<Run>> {
    if !names.is_empty() {
        return Ok(run_finder::find(names, common, Detail::Values)?.into_iter().map(|named| named.run).collect());
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
    let found = run_finder::find_one(name, common)?;
    let id = found.run.id.clone();
    if !runs.iter().any(|run| run.id == id) {
        runs.push(found.run);
    }
    Ok(RequestedMachine::Run(id))
}

fn targets(table: &PredictorTable, asked: &[RequestedMachine]) -> Result<Vec<usize>> {
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
                let known = table.machines.iter().map(|machine| machine.name.as_str()).collect::<Vec<_>>().join(", ");
                Error::NoMachine { name: name.clone(), known }.into()
            })
        })
        .collect()
}
