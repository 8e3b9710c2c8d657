//! `epoll(7)` and `eventfd(2)`.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

use crate::error::{Error, Result, check};
use crate::poll::millis;

/// Descriptors watched for reading. A closed descriptor is removed by the kernel.
#[derive(Debug)]
pub struct Epoll {
    fd: OwnedFd,
    ready: Vec<libc::epoll_event>,
}

impl Epoll {
    /// Watches no descriptor yet; a wait will return at most `most` descriptors (at least 1).
    pub fn new(most: usize) -> Result<Self> {
        // SAFETY: takes a number and accesses no memory of this process.
        let fd = check("create an epoll", unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        // SAFETY: the kernel has just returned this descriptor, and nothing else owns it.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Self { fd, ready: vec![libc::epoll_event { events: 0, u64: 0 }; most.clamp(1, 1 << 20)] })
    }

    /// Watches a descriptor, which a wait identifies by `token`.
    pub fn add(&self, fd: impl AsFd, token: u64) -> Result<()> {
        let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: token };
        // SAFETY: the structure is valid for the length of the call; both descriptors are open.
        let answer = unsafe {
            libc::epoll_ctl(self.fd.as_raw_fd(), libc::EPOLL_CTL_ADD, fd.as_fd().as_raw_fd(), &raw mut event)
        };
        check("watch a descriptor", answer).map(|_| ())
    }

    /// Watches a descriptor no longer.
    pub fn remove(&self, fd: impl AsFd) -> Result<()> {
        // SAFETY: both descriptors are open; the kernel ignores the event when one is removed (epoll_ctl(2)).
        let answer = unsafe {
            libc::epoll_ctl(
                self.fd.as_raw_fd(),
                libc::EPOLL_CTL_DEL,
                fd.as_fd().as_raw_fd(),
                std::ptr::null_mut::<libc::epoll_event>(),
            )
        };
        check("watch a descriptor no longer", answer).map(|_| ())
    }

    /// Waits for one to be readable, closed or broken, at most `timeout` in whole milliseconds, rounded up (`None`:
    /// without a limit), and returns the tokens of those that are.
    #[inline]
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<impl ExactSizeIterator<Item = u64>> {
        // SAFETY: pointer and length describe the vector, which the kernel may fill up to that length.
        let count = unsafe {
            libc::epoll_wait(self.fd.as_raw_fd(), self.ready.as_mut_ptr(), self.ready.len() as i32, millis(timeout))
        };
        let count = check("wait for descriptors", count)? as usize;
        Ok(self.ready[..count].iter().map(|event| event.u64))
    }
}

/// A counter that threads and processes wait for (`eventfd`).
#[derive(Debug)]
pub struct EventCounter(OwnedFd);

impl EventCounter {
    /// Starts at 0.
    pub fn new() -> Result<Self> {
        // SAFETY: takes numbers and accesses no memory of this process.
        let fd = check("create an event counter", unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) })?;
        // SAFETY: the kernel has just returned this descriptor, and nothing else owns it.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Adds to the counter and wakes waiting threads.
    #[inline]
    pub fn add(&self, count: u64) -> Result<()> {
        let len = size_of_val(&count);
        // SAFETY: the pointer is readable for the given length.
        let put = unsafe { libc::write(self.0.as_raw_fd(), (&raw const count).cast(), len) };
        if put == len as isize { Ok(()) } else { Err(Error::last("add to an event counter")) }
    }

    /// Waits until the counter is above 0, returns it, and resets it to 0.
    #[inline]
    pub fn take(&self) -> Result<u64> {
        let mut count = 0u64;
        let len = size_of_val(&count);
        // SAFETY: the pointer is writable for the given length.
        let got = unsafe { libc::read(self.0.as_raw_fd(), (&raw mut count).cast(), len) };
        if got == len as isize { Ok(count) } else { Err(Error::last("wait for an event counter")) }
    }
}

impl AsFd for EventCounter {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_wake_an_epoll() {
        let counters: Vec<_> = (0..3).map(|_| EventCounter::new().unwrap()).collect();
        let mut epoll = Epoll::new(8).unwrap();
        for (token, counter) in counters.iter().enumerate() {
            epoll.add(counter, token as u64 + 10).unwrap();
        }
        assert_eq!(epoll.wait(Some(Duration::ZERO)).unwrap().len(), 0);
        counters[2].add(5).unwrap();
        counters[2].add(1).unwrap();
        assert_eq!(epoll.wait(None).unwrap().collect::<Vec<_>>(), [12]);
        assert_eq!(counters[2].take().unwrap(), 6);
        epoll.remove(&counters[0]).unwrap();
        counters[0].add(1).unwrap();
        assert_eq!(epoll.wait(Some(Duration::ZERO)).unwrap().len(), 0, "it is watched no longer");
        assert!(epoll.add(std::fs::File::open("/proc/self/status").unwrap(), 0).is_err());
    }
}
