//! Runs Slurm's programs, with limits on time and output.

use std::io::ErrorKind;
use std::process::Command;
use std::time::Duration;

use super::super::process::not_started;
use crate::{Error, Result};

/// Time limit for an answer of the controller.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Longest output, bytes: a job has some kB in `scontrol show job`, and a large site has tens of thousands of jobs.
const MOST: usize = 256 << 20;

/// Standard output of a Slurm program, given `input`.
pub(super) fn ask(program: &str, arguments: &[&str], input: &str) -> Result<String> {
    talk(program, arguments, input, TIMEOUT).map(|[out, _]| out)
}

/// Standard error of a program that prints its results there.
pub(super) fn complaint(program: &str, arguments: &[&str], patience: Duration) -> Result<String> {
    talk(program, arguments, "", patience).map(|[_, err]| err)
}

fn talk(program: &str, arguments: &[&str], input: &str, patience: Duration) -> Result<[String; 2]> {
    let mut command = Command::new(program);
    command.args(arguments);
    let done =
        os::process::run(&mut command, input.as_bytes(), patience, MOST).map_err(|error| match error.kind() {
            ErrorKind::TimedOut | ErrorKind::FileTooLarge => Error::Gone(format!("{program}: {error}")),
            _ => not_started(program, error),
        })?;
    let [out, err] = [done.output, done.errors].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    if done.status.success() {
        return Ok([out, err]);
    }
    let status = done.status;
    let lines: Vec<&str> = err.lines().map(str::trim).filter(|line| !line.is_empty()).take(3).collect();
    Err(Error::Refused(if lines.is_empty() { format!("{program} ended with {status}") } else { lines.join("; ") }))
}
