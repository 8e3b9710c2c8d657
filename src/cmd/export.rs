//! `prony export`: runs in the formats of other tools.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use model::Run;
use store::Detail;

use crate::cli::CommonOptions;
use crate::{ExitStatus, run_finder};

/// Options of `prony export`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Runs: numbers, ids, labels, latest, files, - or published:NAME
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<String>,
    /// The format
    #[arg(long = "to", value_name = "FORMAT", default_value = "csv",
          value_parser = clap::builder::PossibleValuesParser::new(::export::formats().iter().map(|format| format.name)))]
    to: String,
    /// The file to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let named = run_finder::find(&arguments.runs, common, Detail::Whole)?;
    let runs: Vec<Run> = named.into_iter().map(|named| named.run).collect();
    match &arguments.output {
        Some(path) => {
            let cannot = || format!("could not write {}", path.display());
            let mut file = std::io::BufWriter::new(std::fs::File::create(path).with_context(cannot)?);
            ::export::export(&runs, &arguments.to, &mut file)?;
            file.flush().with_context(cannot)?;
        }
        None => {
            let mut out = std::io::BufWriter::new(std::io::stdout().lock());
            ::export::export(&runs, &arguments.to, &mut out)?;
            out.flush()?;
        }
    }
    Ok(ExitStatus::Fine)
}
