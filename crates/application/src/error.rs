//! Why an application could not be measured.

use std::path::PathBuf;

/// What went wrong before anything could be measured. What goes wrong with one build or one launch is a failed figure instead.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The manifest says something that cannot be.
    #[error("could not use the manifest {name}, line {line}: {reason}")]
    Manifest {
        /// Its path.
        name: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong and what to write.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("could not {what} {}: {source}", path.display())]
    File {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// No application of that name.
    #[error("could not find the application {name} in the manifest: it has {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// Those there are.
        known: String,
    },
    /// The helper process went wrong.
    #[error("could not start a launch: {0}")]
    Helper(String),
    /// The run could not be begun.
    #[error(transparent)]
    Measure(#[from] measure::Error),
    /// Somebody asked to stop.
    #[error("could not go on: stopped")]
    Stopped,
    /// Too little to fit.
    #[error("could not fit {application} against {rating}: {reason}")]
    Fit {
        /// The application.
        application: String,
        /// The rating.
        rating: String,
        /// Why.
        reason: String,
    },
    /// Many sessions could not be run.
    #[error("could not run the sessions: {0}")]
    Sessions(String),
}
