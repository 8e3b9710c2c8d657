//! One lock a machine, so that two measurements at once are noticed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::{Error, words};

/// Most bytes that are read of what the holder wrote.
const LONGEST: u64 = 4096;

/// Who measures on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Process id, as the holder sees it: another container counts on its own.
    pub pid: u32,
    /// Since when, RFC 3339 in UTC.
    pub since: String,
    /// What it does, in its own words.
    pub purpose: String,
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "process {} ({}) since {}", self.pid, words::one_line(&self.purpose), words::one_line(&self.since))
    }
}

/// What came of claiming the machine.
#[derive(Debug)]
pub enum Claim {
    /// Nobody else measures; the claim lasts as long as the value.
    Alone(MachineLock),
    /// Somebody else does; who, when it can be read.
    Taken(Option<Holder>),
}

/// The claim on a machine. The system ends it with the process, however that ends.
#[derive(Debug)]
pub struct MachineLock {
    file: File,
}

/// The file that is locked: `prony-machine.lock` where every user of the machine may write, so that runs of two users
/// notice each other.
#[must_use]
pub fn machine_lock_path() -> PathBuf {
    ["/run/lock", "/var/lock", "/tmp"]
        .map(PathBuf::from)
        .into_iter()
        .find(|directory| for_everybody(directory))
        .unwrap_or_else(std::env::temp_dir)
        .join("prony-machine.lock")
}

#[cfg(unix)]
fn for_everybody(directory: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(directory).is_ok_and(|found| found.is_dir() && found.permissions().mode() & 0o002 != 0)
}

#[cfg(not(unix))]
fn for_everybody(_: &Path) -> bool {
    false
}

impl MachineLock {
    /// Claims the machine by an advisory lock (flock(2)) on a file, and writes down who holds it and what for. It never
    /// waits.
    ///
    /// # Errors
    /// When the file cannot be made or locked: then nobody knows, and a run need not be refused for it.
    pub fn claim(path: &Path, purpose: &str) -> Result<Claim, Error> {
        let refuse = |error: &io::Error| Error::io("lock", path, error);
        let mut file = open(path).map_err(|error| refuse(&error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Ok(Claim::Taken(holder(&mut file))),
            Err(fs::TryLockError::Error(error)) => return Err(refuse(&error)),
        }
        let now = OffsetDateTime::now_utc();
        let since = now.replace_nanosecond(0).unwrap_or(now).format(&Rfc3339).unwrap_or_default();
        let note = Holder { pid: std::process::id(), since, purpose: words::one_line(purpose) };
        // The lock holds without the note; a file of another user, or a full disk, only makes the warning shorter.
        let _ = write_note(&mut file, &note);
        Ok(Claim::Alone(Self { file }))
    }
}

impl Drop for MachineLock {
    fn drop(&mut self) {
        // The file stays: removing it could part two processes that lock it at this moment.
        let _ = self.file.set_len(0);
        let _ = self.file.unlock();
    }
}

/// Opens the file, or makes it for everybody. It is opened first and made only when missing: in a directory with the sticky
/// bit Linux refuses to "create" a file that another user owns (fs.protected_regular). Links are not followed.
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
                made => made.inspect(open_to_everybody),
            }
        }
        known => known,
    }
}

#[cfg(unix)]
fn options() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = OpenOptions::new();
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    options.custom_flags(flags.bits().cast_signed());
    options
}

#[cfg(not(unix))]
fn options() -> OpenOptions {
    OpenOptions::new()
}

#[cfg(unix)]
fn open_to_everybody(file: &File) {
    use std::os::unix::fs::PermissionsExt;
    // The file mode creation mask would keep other users from writing their note.
    let _ = file.set_permissions(fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn open_to_everybody(_: &File) {}

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
