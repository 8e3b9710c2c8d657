//! `epoll(7)`.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};

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
        let fd = epoll::create(CreateFlags::CLOEXEC).map_err(|error| Error::os("create an epoll", error))?;
        Ok(Self { fd, ready: vec![libc::epoll_event { events: 0, u64: 0 }; most.clamp(1, 1 << 20)] })
    }

    /// Watches a descriptor, which a wait identifies by `token`.
    pub fn add(&self, fd: impl AsFd, token: u64) -> Result<()> {
        let added = epoll::add(&self.fd, fd, EventData::new_u64(token), EventFlags::IN);
        added.map_err(|error| Error::os("watch a descriptor", error))
    }

    /// Stops watching a descriptor.
    pub fn remove(&self, fd: impl AsFd) -> Result<()> {
        epoll::delete(&self.fd, fd).map_err(|error| Error::os("watch a descriptor no longer", error))
    }

    /// Waits until a descriptor is readable, closed or broken, and returns the tokens of those. The limit `timeout` is
    /// rounded up to whole milliseconds; `None` waits without a limit.
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

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn what_can_be_read_wakes_an_epoll() {
        let pipes: Vec<_> = (0..3).map(|_| std::io::pipe().unwrap()).collect();
        let mut epoll = Epoll::new(8).unwrap();
        for (token, (from, _)) in pipes.iter().enumerate() {
            epoll.add(from, token as u64 + 10).unwrap();
        }
        assert_eq!(epoll.wait(Some(Duration::ZERO)).unwrap().len(), 0);
        (&pipes[2].1).write_all(b"x").unwrap();
        assert_eq!(epoll.wait(None).unwrap().collect::<Vec<_>>(), [12]);
        epoll.remove(&pipes[2].0).unwrap();
        assert_eq!(epoll.wait(Some(Duration::ZERO)).unwrap().len(), 0, "it is watched no longer");
        assert!(epoll.add(std::fs::File::open("/proc/self/status").unwrap(), 0).is_err());
    }
}
