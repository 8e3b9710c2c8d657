//! Operating systems without epoll and eventfd.

use std::os::fd::AsFd;
use std::time::Duration;

use crate::error::{Error, Result};

/// Descriptors watched for reading.
#[derive(Debug)]
pub struct Epoll(());

impl Epoll {
    /// Not on this OS.
    pub fn new(_most: usize) -> Result<Self> {
        Err(Error::not_here("make an epoll"))
    }

    /// Not on this OS.
    pub fn add(&self, _fd: impl AsFd, _token: u64) -> Result<()> {
        Err(Error::not_here("watch a descriptor"))
    }

    /// Not on this OS.
    pub fn remove(&self, _fd: impl AsFd) -> Result<()> {
        Err(Error::not_here("watch a descriptor no longer"))
    }

    /// Not on this OS.
    pub fn wait(&mut self, _timeout: Option<Duration>) -> Result<impl ExactSizeIterator<Item = u64>> {
        Err::<std::iter::Empty<u64>, _>(Error::not_here("wait for descriptors"))
    }
}

/// A counter that threads and processes wait for.
#[derive(Debug)]
pub struct EventCounter(());

impl EventCounter {
    /// Not on this OS.
    pub fn new() -> Result<Self> {
        Err(Error::not_here("create an event counter"))
    }

    /// Not on this OS.
    pub fn add(&self, _count: u64) -> Result<()> {
        Err(Error::not_here("add to an event counter"))
    }

    /// Not on this OS.
    pub fn take(&self) -> Result<u64> {
        Err(Error::not_here("wait for an event counter"))
    }
}
