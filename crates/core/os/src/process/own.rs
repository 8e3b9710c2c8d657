//! What this process has of its own: its program, and tables of descriptors.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::thread::{UnshareFlags, unshare_unsafe};

use crate::error::{Error, Result};

/// Gives the calling thread a copy of the table of descriptors. Where threads share a table, each call counts the uses
/// of its file, which takes longer than small writes should. The thread may use files that were open before, and
/// must close none of these: they would stay open elsewhere.
pub fn own_descriptors() -> Result<()> {
    // SAFETY: a number that was open before names the same file in both tables, until this thread closes it.
    unsafe { unshare_unsafe(UnshareFlags::FILES) }.map_err(|error| Error::os("copy the table of descriptors", error))
}

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
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn a_thread_with_its_own_descriptors_uses_what_was_open_before() {
        let (mut from, mut to) = std::os::unix::net::UnixStream::pair().unwrap();
        let sent = std::thread::spawn(move || {
            let result = own_descriptors();
            from.write_all(b"sent").unwrap();
            (result, from)
        });
        let mut came = [0; 4];
        to.read_exact(&mut came).unwrap();
        let (result, from) = sent.join().unwrap();
        if let Err(reason) = result {
            testing::skip!("{reason}");
        }
        // It is still open here, whose table never lost it.
        assert_eq!(&came, b"sent");
        drop(from);
        assert_eq!(to.read(&mut came).unwrap(), 0);
    }

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
