//! `prony completions` and the manual page, generated from the definition of the command line.

use anyhow::Result;
use clap::Args;
use clap_complete::Shell;

use crate::ExitStatus;
use crate::cli;
use crate::output;

/// Options of `prony completions`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut cli::command(), "prony", &mut text);
    output::write(&text)?;
    Ok(ExitStatus::Fine)
}

pub(crate) fn manual() -> Result<ExitStatus> {
    let mut text = Vec::new();
    clap_mangen::Man::new(cli::command()).render(&mut text)?;
    output::write(&text)?;
    Ok(ExitStatus::Fine)
}
