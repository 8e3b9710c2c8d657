//! `prony farm`: production runs over many machines.

mod bench;
mod book;
mod display;
mod drive;
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

use crate::Exit;
use crate::cli::Common;

/// Options of `prony farm`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
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

pub(crate) fn run(arguments: Arguments, common: &Common) -> Result<Exit> {
    match arguments.action {
        Action::Run(arguments) => run::run(&arguments, common),
        Action::Resume(arguments) => run::resume(&arguments, common),
        Action::Status(arguments) => status::run(&arguments, common),
        Action::Input(arguments) => work::input(&arguments),
        Action::Bench(arguments) => bench::run(&arguments),
        Action::Pilot => pilot::run(),
        Action::Herd(arguments) => bench::herd(&arguments),
    }
}
