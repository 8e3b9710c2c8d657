//! `prony fleet`: the same measurement on many nodes.

mod report;
mod run;
mod spread;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::Exit;
use crate::cli::Common;

/// Options of `prony fleet`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Measure a suite on every node, keep every run, and say which node is odd
    Run(Box<run::Arguments>),
    /// Say how far runs of machines that should be equal lie apart, and which is odd
    Spread(spread::Arguments),
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Exit> {
    match &arguments.action {
        Action::Run(arguments) => run::run(arguments, common),
        Action::Spread(arguments) => spread::run(arguments, common),
    }
}
