//! The command line: one variant a command; each command's options stand in its own file.

#[cfg(test)]
mod docs;
#[cfg(test)]
mod flags;
mod groups;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub(crate) use self::groups::{
    GLOBAL, GROUPS, HelpForm, WELCOME, command, command_with_help, hanging, parse, parse_from,
};
use crate::ExitStatus;
use crate::cmd::{
    agent, app, benchmarks, check, choose, compare, completions, doctor, experiment, explain, export, farm, fleet,
    history, import, net, predict, reference, report, run, runs, selftest, show, site, time, trend,
};

const EXAMPLES: &str = "Examples:
  prony doctor                    check this machine for interference
  prony run --suite quick         measure it in 20 seconds
  prony compare                   compare the latest run with the previous one
  prony time 'sort a' 'sort -n a' find out which command is faster";

/// Benchmarks machines with confidence intervals, compares them, and explains the differences.
#[derive(Debug, Parser)]
#[command(name = "prony", version, after_help = format!("{}\n\n{EXAMPLES}", ExitStatus::table()))]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: CommonOptions,
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

/// Options of every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct CommonOptions {
    /// Keep runs in this SQLite file [default: prony/runs.sqlite in your data directory]
    #[arg(long, global = true, value_name = "PATH", env = "PRONY_STORE", hide_env_values = true)]
    pub(crate) store: Option<PathBuf>,
    /// Print in this format [default: terminal]
    #[arg(long, global = true, value_name = "FORMAT",
          value_parser = clap::builder::PossibleValuesParser::new(::report::FORMATS.iter().map(|(name, _)| *name)))]
    pub(crate) format: Option<String>,
    /// Colour the output; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", value_parser = ["auto", "always", "never"])]
    pub(crate) color: String,
}

impl CommonOptions {
    /// The format in which to print.
    pub(crate) fn format(&self) -> &str {
        self.format.as_deref().unwrap_or("terminal")
    }
}

/// The commands. `groups.rs` says in which group of the help each of them stands.
#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Measure this machine and store the run
    Run(Box<run::Arguments>),
    /// Time commands and say which is faster
    Time(Box<time::Arguments>),
    /// Build, verify and measure your own applications
    App(app::Arguments),
    /// Measure and plan networks: throughput, round trips, event building
    Net(Box<net::Arguments>),
    /// Compare runs: slower, faster, no change or inconclusive
    Compare(compare::Arguments),
    /// Switch settings of this machine and say which of them matter
    Experiment(Box<experiment::Arguments>),
    /// Explain why two runs differ
    Explain(explain::Arguments),
    /// Write runs, or their comparison, as one HTML file
    Report(report::Arguments),
    /// Predict an application on machines where it never ran
    Predict(predict::Arguments),
    /// Choose which machines to buy or rent for a demand
    Choose(choose::Arguments),
    /// Show what changed on a machine, since when, and what changed with it
    History(history::Arguments),
    /// Fit a growth trend to dated values and extrapolate it
    Trend(trend::Arguments),
    /// List, label and remove stored runs
    Runs(runs::Arguments),
    /// Show the results of a run
    Show(show::Arguments),
    /// Import the output of other benchmarks
    Import(import::Arguments),
    /// Export runs to other tools
    Export(export::Arguments),
    /// Show the stored runs as a site for browsers
    Serve(site::serve::Arguments),
    /// Push runs to a site
    Push(site::push::Arguments),
    /// Measure many nodes and find the outliers
    Fleet(Box<fleet::Arguments>),
    /// Run a batch job on many machines; exactly-once results despite failures
    Farm(farm::Arguments),
    /// List benchmarks and suites
    Benchmarks(benchmarks::Arguments),
    /// Say whether machines are as fast as they should be, and why not
    Check(Box<check::Arguments>),
    /// Check this machine for interference and say what to do
    Doctor(doctor::Arguments),
    /// Compare this machine with itself and count false alarms
    Selftest(selftest::Arguments),
    /// Print completions for a shell
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
    /// Restore the settings that a killed experiment leaves
    #[command(hide = true)]
    Guardian {
        /// The folder of its journal
        folder: PathBuf,
    },
    /// Serve one sample on standard input and output
    #[command(hide = true)]
    Worker,
    /// Serve a driver elsewhere on standard input and output
    #[command(hide = true)]
    Agent(agent::Arguments),
}
