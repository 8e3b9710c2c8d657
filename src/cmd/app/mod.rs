//! `prony app`: the user's own applications.

pub(crate) mod ams;
mod fit;
mod init;
mod run;
mod sessions;
pub(super) mod view;
mod work;

use anyhow::Result;
use application::Starter;
use clap::{Args, Subcommand};

use crate::ExitStatus;
use crate::cli::CommonOptions;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: AppAction,
}

#[derive(Debug, Subcommand)]
enum AppAction {
    /// Write a commented manifest to begin with
    Init(init::Arguments),
    /// Build, run, verify and measure the applications of a manifest
    Run(run::Arguments),
    /// Run many sessions at once over many files and find what limits them
    Sessions(sessions::Arguments),
    /// Fit an application against a rating over machines
    Fit(fit::Arguments),
    /// One run of a built-in workload
    #[command(hide = true)]
    Work(work::Arguments),
    /// Read files as one session of many
    #[command(hide = true)]
    Read(work::ReadArguments),
    /// Perform one sample on standard input and output
    #[command(hide = true)]
    Sample,
    /// Run sessions once for standard input and output
    #[command(hide = true)]
    Attend,
}

pub(crate) fn run(arguments: Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    match arguments.action {
        AppAction::Init(arguments) => init::run(&arguments, common),
        AppAction::Run(arguments) => run::run(&arguments, common),
        AppAction::Sessions(arguments) => sessions::run(&arguments, common),
        AppAction::Fit(arguments) => fit::run(&arguments, common),
        AppAction::Work(arguments) => work::run(&arguments),
        AppAction::Read(arguments) => work::read(&arguments),
        AppAction::Sample => {
            become_helper()?;
            application::serve(std::io::stdin(), std::io::stdout())?;
            Ok(ExitStatus::Fine)
        }
        AppAction::Attend => {
            become_helper()?;
            application::serve_sessions(std::io::stdin(), std::io::stdout())?;
            Ok(ExitStatus::Fine)
        }
    }
}

/// If the measuring process is killed, its helper ends too, and with it the programs that it started, which would
/// disturb the next measurement.
fn become_helper() -> Result<()> {
    let parent = os::process::parent_pid();
    os::process::end_group_with_parent(parent).or_else(|_| os::process::die_with_parent(parent))?;
    // Where orphans cannot be adopted, what programs do not wait for themselves is not counted.
    let _ = os::process::adopt_orphans();
    Ok(())
}

/// The document of an action that only computes, for reports; `None` for the others.
pub(crate) fn document(arguments: &Arguments, common: &CommonOptions) -> Option<Result<report::Document>> {
    match &arguments.action {
        AppAction::Fit(arguments) => Some(fit::document(arguments, common)),
        _ => None,
    }
}

/// Helpers of this same program, for samples.
pub(crate) fn starter() -> Result<Starter> {
    Ok(Starter::new(std::env::current_exe()?, ["app", "sample"]))
}

/// Helpers of this same program, for sessions.
fn attendant() -> Result<Starter> {
    Ok(Starter::new(std::env::current_exe()?, ["app", "attend"]))
}
