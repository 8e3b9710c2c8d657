//! Starting this very program again.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The executable of the calling process, even if its file was replaced or removed (proc(5)).
const SELF: &str = "/proc/self/exe";

/// A command of a program. If that is this program, the running code is started, even if its file was replaced or
/// removed: a process of another version would measure something else.
#[must_use]
pub fn command_of(program: &OsStr) -> Command {
    if own_path().is_some_and(|own| own == Path::new(program)) {
        let mut command = Command::new(SELF);
        command.arg0(program);
        return command;
    }
    Command::new(program)
}

/// The path from which this process was started, without what Linux adds when the file is gone.
fn own_path() -> Option<PathBuf> {
    let link = std::fs::read_link(SELF).ok()?;
    let text = link.to_str()?;
    Some(text.strip_suffix(" (deleted)").map_or_else(|| link.clone(), PathBuf::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_program_is_started_by_its_name() {
        assert_eq!(command_of(OsStr::new("true")).get_program(), "true");
    }

    #[test]
    fn this_program_is_started_as_it_runs() {
        let own = std::env::current_exe().unwrap();
        assert_eq!(command_of(own.as_os_str()).get_program(), SELF);
        let listed = command_of(own.as_os_str()).arg("--list").output().unwrap();
        let text = String::from_utf8_lossy(&listed.stdout).into_owned();
        assert!(text.contains("this_program_is_started_as_it_runs: test"), "{text}");
    }
}
