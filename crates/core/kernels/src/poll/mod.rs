//! Waiting until descriptors are ready: `select`, `poll`, `epoll`, each one call on a set built before.

mod epoll;

pub use epoll::Epoll;

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::ptr;
use std::time::Duration;

use crate::error::{Error, Result, check};

/// Milliseconds for `poll` and `epoll_wait`: rounded up, so that a short wait is not omitted; -1 means no limit.
pub(crate) fn millis(timeout: Option<Duration>) -> i32 {
    timeout.map_or(-1, |time| i32::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(i32::MAX))
}

/// Descriptors to `select` for reading.
pub struct SelectSet<'fd> {
    wanted: libc::fd_set,
    past: RawFd,
    open: PhantomData<BorrowedFd<'fd>>,
}

impl<'fd> SelectSet<'fd> {
    /// An empty set.
    #[must_use]
    pub fn new() -> Self {
        // SAFETY: zeros are an empty fd_set on every system.
        Self { wanted: unsafe { MaybeUninit::zeroed().assume_init() }, past: 0, open: PhantomData }
    }

    /// Adds a descriptor, whose number must be below `FD_SETSIZE` (1024).
    pub fn add(&mut self, fd: BorrowedFd<'fd>) -> Result<()> {
        let fd = fd.as_raw_fd();
        if fd as usize >= libc::FD_SETSIZE {
            return Err(Error::refused("select a descriptor", format!("{fd} is not below {}", libc::FD_SETSIZE)));
        }
        // SAFETY: the set is initialised and the number within its bounds.
        unsafe { libc::FD_SET(fd, &raw mut self.wanted) };
        self.past = self.past.max(fd + 1);
        Ok(())
    }

    /// Waits for one to be readable, at most `timeout` (`None`: without a limit). Returns the number that are.
    #[inline]
    pub fn wait(&self, timeout: Option<Duration>) -> Result<usize> {
        let mut ready = self.wanted;
        let mut time =
            timeout.map(|time| libc::timeval { tv_sec: time.as_secs() as _, tv_usec: time.subsec_micros() as _ });
        let time = time.as_mut().map_or(ptr::null_mut(), ptr::from_mut);
        // SAFETY: the copied set and the time are valid for the call; the borrowed descriptors are still open.
        let answer = unsafe { libc::select(self.past, &raw mut ready, ptr::null_mut(), ptr::null_mut(), time) };
        check("select", answer).map(|count| count as usize)
    }
}

impl Default for SelectSet<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for SelectSet<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SelectSet").field("past", &self.past).finish()
    }
}

/// Waits until a descriptor can be read, or is closed or broken.
#[inline]
pub fn wait_readable(fd: BorrowedFd<'_>) -> Result<()> {
    let mut wanted = libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: the pointer is to one structure, and the borrowed descriptor is open.
    check("poll", unsafe { libc::poll(&raw mut wanted, 1, -1) }).map(|_| ())
}

/// Descriptors to `poll` for reading, or for writing.
#[derive(Default)]
pub struct PollSet<'fd> {
    wanted: Vec<libc::pollfd>,
    open: PhantomData<BorrowedFd<'fd>>,
}

impl<'fd> PollSet<'fd> {
    /// An empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a descriptor.
    pub fn add(&mut self, fd: BorrowedFd<'fd>) {
        self.wanted.push(libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 });
    }

    /// Adds a descriptor to be waited for until it accepts a write.
    pub fn add_writable(&mut self, fd: BorrowedFd<'fd>) {
        self.wanted.push(libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLOUT, revents: 0 });
    }

    /// Waits for one to be ready, closed or broken, at most `timeout` in whole milliseconds, rounded up (`None`:
    /// without a limit). Returns the number that are.
    #[inline]
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<usize> {
        // SAFETY: pointer and length describe the vector; the borrowed descriptors are still open.
        let answer =
            unsafe { libc::poll(self.wanted.as_mut_ptr(), self.wanted.len() as libc::nfds_t, millis(timeout)) };
        check("poll", answer).map(|count| count as usize)
    }

    /// Indices, in the order of adding, that were ready at the last wait.
    pub fn ready(&self) -> impl Iterator<Item = usize> {
        self.wanted.iter().enumerate().filter(|(_, one)| one.revents != 0).map(|(place, _)| place)
    }
}

impl std::fmt::Debug for PollSet<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PollSet").field("len", &self.wanted.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsFd;

    const NOW: Option<Duration> = Some(Duration::ZERO);

    #[test]
    fn select_and_poll_see_the_same() {
        let pipes: Vec<_> = (0..5).map(|_| std::io::pipe().unwrap()).collect();
        let (mut select, mut poll) = (SelectSet::new(), PollSet::new());
        for (from, _) in &pipes {
            select.add(from.as_fd()).unwrap();
            poll.add(from.as_fd());
        }
        assert_eq!((select.wait(NOW).unwrap(), poll.wait(NOW).unwrap()), (0, 0));
        for place in [1, 4] {
            (&pipes[place].1).write_all(b"x").unwrap();
        }
        assert_eq!((select.wait(None).unwrap(), poll.wait(None).unwrap()), (2, 2));
        assert_eq!(poll.ready().collect::<Vec<_>>(), [1, 4]);
    }

    #[test]
    fn waits_are_rounded_up() {
        assert_eq!(millis(None), -1);
        assert_eq!(millis(Some(Duration::from_micros(1))), 1);
        assert_eq!(millis(Some(Duration::MAX)), i32::MAX);
    }
}
