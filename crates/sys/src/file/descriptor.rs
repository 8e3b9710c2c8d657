//! Single system calls on an open descriptor. Nothing is retried: the caller sees a short or interrupted call.

use std::os::fd::{AsFd, AsRawFd};

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

/// Makes contents durable, and only the metadata needed to read them (`fdatasync`, if available).
#[inline]
pub fn sync_data(fd: impl AsFd) -> Result<()> {
    #[cfg(target_vendor = "apple")]
    return sync(fd);
    #[cfg(not(target_vendor = "apple"))]
    // SAFETY: the descriptor is open for the borrow.
    check("make the contents durable", unsafe { libc::fdatasync(fd.as_fd().as_raw_fd()) }).map(|_| ())
}

/// Expected use of a file (`posix_fadvise`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// No particular use.
    Normal,
    /// Sequential reading.
    Sequential,
    /// Random reading.
    Random,
    /// Needed soon: the kernel reads ahead.
    WillNeed,
    /// Not needed: clean pages leave the page cache.
    DontNeed,
}

/// Advises the kernel about a whole file.
#[cfg(any(target_os = "linux", target_os = "freebsd"))]
pub fn advise(fd: impl AsFd, advice: Advice) -> Result<()> {
    let advice = match advice {
        Advice::Normal => libc::POSIX_FADV_NORMAL,
        Advice::Sequential => libc::POSIX_FADV_SEQUENTIAL,
        Advice::Random => libc::POSIX_FADV_RANDOM,
        Advice::WillNeed => libc::POSIX_FADV_WILLNEED,
        Advice::DontNeed => libc::POSIX_FADV_DONTNEED,
    };
    // SAFETY: takes numbers; the descriptor is open for the borrow.
    match unsafe { libc::posix_fadvise(fd.as_fd().as_raw_fd(), 0, 0, advice) } {
        0 => Ok(()),
        errno => Err(Error::os("advise the kernel about a file", std::io::Error::from_raw_os_error(errno))),
    }
}

/// Advises the kernel about a whole file.
#[cfg(not(any(target_os = "linux", target_os = "freebsd")))]
pub fn advise(_fd: impl AsFd, _advice: Advice) -> Result<()> {
    Err(Error::not_here("advise the kernel about a file"))
}

/// Requests a pipe capacity and returns the actual one, which is no smaller. The limit for unprivileged users is
/// `/proc/sys/fs/pipe-max-size`.
#[cfg(target_os = "linux")]
pub fn set_pipe_capacity(fd: impl AsFd, bytes: usize) -> Result<usize> {
    const WHAT: &str = "change the capacity of a pipe";
    let bytes =
        libc::c_int::try_from(bytes).map_err(|_| Error::refused(WHAT, format!("{bytes} bytes are too many")))?;
    // SAFETY: takes a number; the descriptor is open for the borrow.
    let got = check(WHAT, unsafe { libc::fcntl(fd.as_fd().as_raw_fd(), libc::F_SETPIPE_SZ, bytes) })?;
    Ok(got as usize)
}

/// Requests a pipe capacity and returns the actual one.
#[cfg(not(target_os = "linux"))]
pub fn set_pipe_capacity(_fd: impl AsFd, _bytes: usize) -> Result<usize> {
    Err(Error::not_here("change the capacity of a pipe"))
}
