//! `prony app init`.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::cli::CommonOptions;
use crate::{ExitStatus, output};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony app init mine.toml")]
pub(crate) struct Arguments {
    /// File to write; - for standard output
    #[arg(default_value = "application.toml", value_name = "FILE")]
    file: PathBuf,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let text = application::TEMPLATE;
    if arguments.file.as_os_str() == "-" {
        output::only_as_it_is("a manifest", common)?;
        return output::write(text.as_bytes());
    }
    let file = arguments.file.display();
    let mut target = std::fs::File::create_new(&arguments.file)
        .with_context(|| format!("could not write {file}; a file that exists is not written over"))?;
    std::io::Write::write_all(&mut target, text.as_bytes()).with_context(|| format!("could not write {file}"))?;
    let data = serde_json::json!({ "wrote": file.to_string() });
    output::done(format!("Wrote {file}"), vec![format!("prony app run {file}")], ("wrote", &data), common)
}
