//! Errors of calls into the operating system, as the kernels return them.

pub use kernels::{Error, Result};

/// The result of a call that returns -1 after an error.
pub(crate) fn check(what: &'static str, answer: libc::c_int) -> Result<libc::c_int> {
    if answer == -1 { Err(Error::last(what)) } else { Ok(answer) }
}
