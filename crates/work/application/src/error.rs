//! Errors of measuring applications.

use std::path::PathBuf;

/// Errors before measuring. An error of one build or sample becomes a failed result instead.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The manifest is invalid.
    #[error("could not use the manifest {name}, line {line}: {reason}")]
    Manifest {
        /// Its path.
        name: String,
        /// Line, from 1.
        line: usize,
        /// The cause, and what to write.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("could not {what} {}: {source}", path.display())]
    File {
        /// The operation.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// No application has this name.
    #[error("could not find the application {name} in the manifest: it has {known}")]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// Names of the applications in the manifest.
        known: String,
    },
    /// A command line cannot be run.
    #[error("could not use the command '{command}': {reason}")]
    CommandLine {
        /// The command line.
        command: String,
        /// The cause.
        reason: String,
    },
    /// A command that runs around the timed one failed.
    #[error("{what} '{command}' {reason}")]
    Aside {
        /// The option that asked for it.
        what: String,
        /// The command line.
        command: String,
        /// The cause.
        reason: String,
    },
    /// The helper process failed.
    #[error("could not start a sample: {0}")]
    Helper(String),
    /// The run could not be started.
    #[error(transparent)]
    Measure(#[from] measure::Error),
    /// The run to be resumed is of another program.
    #[error("could not resume {run}: {application} is run by another command line than it began with")]
    Changed {
        /// The run.
        run: String,
        /// Its application.
        application: String,
    },
    /// The user asked to stop.
    #[error("could not finish: stopped")]
    Stopped,
    /// Too little data for a fit.
    #[error("could not fit {application} against {rating}: {reason}")]
    Fit {
        /// The application.
        application: String,
        /// The rating.
        rating: String,
        /// The cause.
        reason: String,
    },
    /// The sessions could not be run.
    #[error("could not run the sessions: {0}")]
    Sessions(String),
}
