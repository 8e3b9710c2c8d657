//! Errors of calls into the operating system.

use std::borrow::Cow;
use std::io;

/// All errors of this crate. The texts are complete sentences that name the attempted action.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused a call.
    #[error("could not {what}: {source}")]
    Os {
        /// The attempted action, as the object of "could not".
        what: Cow<'static, str>,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The call was not made, or its result not used, because a condition for it is not met.
    #[error("could not {what}: {why}")]
    Refused {
        /// The attempted action, as the object of "could not".
        what: Cow<'static, str>,
        /// The condition that is not met, and the remedy if one is known.
        why: String,
    },
}

/// The result of all fallible functions of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of the call that just failed, from `errno`. Allocates nothing for a literal `what`.
    #[must_use]
    pub fn last(what: impl Into<Cow<'static, str>>) -> Self {
        Self::os(what, io::Error::last_os_error())
    }

    /// An error that the standard library or `rustix` returned.
    #[must_use]
    pub fn os(what: impl Into<Cow<'static, str>>, source: impl Into<io::Error>) -> Self {
        Self::Os { what: what.into(), source: source.into() }
    }

    /// A condition that is not met.
    #[must_use]
    pub fn refused(what: impl Into<Cow<'static, str>>, why: impl Into<String>) -> Self {
        Self::Refused { what: what.into(), why: why.into() }
    }

    /// The number in `errno`, if the operating system returned one.
    #[must_use]
    pub fn errno(&self) -> Option<i32> {
        match self {
            Self::Os { source, .. } => source.raw_os_error(),
            Self::Refused { .. } => None,
        }
    }

    /// The kind in the standard library, if the operating system returned an error.
    #[must_use]
    pub fn kind(&self) -> Option<io::ErrorKind> {
        match self {
            Self::Os { source, .. } => Some(source.kind()),
            Self::Refused { .. } => None,
        }
    }
}

/// Converts "-1 and errno" to a result.
pub(crate) fn check(what: &'static str, answer: libc::c_int) -> Result<libc::c_int> {
    if answer == -1 { Err(Error::last(what)) } else { Ok(answer) }
}

/// The same for calls that return a number of bytes.
pub(crate) fn check_size(what: &'static str, answer: libc::ssize_t) -> Result<usize> {
    usize::try_from(answer).map_err(|_| Error::last(what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_complete_sentences() {
        let os = Error::os("open the door", io::Error::from_raw_os_error(libc::EACCES));
        assert!(os.to_string().starts_with("could not open the door: "));
        assert_eq!(os.errno(), Some(libc::EACCES));
        assert_eq!(os.kind(), Some(io::ErrorKind::PermissionDenied));
        assert_eq!(Error::refused("fork", "two threads run").to_string(), "could not fork: two threads run");
    }
}
