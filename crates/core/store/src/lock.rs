//! One lock for each machine, so that two measurements at the same time are noticed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::{Error, words};

/// Longest note that is read, bytes.
const LONGEST: u64 = 4096;

/// The process that measures on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Process id as the holder sees it; another container has its own numbers.
    pub pid: u32,
    /// Start of its claim, RFC 3339 in UTC.
    pub since: String,
    /// Its purpose, in its own words.
    pub purpose: String,
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "process {} ({}) since {}", self.pid, words::one_line(&self.purpose), words::one_line(&self.since))
    }
}

/// Result of claiming the machine.
#[derive(Debug)]
pub enum Claim {
    /// No other process measures; the claim lasts as long as the value.
    Alone(MachineLock),
    /// Another process measures; its note, if readable.
    Taken(Option<Holder>),
}

/// A claim on the machine. The kernel releases it when the process ends.
#[derive(Debug)]
pub struct MachineLock {
    file: File,
}

/// Path of the lock file: `prony-machine.lock` in a directory that every user can write to, so that runs of two users
/// notice each other.
#[must_use]
pub fn machine_lock_path() -> PathBuf {
    ["/run/lock", "/var/lock", "/tmp"]
        .map(PathBuf::from)
        .into_iter()
        .find(|directory| world_writable(directory))
        .unwrap_or_else(std::env::temp_dir)
        .join("prony-machine.lock")
}

fn world_writable(directory: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(directory).is_ok_and(|found| found.is_dir() && found.permissions().mode() & 0o002 != 0)
}

impl MachineLock {
    /// Claims the machine by an advisory lock (flock(2)) on a file, and writes a note about the holder. It never waits.
    ///
    /// # Errors
    /// When the file cannot be created or locked. The caller may run without a claim then.
    pub fn claim(path: &Path, purpose: &str) -> Result<Claim, Error> {
        let refuse = |error: &io::Error| Error::io("lock", path, error);
        let mut file = open(path).map_err(|error| refuse(&error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Ok(Claim::Taken(holder(&mut file))),
            Err(fs::TryLockError::Error(error)) => return Err(refuse(&error)),
        }
        let note = Holder { pid: std::process::id(), since: now(), purpose: words::one_line(purpose) };
        // The lock holds without the note. If it cannot be written (another user's file, a full disk), only the warning
        // is shorter.
        let _ = write_note(&mut file, &note);
        Ok(Claim::Alone(Self { file }))
    }
}

impl Drop for MachineLock {
    fn drop(&mut self) {
        // The file is kept: removing it could separate two processes that lock it at this moment.
        let _ = self.file.set_len(0);
        let _ = self.file.unlock();
    }
}

/// Opens the file, or creates it for all users. It is opened first and created only if missing: in a directory with the
/// sticky bit, Linux refuses O_CREAT for a file that another user owns (fs.protected_regular). Links are not followed.
fn open(path: &Path) -> io::Result<File> {
    let known = options().read(true).write(true).open(path);
    let known = known.or_else(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => options().read(true).open(path),
        _ => Err(error),
    });
    match known {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            match options().read(true).write(true).create_new(true).open(path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    options().read(true).write(true).open(path)
                }
                made => made.inspect(make_world_writable),
            }
        }
        known => known,
    }
}

/// The present time by the second; where the clock is set beyond the dates that there are, that.
fn now() -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let date = i64::try_from(since).ok().and_then(|since| OffsetDateTime::from_unix_timestamp(since).ok());
    date.and_then(|date| date.format(&Rfc3339).ok()).unwrap_or_else(|| "a time that is no date".to_owned())
}

fn options() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = OpenOptions::new();
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    options.custom_flags(flags.bits().cast_signed());
    options
}

fn make_world_writable(file: &File) {
    use std::os::unix::fs::PermissionsExt;
    // The file mode creation mask would keep other users from writing their note.
    let _ = file.set_permissions(fs::Permissions::from_mode(0o666));
}

fn write_note(file: &mut File, note: &Holder) -> io::Result<()> {
    let mut text = serde_json::to_vec(note)?;
    text.push(b'\n');
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(&text)
}

fn holder(file: &mut File) -> Option<Holder> {
    let mut text = Vec::new();
    file.rewind().ok()?;
    file.take(LONGEST).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}
