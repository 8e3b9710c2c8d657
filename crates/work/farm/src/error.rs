//! Errors of a production run.

use std::io;
use std::path::{Path, PathBuf};

/// Every failure of this crate; the texts complete "could not ..." sentences.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request makes no sense.
    #[error("could not do that: {0}")]
    Usage(String),
    /// A file could not be used.
    #[error("could not {what} {}: {source}", path.display())]
    File {
        /// The operation.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The ledger could not be used.
    #[error("could not {what} the ledger {}: {reason}", path.display())]
    Ledger {
        /// The operation.
        what: &'static str,
        /// The ledger.
        path: PathBuf,
        /// The cause, and what to do.
        reason: String,
    },
    /// The operating system refused an operation.
    #[error("could not {what}: {source}")]
    Io {
        /// The operation.
        what: String,
        /// The cause.
        source: io::Error,
    },
    /// An error of the connection between two machines.
    #[error(transparent)]
    Fleet(#[from] launcher::Error),
    /// An error of the channel between coordinator and pilot.
    #[error(transparent)]
    Channel(#[from] channel::Error),
    /// The coordinator has no room for this pilot at the moment.
    #[error("could not be served: the coordinator has {connections} connections already")]
    Full {
        /// Connections it has.
        connections: usize,
    },
    /// The operating system refused something.
    #[error(transparent)]
    System(#[from] kernels::Error),
    /// The other side refused.
    #[error("could not work with the coordinator: {0}")]
    Refused(String),
    /// A pilot sent what its coordinator does not accept.
    #[error("could not work with this pilot: {0}")]
    Pilot(String),
    /// The coordinator does not answer.
    #[error("could not reach the coordinator at {address} for {seconds:.0} s: {reason}")]
    Away {
        /// Its address.
        address: String,
        /// Seconds for which it was tried.
        seconds: f64,
        /// The last error.
        reason: String,
    },
    /// A node could not be started.
    #[error("could not start {node}: {reason}")]
    Start {
        /// The node.
        node: String,
        /// The cause.
        reason: String,
    },
    /// The work failed.
    #[error("could not do the work: {0}")]
    Work(String),
    /// An invariant does not hold.
    #[error("could not verify the result: {0}")]
    Broken(String),
}

/// The result of every fallible function of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An I/O error at a path.
    pub(crate) fn file(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { what, path, source }
    }

    /// An I/O error with the operation that failed.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}
