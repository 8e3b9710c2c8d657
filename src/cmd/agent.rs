//! `prony agent`, which launchers start on nodes.

use std::io::BufReader;

use anyhow::Result;
use clap::Args;
use launcher::agent::{By, Duty, serve};

use crate::ExitStatus;

/// Duties of agents of this program, one per line.
const DUTIES: &[Duty] = &[network::build::DUTY, launcher::suite::DUTY];

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Who started it: local, ssh or slurm
    #[arg(long, default_value = "local", value_parser = ["local", "ssh", "slurm"])]
    by: String,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus> {
    let by = By::named(&arguments.by).unwrap_or_default();
    serve(Box::new(BufReader::new(std::io::stdin())), &mut std::io::stdout(), by, DUTIES)?;
    Ok(ExitStatus::Fine)
}
