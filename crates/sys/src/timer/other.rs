//! Operating systems whose absolute sleeps or timer descriptors this crate does not support.

use std::time::Duration;

use crate::error::{Error, Result};

pub(super) fn sleep_until(_nanos: u64) -> Result<()> {
    Err(Error::not_here("sleep until a time of the clock"))
}

pub(super) fn slack() -> Result<u64> {
    Err(Error::not_here("read the timer slack"))
}

/// A timer that fires every period.
#[derive(Debug)]
pub struct PeriodicTimer(());

impl PeriodicTimer {
    /// Not on this OS.
    pub fn start(_period: Duration) -> Result<Self> {
        Err(Error::not_here("start a timer"))
    }

    /// Not on this OS.
    pub fn wait(&self) -> Result<u64> {
        Err(Error::not_here("wait for a timer"))
    }
}
