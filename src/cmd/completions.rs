//! `prony completions` and the manual page, generated from the definition of the command line.

use anyhow::Result;
use clap::Args;
use clap_complete::Shell;
use roff::{Roff, bold, roman};

use crate::ExitStatus;
use crate::cli::{self, CommonOptions};
use crate::output;

/// Options of `prony completions`.
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
    output::write(&text)?;
    Ok(ExitStatus::Fine)
}

pub(crate) fn manual() -> Result<ExitStatus> {
    let command = cli::command();
    let man = clap_mangen::Man::new(command.clone());
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    verbs(&command).to_writer(&mut text)?;
    man.render_options_section(&mut text)?;
    man.render_extra_section(&mut text)?;
    man.render_version_section(&mut text)?;
    output::write(&text)?;
    Ok(ExitStatus::Fine)
}

/// The verbs in the groups of the help: the library lists them in one section.
fn verbs(command: &clap::Command) -> Roff {
    let mut page = Roff::new();
    for (title, verbs) in cli::GROUPS {
        page.control("SH", [title.to_uppercase().as_str()]);
        for verb in *verbs {
            let about = command.find_subcommand(verb).and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            page.control("TP", []).text([bold(format!("prony {verb}"))]).text([roman(about)]);
        }
    }
    page
}
