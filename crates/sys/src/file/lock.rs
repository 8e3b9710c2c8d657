//! Record locks (`fcntl(2)`): advisory, of one process, on a range of bytes.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use crate::error::{Error, Result, check};

/// What a lock keeps out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lock {
    /// Writers.
    Shared,
    /// Everybody.
    Exclusive,
}

/// A held lock. Dropped, it is given back; closing any descriptor of the file gives it back too.
#[derive(Debug)]
pub struct RecordLock<'fd> {
    fd: BorrowedFd<'fd>,
    start: i64,
    len: i64,
}

/// Locks `len` bytes (0: to the end, however far it grows) from `start`. Waits for others where `wait` says so, else
/// answers `None` when somebody is in the way. Locks of one process never get in each other's way.
pub fn lock_region(fd: BorrowedFd<'_>, kind: Lock, start: u64, len: u64, wait: bool) -> Result<Option<RecordLock<'_>>> {
    const WHAT: &str = "lock a part of a file";
    let number = |n: u64| i64::try_from(n).map_err(|_| Error::refused(WHAT, format!("{n} is too large")));
    let (start, len) = (number(start)?, number(len)?);
    let kind = match kind {
        Lock::Shared => libc::F_RDLCK,
        Lock::Exclusive => libc::F_WRLCK,
    };
    match set(fd, kind, start, len, wait) {
        Ok(()) => Ok(Some(RecordLock { fd, start, len })),
        Err(error) if !wait && matches!(error.errno(), Some(libc::EACCES | libc::EAGAIN)) => Ok(None),
        Err(error) => Err(error),
    }
}

impl Drop for RecordLock<'_> {
    fn drop(&mut self) {
        // Giving back needs no memory and no permission; nothing is left to do if it fails.
        let _ = set(self.fd, libc::F_UNLCK, self.start, self.len, false);
    }
}

/// The bare call: locks (or with `None` gives back) `len` bytes from `start`, waiting for others as long as it takes. For
/// locks that are handed over rather than held by a scope.
#[inline]
pub fn set_lock(fd: BorrowedFd<'_>, kind: Option<Lock>, start: u64, len: u64) -> Result<()> {
    let number =
        |n: u64| i64::try_from(n).map_err(|_| Error::refused("lock a part of a file", format!("{n} is too large")));
    let kind = match kind {
        Some(Lock::Shared) => libc::F_RDLCK,
        Some(Lock::Exclusive) => libc::F_WRLCK,
        None => libc::F_UNLCK,
    };
    set(fd, kind, number(start)?, number(len)?, true)
}

/// The kinds are of different integer types from system to system.
fn set(fd: BorrowedFd<'_>, kind: impl Into<i32>, start: i64, len: i64, wait: bool) -> Result<()> {
    // SAFETY: zeros are a valid flock.
    let mut region: libc::flock = unsafe { std::mem::zeroed() };
    region.l_type = kind.into() as _;
    region.l_whence = libc::SEEK_SET as _;
    region.l_start = start as libc::off_t;
    region.l_len = len as libc::off_t;
    let command = if wait { libc::F_SETLKW } else { libc::F_SETLK };
    // SAFETY: the structure is valid for the length of the call; the descriptor is open for the borrow.
    let answer = unsafe { libc::fcntl(fd.as_fd().as_raw_fd(), command, &raw const region) };
    check("lock a part of a file", answer).map(|_| ())
}
