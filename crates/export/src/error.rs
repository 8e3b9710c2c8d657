//! Errors of exporting runs.

/// Why runs could not be exported.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No format has this name.
    #[error("could not find an export format named '{name}': there are {known}")]
    Format {
        /// The name that was asked for.
        name: String,
        /// Names of all formats.
        known: String,
    },
    /// Writing failed.
    #[error("could not write the export: {0}")]
    Output(#[from] std::io::Error),
    /// A run contradicts itself.
    #[error("could not export run '{run}': {source}")]
    Run {
        /// Id of the run.
        run: String,
        /// The error.
        source: model::Error,
    },
}

impl From<csv::Error> for Error {
    fn from(error: csv::Error) -> Self {
        Self::Output(error.into())
    }
}
