//! Locks of ledgers.

use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{Error, Result};

/// How long a lock is waited for that a child holds which another process has just forked: it lets go when it begins
/// its own program.
const INHERITED: Duration = Duration::from_millis(1000);

/// The file whose lock says that a coordinator writes to a ledger.
pub(super) fn lock_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}

/// Device and inode of a file.
pub(super) fn inode(path: &Path) -> std::io::Result<(u64, u64)> {
    std::fs::metadata(path).map(|found| (found.dev(), found.ino()))
}

/// Locks the ledger for one writer; the kernel releases the lock when the process ends.
pub(super) fn claim(path: &Path) -> Result<std::fs::File> {
    let place = lock_path(path);
    let file = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&place)
        .map_err(Error::file("lock the ledger by", &place))?;
    let began = std::time::Instant::now();
    let mut locked = file.try_lock();
    while matches!(locked, Err(std::fs::TryLockError::WouldBlock)) && began.elapsed() < INHERITED {
        kernels::timer::sleep(Duration::from_millis(20));
        locked = file.try_lock();
    }
    match locked {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(Error::Ledger {
            what: "open",
            path: path.to_owned(),
            reason: "another coordinator writes to it".to_owned(),
        }),
        Err(std::fs::TryLockError::Error(error)) => Err(Error::file("lock the ledger by", &place)(error)),
    }
}
