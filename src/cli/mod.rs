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
    agent, app, choose, compare, completions, doctor, explain, export, farm, fleet, import, net, predict, probes,
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
    /// Store of runs: an SQLite file [default: prony/runs.sqlite in the user's data directory]
    #[arg(long, global = true, value_name = "PATH", env = "PRONY_STORE", hide_env_values = true)]
    pub(crate) store: Option<PathBuf>,
    /// How to print [default: terminal]
    #[arg(long, global = true, value_name = "FORMAT",
          value_parser = clap::builder::PossibleValuesParser::new(::report::FORMATS.iter().map(|(name, _)| *name)))]
    pub(crate) format: Option<String>,
    /// The same as --format json
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to colour: auto (a terminal, and NO_COLOR is not set), always or never
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", value_parser = ["auto", "always", "never"])]
    pub(crate) color: String,
}

impl CommonOptions {
    /// The format in which to print.
    pub(crate) fn format(&self) -> &str {
        self.named_format().unwrap_or("terminal")
    }

    /// The format that was asked for; what writes a file has another default than what prints.
    pub(crate) fn named_format(&self) -> Option<&str> {
        if self.json { Some("json") } else { self.format.as_deref() }
    }
}

/// The verbs. `groups.rs` says in which group of the help each of them stands.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Measure this machine and store the run
    Run(Box<run::Arguments>),
    /// Time commands in turns, and say which is faster
    Time(Box<time::Arguments>),
    /// Build, run, verify and measure your own applications, or the built-in ones
    App(app::Arguments),
    /// Measure and plan networks: streams, round trips, event building, a switch in the lab
    Net(Box<net::Arguments>),
    /// Set runs side by side, with a verdict on every figure
    Compare(compare::Arguments),
    /// Say why two runs differ, in sentences that can be checked
    Explain(explain::Arguments),
    /// Write a report of one or several runs as one self-contained HTML file
    Report(report::Arguments),
    /// Predict an application on machines where it never ran
    Predict(predict::Arguments),
    /// Choose what to buy for a demand: how many of which offers
    Choose(choose::Arguments),
    /// Fit the growth of dated values and project it, with its interval
    Trend(trend::Arguments),
    /// List, label and remove stored runs
    Runs(runs::Arguments),
    /// Show stored runs
    Show(show::Arguments),
    /// Read other tools' outputs as runs
    Import(import::Arguments),
    /// Write runs in the formats of other tools
    Export(export::Arguments),
    /// Measure the same on many nodes, and say which of them is odd
    Fleet(Box<fleet::Arguments>),
    /// Run events over many machines: every chunk counts once, whatever dies meanwhile
    Farm(farm::Arguments),
    /// Say what can be measured: every probe and suite, or all that is known of one
    Probes(probes::Arguments),
    /// Look for what may disturb measuring here, and say what to do about it
    Doctor(doctor::Arguments),
    /// Measure this machine against itself: how many figures come out DIFFERENT
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
    /// Write the manual page
    #[command(hide = true)]
    Manual,
    /// Serve one launch on standard input and output
    #[command(hide = true)]
    Worker,
    /// Serve a driver elsewhere on standard input and output
    #[command(hide = true)]
    Agent(agent::Arguments),
}
