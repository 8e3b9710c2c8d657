//! Other people's programs: where they are, what they are, and running them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::{ProbeError, Unsupported};

/// A program of the search path.
///
/// # Errors
/// When none of the names is there.
pub(super) fn find(names: &[&str]) -> Result<PathBuf, Unsupported> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = names
        .iter()
        .find_map(|name| std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file()));
    found.ok_or_else(|| Unsupported::new(format!("there is no {}", names.join(" or "))))
}

/// A command that reads nothing, runs in a directory, and speaks the plain language.
pub(super) fn command(program: &Path, directory: &Path) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command.current_dir(directory).env("LC_ALL", "C").env("TMPDIR", directory);
    command
}

/// What it printed, when it ended well.
///
/// # Errors
/// When it could not be started, or ended otherwise, with the first line that it complained in.
pub(super) fn output(command: &mut Command) -> Result<Vec<u8>, ProbeError> {
    let output = command.stdout(Stdio::piped()).output().map_err(|error| start_fault(command, &error))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(ending_fault(command, &output))
}

/// A fault that names a program that could not be started.
pub(super) fn start_fault(command: &Command, error: &std::io::Error) -> ProbeError {
    ProbeError::new(format!("could not start {}: {error}", command.get_program().to_string_lossy()))
}

/// A fault that names a program that ended badly, and what it said first.
pub(super) fn ending_fault(command: &Command, output: &Output) -> ProbeError {
    let complaint = String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned();
    let program = command.get_program().to_string_lossy().into_owned();
    ProbeError::new(format!("{program} ended with {}: {complaint}", output.status))
}

/// The first line that a program says of its version; empty where it says none.
pub(super) fn version(program: &Path, argument: &str) -> String {
    let said = Command::new(program).arg(argument).stdin(Stdio::null()).output();
    let said = said.map(|output| if output.stdout.is_empty() { output.stderr } else { output.stdout });
    let said = said.unwrap_or_default();
    String::from_utf8_lossy(&said).lines().next().unwrap_or_default().trim().to_owned()
}
