//! Prony: benchmarks machines with confidence intervals, compares them, and explains the differences.
#![forbid(unsafe_code)]

mod cli;
mod cmd;
mod columns;
mod evaluation;
mod exit;
mod junit;
mod locale;
mod output;
mod progress;
mod reference;
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
    if let Some(left) = os::process::address_space_left().filter(|left| *left < LEAST_ROOM) {
        output::remark(&format!(
            "could not start: the address-space limit (ulimit -v) leaves {} KiB, but {} MiB are needed; raise the \
             limit",
            left >> 10,
            LEAST_ROOM >> 20
        ));
        return ExitStatus::Failed.into();
    }
    // A worker is started for every sample: it has no use for the description of the command line, which takes longer
    // to build than most samples measure.
    if std::env::args_os().skip(1).eq(["worker"]) {
        return concluded(cmd::worker());
    }
    if std::env::args().nth(1).as_deref() == Some("under") {
        return concluded(cmd::experiment::under(std::env::args().skip(2)));
    }
    let cli = match cli::parse() {
        Ok(cli) => cli,
        Err(error) => return refused(&error),
    };
    // With a handler, exceeding the file size limit is a write error with a message instead of the end.
    let too_large = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    if signal_hook::flag::register(signal_hook::consts::SIGXFSZ, too_large).is_err() {
        output::remark("could not watch for limits of file sizes; a file that grows too large ends this program");
    }
    concluded(cmd::dispatch(cli))
}

/// Prints help, or the error in a command line.
fn refused(error: &clap::Error) -> ExitCode {
    // The kind of the error depends on options that the environment gives; the answer does not.
    if std::env::args_os().len() <= 1 {
        return concluded(output::write(cli::WELCOME.as_bytes()));
    }
    match error.print() {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            output::remark(&format!("could not write to standard output: {error}"));
            ExitStatus::Failed.into()
        }
        _ if error.use_stderr() => ExitStatus::Failed.into(),
        _ => ExitStatus::Fine.into(),
    }
}

/// The exit code of a command; an error is printed.
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
