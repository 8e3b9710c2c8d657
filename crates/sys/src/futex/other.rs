//! Operating systems whose futexes this crate does not support.

use std::sync::atomic::AtomicU32;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::futex::Scope;

pub(super) fn wait(_: &AtomicU32, _: u32, _: Option<Duration>, _: Scope) -> Result<bool> {
    Err(Error::not_here("wait for a word of memory"))
}

pub(super) fn wake(_: &AtomicU32, _: u32, _: Scope) -> Result<u32> {
    Err(Error::not_here("wake threads that wait for a word of memory"))
}
