//! Prony: finds out what machines can really do, says how sure it is, and helps people decide.
#![forbid(unsafe_code)]

mod cli;
mod cmd;
mod columns;
mod evaluation;
mod exit;
mod locale;
mod other_machines;
mod output;
mod progress;
mod refusal;
mod run_finder;
mod run_options;
mod run_saver;
mod share;
mod value_parsers;

use std::process::ExitCode;

use exit::ExitStatus;

/// Address space to work in, without which an allocation that fails ends this program at its first step.
const LEAST_ROOM: u64 = 8 << 20;

fn main() -> ExitCode {
    if let Some(left) = sys::process::address_space_left().filter(|left| *left < LEAST_ROOM) {
        output::remark(&format!(
            "could not start: the limit of address space (ulimit -v) leaves this program {} KiB to work in, and it needs \
             {} MiB; raise the limit",
            left >> 10,
            LEAST_ROOM >> 20
        ));
        return ExitStatus::Failed.into();
    }
    // A worker is started for every launch: it has no use for the description of the command line, which takes longer
    // to build than most launches measure.
    if std::env::args_os().skip(1).eq(["worker"]) {
        return concluded(cmd::worker());
    }
    let cli = match cli::parse() {
        Ok(cli) => cli,
        Err(error) => {
            return refusal::strange_word(&error)
                .map_or_else(|| refusal::refuse(error), |strange| concluded(Err(strange)));
        }
    };
    // With a handler, a file beyond the limit of its size is an error of the write, which is told, and not the end.
    let too_large = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    if signal_hook::flag::register(signal_hook::consts::SIGXFSZ, too_large).is_err() {
        output::remark("could not watch for limits of file sizes; a file that grows too large ends this program");
    }
    concluded(cmd::dispatch(cli))
}

/// The exit code of what was done; an error is printed.
fn concluded(done: anyhow::Result<ExitStatus>) -> ExitCode {
    match done {
        Ok(exit) => exit.into(),
        Err(error) if output::is_closed(&error) => ExitStatus::Fine.into(),
        Err(error) => {
            output::complain(&error);
            let stopped = error.downcast_ref::<exit::StoppedEarly>().is_some();
            if stopped { ExitStatus::Stopped.into() } else { ExitStatus::Failed.into() }
        }
    }
}
