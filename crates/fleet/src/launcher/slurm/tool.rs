//! Slurm's programs, asked with a bound in time and in text.

use std::io::ErrorKind;
use std::process::Command;
use std::time::Duration;

use super::super::process::not_started;
use crate::{Error, Result};

/// A controller that does not answer is given up after this time.
const PATIENCE: Duration = Duration::from_secs(20);
/// Most text that is taken: a job of `squeue --json` has some 5 kB, and a large site tens of thousands of them.
const MOST: usize = 256 << 20;

/// What a program of Slurm's says, given `input`.
pub(super) fn ask(program: &str, arguments: &[&str], input: &str) -> Result<String> {
    ask_with(program, arguments, input, &[])
}

/// What a program says on its standard error, where it says what others say on standard output.
pub(super) fn complaint(program: &str, arguments: &[&str], patience: Duration) -> Result<String> {
    talk(program, arguments, "", &[], patience).map(|[_, err]| err)
}

/// The same as [`ask`] with more in its environment.
pub(super) fn ask_with(
    program: &str,
    arguments: &[&str],
    input: &str,
    environment: &[(String, String)],
) -> Result<String> {
    talk(program, arguments, input, environment, PATIENCE).map(|[out, _]| out)
}

fn talk(
    program: &str,
    arguments: &[&str],
    input: &str,
    environment: &[(String, String)],
    patience: Duration,
) -> Result<[String; 2]> {
    let mut command = Command::new(program);
    command.args(arguments).envs(environment.iter().map(|(name, value)| (name, value)));
    let done =
        sys::process::run(&mut command, input.as_bytes(), patience, MOST).map_err(|error| match error.kind() {
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
