//! What can go wrong between machines.

use std::io;

/// Every failure of this crate; the texts are complete sentences.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused something.
    #[error(transparent)]
    System(#[from] sys::Error),
    /// The channel to the other side.
    #[error(transparent)]
    Channel(#[from] channel::Error),
    /// The standard library could not do something.
    #[error("could not {what}: {source}")]
    Io {
        /// What was tried, as the object of "could not".
        what: String,
        /// Why not.
        source: io::Error,
    },
    /// A laboratory cannot be built here.
    #[error("could not build the switch laboratory: {0}")]
    Lab(String),
    /// The other side said something that is no message, or too much.
    #[error("could not understand the other side: {0}")]
    Protocol(String),
    /// The other side will not do what was asked.
    #[error("could not have it done by the other side: {0}")]
    Refused(String),
    /// The other side went away or does not answer.
    #[error("could not reach the other side: {0}")]
    Gone(String),
    /// What was asked for makes no sense.
    #[error("could not do that: {0}")]
    Usage(String),
    /// A node of an event builder failed.
    #[error("could not go on without {node}: {reason}")]
    Node {
        /// Which one.
        node: String,
        /// Why.
        reason: String,
    },
    /// The run document could not be begun.
    #[error(transparent)]
    Measure(#[from] measure::Error),
    /// Somebody asked to stop.
    #[error("could not finish: stopped")]
    Stopped,
}

/// The result of every fallible function of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of the standard library with what was tried.
    pub fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}
