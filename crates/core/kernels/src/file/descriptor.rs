//! Single system calls on an open descriptor. Nothing is retried: the caller sees a short or interrupted call.

use std::os::fd::{AsFd, AsRawFd};

pub use rustix::fs::Advice;

use crate::error::{Error, Result, check, check_size};

/// Reads at most `buffer.len()` bytes; 0 at the end.
#[inline]
pub fn read(fd: impl AsFd, buffer: &mut [u8]) -> Result<usize> {
    // SAFETY: the buffer is writable for its length; the descriptor is open for the borrow.
    check_size("read", unsafe { libc::read(fd.as_fd().as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) })
}

/// Writes at most `buffer.len()` bytes.
#[inline]
pub fn write(fd: impl AsFd, buffer: &[u8]) -> Result<usize> {
    // SAFETY: the buffer is readable for its length; the descriptor is open for the borrow.
    check_size("write", unsafe { libc::write(fd.as_fd().as_raw_fd(), buffer.as_ptr().cast(), buffer.len()) })
}

/// Reads at an offset, without changing the file position.
#[inline]
pub fn read_at(fd: impl AsFd, buffer: &mut [u8], offset: u64) -> Result<usize> {
    let offset = position(offset)?;
    // SAFETY: the buffer is writable for its length; the descriptor is open for the borrow.
    check_size("read", unsafe { libc::pread(fd.as_fd().as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), offset) })
}

/// Writes at an offset, without changing the file position.
#[inline]
pub fn write_at(fd: impl AsFd, buffer: &[u8], offset: u64) -> Result<usize> {
    let offset = position(offset)?;
    // SAFETY: the buffer is readable for its length; the descriptor is open for the borrow.
    check_size("write", unsafe { libc::pwrite(fd.as_fd().as_raw_fd(), buffer.as_ptr().cast(), buffer.len(), offset) })
}

fn position(offset: u64) -> Result<libc::off_t> {
    libc::off_t::try_from(offset).map_err(|_| Error::refused("reach the offset", format!("{offset} is too large")))
}

/// Makes contents and metadata of a file or folder durable (`fsync`).
#[inline]
pub fn sync(fd: impl AsFd) -> Result<()> {
    // SAFETY: the descriptor is open for the borrow.
    check("make the file durable", unsafe { libc::fsync(fd.as_fd().as_raw_fd()) }).map(|_| ())
}

/// Makes contents durable, and only the metadata needed to read them (`fdatasync`).
#[inline]
pub fn sync_data(fd: impl AsFd) -> Result<()> {
    // SAFETY: the descriptor is open for the borrow.
    check("make the contents durable", unsafe { libc::fdatasync(fd.as_fd().as_raw_fd()) }).map(|_| ())
}

/// Advises the kernel about the use of a whole file (`posix_fadvise`).
pub fn advise(fd: impl AsFd, advice: Advice) -> Result<()> {
    rustix::fs::fadvise(fd, 0, None, advice).map_err(|error| Error::os("advise the kernel about a file", error))
}

/// Requests a pipe capacity and returns the actual one, which is no smaller. The limit for unprivileged users is
/// `/proc/sys/fs/pipe-max-size`.
pub fn set_pipe_capacity(fd: impl AsFd, bytes: usize) -> Result<usize> {
    rustix::pipe::fcntl_setpipe_size(fd, bytes).map_err(|error| Error::os("change the capacity of a pipe", error))
}
