//! Operating systems whose CPU masks this crate does not support.

use crate::error::{Error, Result};

pub(super) fn get() -> Result<Vec<usize>> {
    Err(Error::not_here("read the CPU affinity"))
}

pub(super) fn set(_cpus: &[usize]) -> Result<()> {
    Err(Error::not_here("pin to a CPU"))
}

pub(super) fn current() -> Result<usize> {
    Err(Error::not_here("learn the current CPU"))
}
