//! The commands, one file each.

pub(crate) mod agent;
pub(crate) mod app;
pub(crate) mod benchmarks;
pub(crate) mod check;
pub(crate) mod choose;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod doctor;
mod duet;
pub(crate) mod experiment;
pub(crate) mod explain;
mod explain_experiment;
pub(crate) mod export;
pub(crate) mod farm;
pub(crate) mod fleet;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod net;
mod node_options;
pub(crate) mod predict;
mod printed;
pub(crate) mod rating;
pub(crate) mod reference;
pub(crate) mod report;
mod resume;
pub(crate) mod run;
mod run_claim;
pub(crate) mod runs;
pub(crate) mod selftest;
mod session;
pub(crate) mod show;
pub(crate) mod site;
mod target_device;
pub(crate) mod time;
pub(crate) mod trend;

use anyhow::Result;

use crate::ExitStatus;
use crate::cli::{Cli, CliCommand};

/// Runs the requested command.
pub(crate) fn dispatch(cli: Cli) -> Result<ExitStatus> {
    let common = &cli.common;
    experiment::remind(&cli.command);
    match cli.command {
        CliCommand::Run(arguments) => run::run(&arguments, common),
        CliCommand::Time(arguments) => time::run(&arguments, common),
        CliCommand::App(arguments) => app::run(arguments, common),
        CliCommand::Net(arguments) => net::run(&arguments, common),
        CliCommand::Compare(arguments) => compare::run(&arguments, common),
        CliCommand::Experiment(arguments) => experiment::run(&arguments, common),
        CliCommand::Guardian { folder } => experiment::guardian(&folder),
        CliCommand::Explain(arguments) => explain::run(&arguments, common),
        CliCommand::Report(arguments) => report::run(&arguments, common),
        CliCommand::Predict(arguments) => predict::run(&arguments, common),
        CliCommand::Choose(arguments) => choose::run(&arguments, common),
        CliCommand::History(arguments) => history::run(&arguments, common),
        CliCommand::Trend(arguments) => trend::run(&arguments, common),
        CliCommand::Runs(arguments) => runs::run(arguments, common),
        CliCommand::Show(arguments) => show::run(&arguments, common),
        CliCommand::Import(arguments) => import::run(&arguments, common),
        CliCommand::Export(arguments) => export::run(&arguments, common),
        CliCommand::Serve(arguments) => site::serve::run(&arguments, common),
        CliCommand::Push(arguments) => site::push::run(&arguments, common),
        CliCommand::Fleet(arguments) => fleet::run(&arguments, common),
        CliCommand::Farm(arguments) => farm::run(arguments, common),
        CliCommand::Benchmarks(arguments) => benchmarks::run(&arguments, common),
        CliCommand::Check(arguments) => check::run(&arguments, common),
        CliCommand::Doctor(arguments) => doctor::run(&arguments, common),
        CliCommand::Selftest(arguments) => selftest::run(&arguments, common),
        CliCommand::Component { name } => rating::work(&name),
        CliCommand::Completions(arguments) => completions::run(&arguments, common),
        CliCommand::Reference(arguments) => reference::run(&arguments),
        CliCommand::Agent(arguments) => agent::run(&arguments),
        CliCommand::Worker => worker(),
    }
}

/// Serves one sample.
pub(crate) fn worker() -> Result<ExitStatus> {
    // If the harness is killed, its worker is killed too.
    os::process::die_with_parent(os::process::parent_pid())?;
    // Started as /proc/self/exe, it would be listed as "exe".
    let _ = std::fs::write("/proc/self/comm", "prony");
    measure::serve(std::io::stdin(), &mut std::io::stdout())?;
    Ok(ExitStatus::Fine)
}
