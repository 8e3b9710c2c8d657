//! `prony fleet`: the same measurement on many nodes.

mod report;
pub(crate) mod run;
mod spread;

use anyhow::Result;
use clap::{Args, Subcommand};

pub(crate) use self::spread::spread_of;
use crate::ExitStatus;
use crate::cli::CommonOptions;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: FleetAction,
}

/// When a fleet with an outlier is a failure.
#[derive(Debug, Clone, Args)]
pub(crate) struct OutlierGate {
    /// Exit with 1 if a node is an outlier; with 3 if inconclusive
    #[arg(long, help_heading = "Verdicts", value_name = "CONDITION", value_parser = ["outlier"])]
    fail_on: Option<String>,
}

impl OutlierGate {
    /// Whether an outlier is a failure.
    pub(crate) const fn asked(&self) -> bool {
        self.fail_on.is_some()
    }
}

#[derive(Debug, Subcommand)]
enum FleetAction {
    /// Measure a suite on every node and find outliers
    Run(Box<run::Arguments>),
    /// Compare runs of equal machines and find outliers
    Spread(spread::Arguments),
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    match &arguments.action {
        FleetAction::Run(arguments) => run::run(arguments, common),
        FleetAction::Spread(arguments) => spread::run(arguments, common),
    }
}
