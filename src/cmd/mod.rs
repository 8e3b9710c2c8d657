//! The commands, one file each.

pub(crate) mod agent;
pub(crate) mod app;
pub(crate) mod benchmarks;
pub(crate) mod choose;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod doctor;
mod duet;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod farm;
pub(crate) mod fleet;
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
mod target_device;
pub(crate) mod time;
pub(crate) mod trend;

use anyhow::Result;

use crate::ExitStatus;
use crate::cli::{Cli, Verb};

/// Runs the requested command.
pub(crate) fn dispatch(cli: Cli) -> Result<ExitStatus> {
    let common = &cli.common;
    match cli.verb {
        Verb::Run(arguments) => run::run(&arguments, common),
        Verb::Time(arguments) => time::run(&arguments, common),
        Verb::App(arguments) => app::run(arguments, common),
        Verb::Net(arguments) => net::run(&arguments, common),
        Verb::Compare(arguments) => compare::run(&arguments, common),
        Verb::Explain(arguments) => explain::run(&arguments, common),
        Verb::Report(arguments) => report::run(&arguments, common),
        Verb::Predict(arguments) => predict::run(&arguments, common),
        Verb::Choose(arguments) => choose::run(&arguments, common),
        Verb::Trend(arguments) => trend::run(&arguments, common),
        Verb::Runs(arguments) => runs::run(arguments, common),
        Verb::Show(arguments) => show::run(&arguments, common),
        Verb::Import(arguments) => import::run(&arguments, common),
        Verb::Export(arguments) => export::run(&arguments, common),
        Verb::Fleet(arguments) => fleet::run(&arguments, common),
        Verb::Farm(arguments) => farm::run(arguments, common),
        Verb::Benchmarks(arguments) => benchmarks::run(&arguments, common),
        Verb::Doctor(arguments) => doctor::run(&arguments, common),
        Verb::Selftest(arguments) => selftest::run(&arguments, common),
        Verb::Component { name } => rating::work(&name),
        Verb::Completions(arguments) => completions::run(&arguments, common),
        Verb::Reference(arguments) => reference::run(&arguments),
        Verb::Agent(arguments) => agent::run(&arguments),
        Verb::Worker => worker(),
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
