//! What can go wrong between two processes that talk over a channel.

use std::io;

use crate::token::{LONGEST_TOKEN, SHORTEST_TOKEN};

/// Every failure of this crate; the texts are complete sentences.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The standard library could not do something.
    #[error("could not {what}: {source}")]
    Io {
        /// What was tried, as the object of "could not".
        what: String,
        /// Why not.
        source: io::Error,
    },
    /// The operating system refused something.
    #[error(transparent)]
    System(#[from] sys::Error),
    /// A token that can be guessed, or that is no token.
    #[error("could not use that token: use one of {SHORTEST_TOKEN} to {LONGEST_TOKEN} characters")]
    BadToken,
    /// The server does not know our token.
    #[error("could not get in: the token is not the right one")]
    WrongToken,
    /// The server answered as if it knew the token, and does not.
    #[error("could not trust the other side: it does not know the token")]
    Impostor,
    /// The other side is of another version.
    #[error(
        "could not talk to the other side: it speaks version {theirs} and here is {ours}; use the same prony on both"
    )]
    Version {
        /// Version of the other side.
        theirs: u32,
        /// Version of this side.
        ours: u32,
    },
    /// The other side is another service of this program.
    #[error("could not talk to the other side: it is '{theirs}' of prony, not '{ours}'")]
    OtherService {
        /// What listens there.
        theirs: String,
        /// What was expected there.
        ours: &'static str,
    },
    /// What came is no message.
    #[error("could not understand the other side: {0}")]
    Protocol(String),
    /// A message is longer than allowed.
    #[error("could not take a message of {length} bytes: the longest has {most}")]
    TooLong {
        /// Bytes of the message.
        length: usize,
        /// Bytes allowed.
        most: usize,
    },
    /// A message fails its authentication.
    #[error("could not trust what came: it was changed, repeated, reordered or cut on its way")]
    Altered,
    /// The other side went away, or is too slow.
    #[error("could not reach the other side: {0}")]
    Gone(String),
    /// It did not prove itself in time.
    #[error("could not wait longer: it did not show in time that it knows the token")]
    Silent,
    /// It was the oldest of too many that had not proved themselves.
    #[error("could not wait longer: too many others came that had not shown either that they know the token")]
    Crowded,
    /// The Noise protocol could not be set up.
    #[error("could not set up encryption: {0}")]
    Encryption(String),
}

/// The result of every fallible function of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of the standard library with what was tried.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }

    pub(crate) fn gone(error: impl ToString) -> Self {
        Self::Gone(error.to_string())
    }
}
