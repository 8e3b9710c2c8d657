//! `prony farm`: production runs over many machines.

mod conclusion;
mod display;
mod drive;
mod pilot;
mod plan;
mod run;
mod setup;
mod shared;
mod staging;
mod status;
mod verify;
mod view;
mod work;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::cli::CommonOptions;
use crate::{ExitStatus, output};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: FarmAction,
}

#[derive(Debug, Subcommand)]
enum FarmAction {
    /// Cut events into chunks and process them on many nodes
    Run(Box<run::Arguments>),
    /// Resume a run whose coordinator died
    Resume(run::ResumeArguments),
    /// Print the state of a run, or check its files
    Status(status::Arguments),
    /// Write the ntuples that `builtin:analyse --input` reads
    Input(work::InputArguments),
    /// Do chunks for the coordinator that standard input names
    #[command(hide = true)]
    Pilot,
}

pub(crate) fn run(arguments: Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    match arguments.action {
        FarmAction::Run(arguments) => run::run(&arguments, common),
        FarmAction::Resume(arguments) => run::resume(&arguments, common),
        FarmAction::Status(arguments) => status::run(&arguments, common),
        FarmAction::Input(arguments) => work::input(&arguments, common),
        FarmAction::Pilot => pilot::run(),
    }
}

/// Says which records of a ledger are damaged.
fn tell_damage(ledger: &::farm::SqliteLedger) {
    if let Some(words) = ledger.damage() {
        output::remark(&words);
    }
}
