//! `prony predict`: an application on machines without a run of it.

use anyhow::Result;
use clap::Args;
use model::Run;
use predict::{Error, PredictOptions, PredictorTable, evaluate, figures_like, from_runs, near_machines, predict};
use report::Document;
use store::Detail;

use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::value_parsers::percent;
use crate::{output, run_finder};

/// Options of `prony predict`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The application: NAME of application.NAME, or the id of any figure; with --evaluate several, or patterns with *
    #[arg(required = true, num_args = 1.., value_name = "APPLICATION")]
    applications: Vec<String>,
    /// Machines to predict it on: runs, or names of machines [default: every machine where it never ran]
    #[arg(long, num_args = 1.., value_name = "RUN|MACHINE")]
    on: Vec<String>,
    /// Runs to learn from: numbers, ids, labels, files, folders or published:NAME [default: the whole store]
    #[arg(long, num_args = 1.., value_name = "RUN")]
    from: Vec<String>,
    /// Confidence of the intervals, in percent
    #[arg(long, value_name = "PERCENT", default_value = "90", value_parser = percent)]
    level: f64,
    /// Figures that may not predict, such as those of the same program: patterns with *
    #[arg(long, num_args = 1.., value_name = "FIGURES")]
    without: Vec<String>,
    /// Predict every machine whose value is known, from other models and families of CPU alone, and print the errors
    #[arg(long, conflicts_with = "on")]
    evaluate: bool,
    /// Choices of machines for each number of them in an evaluation
    #[arg(long = "trials", requires = "evaluate", value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1000))]
    repeats: u16,
    /// Seed of all that is random: the choices of machines in an evaluation
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Highest level of an interval; 99.9 percent over 100 is a little more than 0.999.
const MOST_SURE: f64 = 0.999 + 1e-9;

/// Numbers of machines that an evaluation learns from.
const SIZES: [usize; 8] = [2, 3, 4, 6, 8, 12, 20, 30];

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    output::print(&document(arguments, common)?, common)?;
    Ok(ExitStatus::Fine)
}

/// Its document, for a report of its own or as part of another.
pub(crate) fn document(arguments: &Arguments, common: &CommonOptions) -> Result<Document> {
    // Higher levels need more machines than any store has.
    anyhow::ensure!(
        arguments.level <= MOST_SURE,
        "no interval of a prediction is known to hold with more than 99.9%; ask for less, such as 95"
    );
    let mut runs = learnt_from(&arguments.from, common)?;
    let mut asked = Vec::new();
    for name in &arguments.on {
        asked.push(asked_for(name, &mut runs, common)?);
    }
    let options = PredictOptions { level: arguments.level };
    if arguments.evaluate {
        return evaluation(arguments, &runs, &options);
    }
    let [application] = arguments.applications.as_slice() else {
        anyhow::bail!("one application is predicted at a time; --evaluate takes several");
    };
    let table = table(arguments, &runs, application)?;
    let targets = targets(&table, &asked, &runs)?;
    anyhow::ensure!(
        !targets.is_empty(),
        "every machine has run {}; name one with --on to see what would have been predicted",
        table.application.name
    );
    Ok(report::view::predict(&predict(&table, &targets, &options)?))
}

/// Runs joined for one application, without the figures that may not predict.
fn table(arguments: &Arguments, runs: &[Run], application: &str) -> Result<PredictorTable> {
    let runs: Vec<&Run> = runs.iter().collect();
    let mut table = from_runs(&runs, application)?;
    arguments.without.iter().for_each(|pattern| table.drop_columns(pattern));
    Ok(table)
}

/// Names of figures, with patterns resolved among the runs.
pub(crate) fn named(runs: &[Run], asked: &[String]) -> Result<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for asked in asked {
        if asked.contains(['*', '?']) {
            let found = figures_like(runs, asked);
            anyhow::ensure!(!found.is_empty(), "no figure that three machines have is like '{asked}'");
            names.extend(found);
        } else {
            names.push(asked.clone());
        }
    }
    Ok(names)
}

fn evaluation(arguments: &Arguments, runs: &[Run], options: &PredictOptions) -> Result<Document> {
    let names = named(runs, &arguments.applications)?;
    let tables = names.iter().map(|name| table(arguments, runs, name)).collect::<Result<Vec<_>>>()?;
    let found = evaluate(&tables, &SIZES, usize::from(arguments.repeats), arguments.seed, options)?;
    Ok(report::view::evaluation(&found))
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
