//! External programs: their paths, versions and output.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::{BenchmarkError, Unsupported};

/// A program of the search path.
///
/// # Errors
/// When none of the names exists.
pub(crate) fn find(names: &[&str]) -> Result<PathBuf, Unsupported> {
    let found = names.iter().find_map(|name| os::process::program_named(name));
    found.ok_or_else(|| Unsupported::new(format!("there is no {}", names.join(" or "))))
}

/// A command without input, which runs in a directory, in the C locale.
pub(crate) fn command(program: &Path, directory: &Path) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    // Without a search path in the environment a compiler does not find its linker.
    command.env("PATH", os::process::search_path());
    command.current_dir(directory).env("LC_ALL", "C").env("TMPDIR", directory);
    command
}

/// The output of a command that succeeded.
///
/// # Errors
/// When it could not be started, or failed, with the first line of its error output.
pub(crate) fn output(command: &mut Command) -> Result<Vec<u8>, BenchmarkError> {
    let output = command.stdout(Stdio::piped()).output().map_err(|error| start_fault(command, &error))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(ending_fault(command, &output))
}

/// The error for a program that could not be started.
pub(crate) fn start_fault(command: &Command, error: &std::io::Error) -> BenchmarkError {
    let limit = os::process::limit_behind(error.raw_os_error()).map(|limit| format!("; {limit}")).unwrap_or_default();
    BenchmarkError::new(format!("could not start {}: {error}{limit}", command.get_program().to_string_lossy()))
}

/// The error for a program that failed, with the first line of its error output.
pub(crate) fn ending_fault(command: &Command, output: &Output) -> BenchmarkError {
    let complaint = String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned();
    let program = command.get_program().to_string_lossy().into_owned();
    BenchmarkError::new(format!("{program} ended with {}: {complaint}", output.status))
}

/// The first line of a program's version output; empty if there is none.
pub(crate) fn version(program: &Path, argument: &str) -> String {
    let output = Command::new(program).arg(argument).stdin(Stdio::null()).output();
    let output = output.map(|output| if output.stdout.is_empty() { output.stderr } else { output.stdout });
    let output = output.unwrap_or_default();
    String::from_utf8_lossy(&output).lines().next().unwrap_or_default().trim().to_owned()
}
