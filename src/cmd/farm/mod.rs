//! `prony farm`: production runs over many machines.

mod bench;
mod display;
mod drive;
mod ledger_location;
mod pilot;
mod plan;
mod run;
mod setup;
mod shared;
mod status;
mod view;
mod work;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::ExitStatus;
use crate::cli::CommonOptions;

/// Options of `prony farm`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: FarmAction,
}

#[derive(Debug, Subcommand)]
enum FarmAction {
    /// Cut events into chunks and have them done by pilots on many nodes
    Run(Box<run::Arguments>),
    /// Go on with a run whose coordinator, or everything, died
    Resume(run::ResumeArguments),
    /// Say how a run stands, also while it goes on
    Status(status::Arguments),
    /// Write the ntuples that `builtin:analyse --input` reads, one a chunk
    Input(work::InputArguments),
    /// Try the coordinator itself: simulated pilots, work that takes no time
    Bench(bench::Arguments),
    /// Do chunks for the coordinator that standard input names
    #[command(hide = true)]
    Pilot,
    /// Simulated pilots for the coordinator that standard input names
    #[command(hide = true)]
    Herd(bench::HerdArguments),
}

pub(crate) fn run(arguments: Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    match arguments.action {
        FarmAction::Run(arguments) => run::run(&arguments, common),
        FarmAction::Resume(arguments) => run::resume(&arguments, common),
        FarmAction::Status(arguments) => status::run(&arguments, common),
        FarmAction::Input(arguments) => work::input(&arguments),
        FarmAction::Bench(arguments) => bench::run(&arguments),
        FarmAction::Pilot => pilot::run(),
        FarmAction::Herd(arguments) => bench::herd(&arguments),
    }
}
