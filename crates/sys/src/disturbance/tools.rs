//! Programs that some figures need.

use std::env;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::disturbance::{Disturbance, note};

/// A program, and what is not to be had without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// What needs it.
    pub needed_by: &'static str,
}

const TOOLS: [Tool; 7] = [
    Tool { name: "sh", needed_by: "os.fork_shell and shell.script" },
    Tool { name: "cc", needed_by: "shell.compile" },
    Tool { name: "dc", needed_by: "shell.dc" },
    Tool { name: "ip", needed_by: "the network laboratory" },
    Tool { name: "tc", needed_by: "the network laboratory" },
    Tool { name: "ssh", needed_by: "runs on other machines over ssh" },
    Tool { name: "srun", needed_by: "runs on a Slurm cluster" },
];

/// Where a program is found, as a shell would find it.
#[must_use]
pub fn find_tool(name: &str) -> Option<PathBuf> {
    // Administrators' programs are often outside the path of users who may run them.
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain([PathBuf::from("/usr/sbin"), PathBuf::from("/sbin")]);
    folders
        .map(|folder| folder.join(name))
        .find(|file| file.metadata().is_ok_and(|entry| entry.is_file() && entry.permissions().mode() & 0o111 != 0))
}

/// Programs that some figures need and that are not found.
#[must_use]
pub fn missing_tools() -> Vec<Tool> {
    TOOLS.into_iter().filter(|tool| find_tool(tool.name).is_none()).collect()
}

pub(super) fn look(found: &mut Vec<Disturbance>) {
    for tool in missing_tools() {
        let seen = format!("There is no {}; it is needed for {}.", tool.name, tool.needed_by);
        found.push(note("tools", "PATH", seen, Some("Install it to measure those.")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_is_found_and_nonsense_is_not() {
        assert!(find_tool("sh").is_some());
        assert!(find_tool("no-such-program-anywhere").is_none());
        assert!(find_tool("").is_none());
        assert!(!missing_tools().iter().any(|tool| tool.name == "sh"));
    }
}
