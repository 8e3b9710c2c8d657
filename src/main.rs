//! Prony: finds out what machines can really do, says how sure it is, and helps people decide.
#![forbid(unsafe_code)]

mod cli;
mod cmd;
mod evaluation;
mod exit;
mod output;
mod progress;
mod run_finder;
mod run_options;
mod run_saver;
mod value_parsers;

use std::process::ExitCode;

use exit::ExitStatus;

fn main() -> ExitCode {
    let cli = match cli::parse() {
        Ok(cli) => cli,
        Err(error) => return cli::refuse(&error),
    };
    match cmd::dispatch(cli) {
        Ok(exit) => exit.into(),
        Err(error) if output::is_closed(&error) => ExitStatus::Fine.into(),
        Err(error) => {
            output::complain(&error);
            ExitStatus::Failed.into()
        }
    }
}
