//! What can go wrong in a production run.

use std::io;
use std::path::{Path, PathBuf};

/// Every failure of this crate; the texts are complete sentences.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What was asked for makes no sense.
    #[error("could not do that: {0}")]
    Usage(String),
    /// A file could not be used.
    #[error("could not {what} {}: {source}", path.display())]
    File {
        /// What was tried.
        what: &'static str,
        /// Where.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The ledger could not be used.
    #[error("could not {what} the ledger {}: {reason}", path.display())]
    Ledger {
        /// What was tried.
        what: &'static str,
        /// Which ledger.
        path: PathBuf,
        /// Why not, and what to do.
        reason: String,
    },
    /// The system refused something.
    #[error("could not {what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// Why not.
        source: io::Error,
    },
    /// Between two machines.
    #[error(transparent)]
    Fleet(#[from] fleet::Error),
    /// The channel between coordinator and pilot.
    #[error(transparent)]
    Channel(#[from] channel::Error),
    /// The coordinator has no room for this pilot at the moment.
    #[error("could not be served: the coordinator has {connections} connections already")]
    Full {
        /// How many it has.
        connections: usize,
    },
    /// The operating system refused something.
    #[error(transparent)]
    System(#[from] sys::Error),
    /// The other side will not have it.
    #[error("could not go on with the coordinator: {0}")]
    Refused(String),
    /// The coordinator does not answer.
    #[error("could not reach the coordinator at {address} for {seconds:.0} s: {reason}")]
    Away {
        /// Where it should be.
        address: String,
        /// How long it was tried.
        seconds: f64,
        /// The last reason.
        reason: String,
    },
    /// A node could not be started.
    #[error("could not start {node}: {reason}")]
    Start {
        /// Which one.
        node: String,
        /// Why.
        reason: String,
    },
    /// The work itself.
    #[error("could not do the work: {0}")]
    Work(String),
    /// What must hold does not.
    #[error("could not vouch for the result: {0}")]
    Broken(String),
}

/// The result of every fallible function of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of the standard library at a path.
    pub(crate) fn file(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { what, path, source }
    }

    /// An error of the standard library with what was tried.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}
