//! Resuming an interrupted run: the command that measured it continues it, with the command line with which it began.

use std::collections::BTreeMap;
use std::ffi::OsString;

use anyhow::{Context, Result, bail, ensure};
use clap::{ArgMatches, Command};
use model::{PlanEntry, Run};
use report::words::resume_command;

use super::{rating, run_claim};
use crate::cli::{self, CommonOptions};
use crate::run_finder;

/// Options that may differ between a command and the one that resumes its run: they affect duration, precision and
/// output, but not the quantities.
const FREE: &str = "\
    resume target time_limit max_samples seed label note output no_store quiet store format color token_file \
    builds help";

/// The run to resume, if `suite` measured it, else a refusal with the right command.
///
/// # Errors
/// When there is no such run, or another command or command line measured it.
pub(crate) fn find(name: &str, suite: &str, common: &CommonOptions) -> Result<Run> {
    let found = run_finder::find_one(name, common)?;
    let (run, handle) = (found.run, found.handle);
    let right = || match resume_command(&run, &handle) {
        Some(command) => format!("resume it with: {command}"),
        None => "it cannot be resumed; measure again".to_owned(),
    };
    ensure!(run.origin.is_none(), "could not resume {name}: it was not measured by prony");
    ensure!(!run.session.complete, "could not resume {name}: it is complete");
    ensure!(measured_by(&run) == suite, "could not resume {name} here: `{}` measured it; {}", by(&run), right());
    // The catalogue and the frozen sets are in the program: the plan is sufficient.
    if suite != "run" && !run.session.command.is_empty() {
        let now: Vec<String> = model::command_line();
        ensure!(
            given(&run.session.command)? == given(&now)?,
            "could not resume {name} with other options than it began with; {}",
            right()
        );
    }
    run_claim::claim(&run.id, &format!("resume {name}"))?;
    if !run_finder::names_one(&handle) {
        return Ok(run);
    }
    // Another process may have gone on with it and ended, between the first reading and the claim.
    let run = run_finder::find_one(&handle, common)?.run;
    ensure!(!run.session.complete, "could not resume {name}: it is complete");
    Ok(run)
}

/// The command of a run: `run` for the catalogue and the frozen sets, else the name of the plan.
fn measured_by(run: &Run) -> &str {
    let suite = run.plan.suite.as_str();
    if matches!(suite, "app" | "time" | "sessions" | "farm") || suite.starts_with("net ") { suite } else { "run" }
}

/// The command as on the command line.
fn by(run: &Run) -> String {
    match measured_by(run) {
        "app" => "prony app run".to_owned(),
        "sessions" => "prony app sessions".to_owned(),
        "farm" => "prony farm run".to_owned(),
        other => format!("prony {other}"),
    }
}

/// Whether a run is of one of the frozen sets.
pub(crate) fn is_rating(run: &Run) -> bool {
    rating::is_suite(&run.plan.suite)
}

/// A run is resumed with the results that it has.
///
/// # Errors
/// When the command now selects other results.
pub(crate) fn same_results(run: &Run, fresh: &Run) -> Result<()> {
    let keys = |run: &Run| {
        let key = |entry: &PlanEntry| format!("{}:{}", entry.benchmark, entry.parameters);
        run.plan.entries.iter().map(key).collect::<Vec<_>>()
    };
    let (there, now) = (keys(run), keys(fresh));
    if there == now {
        return Ok(());
    }
    let other = there.iter().find(|key| !now.contains(key)).or(now.iter().find(|key| !there.contains(key)));
    bail!(
        "could not resume {}: it has other results than this command measures now ({})",
        run.name(),
        other.map_or("in another order", String::as_str)
    )
}

/// The measurement that a command line requests: the command, and the values of all options that are not free.
#[derive(Debug, Default, PartialEq, Eq)]
struct Asked {
    commands: Vec<String>,
    options: BTreeMap<String, Vec<OsString>>,
}

/// Reads a command line.
fn given(words: &[String]) -> Result<Asked> {
    let mut command = cli::command();
    let matches = command
        .try_get_matches_from_mut(words)
        .context("could not understand the command line that the run began with")?;
    let mut asked = Asked::default();
    let (mut definition, mut found): (&Command, &ArgMatches) = (&command, &matches);
    loop {
        for argument in definition.get_arguments().map(|argument| argument.get_id().as_str()) {
            if !FREE.split(' ').any(|free| free == argument) && found.try_contains_id(argument).unwrap_or(false) {
                let values = found.get_raw(argument).into_iter().flatten().map(OsString::from).collect();
                asked.options.insert(argument.to_owned(), values);
            }
        }
        let Some((name, below)) = found.subcommand() else { return Ok(asked) };
        let Some(defined) = definition.find_subcommand(name) else { return Ok(asked) };
        asked.commands.push(name.to_owned());
        (definition, found) = (defined, below);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn what_is_measured_is_compared_and_how_long_is_not() {
        let same = |a: &str, b: &str| given(&words(a)).ok() == given(&words(b)).ok();
        assert!(same("prony net rr --kind tcp", "prony net rr --kind tcp --resume 3 --time-limit 9s --target 5 -q"));
        assert!(
            same("prony net stream --block 20ms", "/usr/bin/prony net stream --format json"),
            "defaults are values too"
        );
        assert!(!same("prony net rr --kind tcp", "prony net rr --kind udp --resume 3"));
        assert!(!same("prony net rr", "prony net udp"));
        assert!(!same("prony app run a.toml", "prony app run b.toml"));
        assert!(same("prony app run a.toml --copies 1,2", "prony app run a.toml --copies 1,2 --builds x"));
        assert!(given(&words("prony fly")).is_err());
    }
}
