//! Prony: finds out what machines can really do, says how sure it is, and helps people decide.
#![forbid(unsafe_code)]

mod cli;
mod cmd;
mod evaluation;
mod house;
mod keeping;
mod output;
mod progress;
mod settings;
mod wishes;

use std::process::ExitCode;

use clap::Parser;

/// How a verb ended; see `prony help` for what scripts may rely on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exit {
    /// Everything that was asked for.
    Fine,
    /// A difference or a regression was asked for and found.
    Found,
    /// It could not be done.
    Failed,
    /// Stopped from the keyboard; what was measured is kept.
    Stopped,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Fine => 0,
            Exit::Found => 1,
            Exit::Failed => 2,
            // What shells use for a process ended by an interrupt: 128 and the signal's number.
            Exit::Stopped => 130,
        })
    }
}

fn main() -> ExitCode {
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return cli::refuse(&error),
    };
    match cmd::dispatch(cli) {
        Ok(exit) => exit.into(),
        Err(error) if output::is_closed(&error) => Exit::Fine.into(),
        Err(error) => {
            output::complain(&error);
            Exit::Failed.into()
        }
    }
}
