//! The command line: one variant a verb; each verb's options stand in its own file.

#[cfg(test)]
mod docs;
#[cfg(test)]
mod flags;
mod groups;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub(crate) use self::groups::{GROUPS, command, hanging, parse, parse_from};
use crate::ExitStatus;
use crate::cmd::{
    agent, app, benchmarks, choose, compare, completions, doctor, explain, export, farm, fleet, import, net, predict,
    reference, report, run, runs, selftest, show, time, trend,
};

const BEGIN: &str = "Begin with:
  prony doctor               what may disturb measuring here
  prony run --suite quick    a first look in 20 seconds
  prony run                  measure this machine
  prony compare 1 2          set two runs side by side";

/// Finds out what machines can really do, says how sure it is, and helps people decide.
#[derive(Debug, Parser)]
#[command(name = "prony", version, after_help = format!("{}\n\n{BEGIN}", ExitStatus::table()), propagate_version = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: CommonOptions,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// Options of every verb.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options of every verb")]
pub(crate) struct CommonOptions {
    /// Store of runs: an SQLite file [default: prony/runs.sqlite in your data directory]
    #[arg(long, global = true, value_name = "PATH", env = "PRONY_STORE", hide_env_values = true)]
    pub(crate) store: Option<PathBuf>,
    /// Format of the output [default: terminal]
    #[arg(long, global = true, value_name = "FORMAT",
          value_parser = clap::builder::PossibleValuesParser::new(::report::FORMATS.iter().map(|(name, _)| *name)))]
    pub(crate) format: Option<String>,
    /// When to colour; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", value_parser = ["auto", "always", "never"])]
    pub(crate) color: String,
}

impl CommonOptions {
    /// The format in which to print.
    pub(crate) fn format(&self) -> &str {
        self.format.as_deref().unwrap_or("terminal")
    }
}

/// The verbs. `groups.rs` says in which group of the help each of them stands.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Measure this machine and store the run
    Run(Box<run::Arguments>),
    /// Time commands in turns, and say which is faster
    Time(Box<time::Arguments>),
    /// Build, run, verify and measure your own applications
    App(app::Arguments),
    /// Measure and plan networks: streams, round trips, event building
    Net(Box<net::Arguments>),
    /// Compare runs, with a verdict on every result
    Compare(compare::Arguments),
    /// Explain why two runs differ
    Explain(explain::Arguments),
    /// Write a report of runs as one HTML file
    Report(report::Arguments),
    /// Predict an application on machines where it never ran
    Predict(predict::Arguments),
    /// Choose what to buy for a demand
    Choose(choose::Arguments),
    /// Fit the growth of dated values and project it
    Trend(trend::Arguments),
    /// List, label and remove stored runs
    Runs(runs::Arguments),
    /// Show stored runs
    Show(show::Arguments),
    /// Read other tools' outputs as runs
    Import(import::Arguments),
    /// Write runs in the formats of other tools
    Export(export::Arguments),
    /// Measure many nodes alike, and say which of them is odd
    Fleet(Box<fleet::Arguments>),
    /// Process events on many machines; every chunk counts once
    Farm(farm::Arguments),
    /// List what can be measured: benchmarks and suites
    Benchmarks(benchmarks::Arguments),
    /// Find what may disturb measuring here, and say what to do about it
    Doctor(doctor::Arguments),
    /// Compare this machine with itself: count false alarms
    Selftest(selftest::Arguments),
    /// Write completions for a shell
    Completions(completions::Arguments),
    /// One component of the frozen sets once
    #[command(hide = true)]
    Component {
        /// Its name
        name: String,
    },
    /// Write a page of the reference
    #[command(hide = true)]
    Reference(reference::Arguments),
    /// Serve one sample on standard input and output
    #[command(hide = true)]
    Worker,
    /// Serve a driver elsewhere on standard input and output
    #[command(hide = true)]
    Agent(agent::Arguments),
}
