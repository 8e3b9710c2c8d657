//! Operating systems without futexes that this crate knows.

use std::sync::atomic::AtomicU32;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::futex::Scope;

pub(super) fn wait(_: &AtomicU32, _: u32, _: Option<Duration>, _: Scope) -> Result<bool> {
    Err(Error::not_here("wait for a word of memory"))
}

pub(super) fn wake(_: &AtomicU32, _: u32, _: Scope) -> Result<u32> {
    Err(Error::not_here("wake who waits for a word of memory"))
}
