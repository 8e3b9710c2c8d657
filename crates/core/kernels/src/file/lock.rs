//! Record locks (`fcntl(2)`): advisory, of one process, on a range of bytes.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use crate::error::{Error, Result, check};

/// The processes that a lock excludes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lock {
    /// Writers.
    Shared,
    /// All processes.
    Exclusive,
}

/// Locks (or with `None` releases) `len` bytes (0: to the end, including later growth) from `start`, waiting for other
/// processes without a limit. Locks of the same process never conflict.
#[inline]
pub fn set_lock(fd: BorrowedFd<'_>, kind: Option<Lock>, start: u64, len: u64) -> Result<()> {
    let number =
        |n: u64| i64::try_from(n).map_err(|_| Error::refused("lock a part of a file", format!("{n} is too large")));
    let kind = match kind {
        Some(Lock::Shared) => libc::F_RDLCK,
        Some(Lock::Exclusive) => libc::F_WRLCK,
        None => libc::F_UNLCK,
    };
    set(fd, kind, number(start)?, number(len)?)
}

/// The types of lock have different integer types on different systems.
fn set(fd: BorrowedFd<'_>, kind: impl Into<i32>, start: i64, len: i64) -> Result<()> {
    // SAFETY: zeros are a valid flock.
    let mut region: libc::flock = unsafe { std::mem::zeroed() };
    region.l_type = kind.into() as _;
    region.l_whence = libc::SEEK_SET as _;
    region.l_start = start as libc::off_t;
    region.l_len = len as libc::off_t;
    // SAFETY: the structure is valid for the length of the call; the descriptor is open for the borrow.
    let answer = unsafe { libc::fcntl(fd.as_fd().as_raw_fd(), libc::F_SETLKW, &raw const region) };
    check("lock a part of a file", answer).map(|_| ())
}
