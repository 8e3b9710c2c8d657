//! `prony show`: what a probe measures, or what a run found, plainly or in the tables of an evaluation.

use anyhow::Result;
use clap::Args;

use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::value_parsers::gigahertz;
use crate::{evaluation, output, run_finder};

/// Options of `prony show`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A probe (prony list), or a run: its number, id or label, a file, or published:NAME
    #[arg(value_name = "PROBE|RUN")]
    name: String,
    /// A run in the tables of an evaluation: babar, byte, daisy, ramspeed, stream, tape, or a folder with evaluation.toml
    #[arg(long = "as", value_name = "EVALUATION")]
    evaluation: Option<String>,
    /// Print core figures as time at this clock [default: the median clock of the run]
    #[arg(long, value_name = "GHZ", value_parser = gigahertz)]
    at_clock: Option<f64>,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let name = arguments.name.as_str();
    if let Some(evaluation) = &arguments.evaluation {
        let tables = evaluation::named(evaluation)?;
        let found = run_finder::find_one(name, common)?;
        let context = report::view::RunContext { handle: Some(found.handle), ..Default::default() };
        output::print(&report::view::in_tables(&found.run, &tables, &context), common)?;
        return Ok(ExitStatus::Fine);
    }
    if let Some(description) = probes::describe(name) {
        output::print(&report::view::probe(&description), common)?;
        return Ok(ExitStatus::Fine);
    }
    // A name with a dot that is no path can only have meant a probe.
    if name.contains('.') && !store::is_path(name) && !name.contains(':') {
        let unknown = measure::select(None, &[name.to_owned()], 0.02).err();
        anyhow::bail!(
            unknown.map_or_else(|| format!("{name} names several probes; name one"), |error| error.to_string())
        );
    }
    let mut found = run_finder::find_one(name, common)?;
    if let Some(clock) = arguments.at_clock {
        found.run.set_clock(clock);
    }
    let context = report::view::RunContext { handle: Some(found.handle), previous: None, stored: false };
    output::print(&report::view::run(&found.run, &context), common)?;
    Ok(ExitStatus::Fine)
}
