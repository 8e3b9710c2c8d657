//! Errors of measurements between machines.

use std::io;

/// Every failure of this crate; the texts complete "could not ..." sentences.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused something.
    #[error(transparent)]
    System(#[from] kernels::Error),
    /// An error of the channel to the other side.
    #[error(transparent)]
    Channel(#[from] channel::Error),
    /// An I/O error of the standard library.
    #[error("could not {what}: {source}")]
    Io {
        /// The attempted action, as the object of "could not".
        what: String,
        /// The cause.
        source: io::Error,
    },
    /// A laboratory cannot be built here.
    #[error("could not build the switch laboratory: {0}")]
    Lab(String),
    /// A message is malformed or too long.
    #[error("could not understand the other side: {0}")]
    Protocol(String),
    /// The other side refused the request.
    #[error("could not do it: the other side refused: {0}")]
    Refused(String),
    /// The other side has disconnected or does not answer.
    #[error("could not reach the other side: {0}")]
    Gone(String),
    /// The request makes no sense.
    #[error("could not do that: {0}")]
    Usage(String),
    /// This system lacks what the measurement needs.
    #[error("could not measure it here: {0}")]
    Lacking(String),
    /// The received payload differs from the sent one: a failed check.
    #[error("could not trust the payload: {0}")]
    Payload(String),
    /// A node of an event builder failed.
    #[error("could not continue without {node}: {reason}")]
    Node {
        /// The node.
        node: String,
        /// The cause.
        reason: String,
    },
    /// The run document could not be created.
    #[error(transparent)]
    Measure(#[from] measure::Error),
    /// The user asked to stop.
    #[error("could not finish: stopped")]
    Stopped,
}

/// The result of every fallible function of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An I/O error with the attempted action.
    pub fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}
