//! Errors of two processes that communicate over a channel.

use std::io;

/// Fewest characters of a token.
pub(crate) const SHORTEST_TOKEN: usize = 16;
/// Most characters of a token.
pub(crate) const LONGEST_TOKEN: usize = 256;

/// Every failure of this crate; the texts complete "could not ..." sentences.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An I/O error of the standard library.
    #[error("could not {what}: {source}")]
    Io {
        /// The attempted action, as the object of "could not".
        what: String,
        /// The cause.
        source: io::Error,
    },
    /// The operating system refused something.
    #[error(transparent)]
    System(#[from] kernels::Error),
    /// A token that is too short, so that it can be guessed, or too long.
    #[error("could not use that token: use one of {SHORTEST_TOKEN} to {LONGEST_TOKEN} characters")]
    BadToken,
    /// The server does not know the client's token.
    #[error("could not connect: the token is wrong")]
    WrongToken,
    /// The server claimed to know the token and does not.
    #[error("could not trust the other side: it does not know the token")]
    Impostor,
    /// The other side has another version.
    #[error(
        "could not talk to the other side: it has version {theirs}, this side has {ours}; use the same prony on both"
    )]
    Version {
        /// Version of the other side.
        theirs: u32,
        /// Version of this side.
        ours: u32,
    },
    /// The other side is another service of this program.
    #[error("could not talk to the other side: it is prony's service '{theirs}', not '{ours}'")]
    OtherService {
        /// The service that listens there.
        theirs: String,
        /// The service that was expected.
        ours: &'static str,
    },
    /// The bytes received are malformed.
    #[error("could not understand the other side: {0}")]
    Protocol(String),
    /// A message is longer than allowed.
    #[error("could not take a message of {length} bytes: the limit is {most}")]
    TooLong {
        /// Length of the message, bytes.
        length: usize,
        /// Longest message allowed, bytes.
        most: usize,
    },
    /// A message fails its authentication.
    #[error("could not trust the message: it was changed, repeated, reordered or cut on its way")]
    Altered,
    /// The other side has disconnected, or is too slow.
    #[error("could not reach the other side: {0}")]
    Gone(String),
    /// The client did not authenticate in time.
    #[error("could not wait longer: the client did not prove in time that it knows the token")]
    Silent,
    /// The client was the oldest of too many that had not authenticated.
    #[error("could not wait longer: too many clients have not proved yet that they know the token")]
    Crowded,
    /// The Noise protocol could not be set up.
    #[error("could not set up encryption: {0}")]
    Encryption(String),
}

/// The result of every fallible function of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An I/O error with the attempted action.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }

    pub(crate) fn gone(error: impl ToString) -> Self {
        Self::Gone(error.to_string())
    }
}
