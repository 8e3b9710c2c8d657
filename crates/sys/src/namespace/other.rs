//! Operating systems without namespaces.

use std::os::fd::AsFd;

use crate::error::{Error, Result};
use crate::namespace::Kind;

pub(super) fn enter(_namespace: impl AsFd, _kind: Kind) -> Result<()> {
    Err(Error::not_here("enter a namespace"))
}

pub(super) fn leave(_kinds: &[Kind]) -> Result<()> {
    Err(Error::not_here("make a namespace"))
}
