//! Operating systems whose event counters this crate does not support.

use crate::counters::{Count, Event};
use crate::error::{Error, Result};

#[derive(Debug)]
pub(super) struct Counter;

impl Counter {
    pub(super) fn open(_event: Event, _thread: i32) -> Result<Self> {
        Err(Error::not_here("count events"))
    }

    pub(super) fn read(&self) -> Result<Count> {
        Err(Error::not_here("count events"))
    }
}
