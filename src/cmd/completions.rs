//! `prony completions`, generated from the definition of the command line.

use anyhow::Result;
use clap::Args;
use clap_complete::Shell;

use crate::ExitStatus;
use crate::cli::{self, CommonOptions};
use crate::output;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony completions bash > ~/.local/share/bash-completion/completions/prony")]
pub(crate) struct Arguments {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    output::only_as_it_is("completions", common)?;
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut cli::command(), "prony", &mut text);
    output::write(&text)
}
