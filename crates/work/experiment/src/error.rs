//! Errors of an experiment.

use std::path::Path;

/// Why an experiment cannot begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file of the experiment itself.
    #[error("could not {what} {path}: {source}")]
    File {
        /// The attempted action.
        what: &'static str,
        /// The file.
        path: String,
        /// Why not.
        source: std::io::Error,
    },
    /// Another experiment changes this machine.
    #[error("could not begin: another experiment changes settings of this machine; wait for its end")]
    Busy,
    /// An earlier experiment left changes.
    #[error("could not begin: an experiment that was killed may have left settings changed; restore them with: {UNDO}")]
    Left,
    /// A setting did not take its value.
    #[error("could not set {title}: {reason}")]
    NotSet {
        /// The setting.
        title: String,
        /// Why not.
        reason: String,
    },
    /// The journal cannot be understood, so nothing was changed by it.
    #[error("could not restore by {path}: {reason}; look at the settings that it names, then remove it")]
    Journal {
        /// The journal.
        path: String,
        /// Why not.
        reason: String,
    },
    /// A request that cannot be fulfilled.
    #[error("{0}")]
    Request(String),
}

/// The command that restores what a killed experiment left.
pub const UNDO: &str = "prony experiment --undo";

impl Error {
    pub(crate) fn file(what: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::File { what, path: path.display().to_string(), source }
    }
}
