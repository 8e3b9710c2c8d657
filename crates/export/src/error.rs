//! What can go wrong in exporting.

/// Why runs could not be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No format has that name.
    #[error("could not find an export format named '{name}': there are {known}")]
    Format {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// The output did not take the bytes.
    #[error("could not write the export: {0}")]
    Output(#[from] std::io::Error),
    /// A run contradicts itself.
    #[error("could not export run '{run}': {source}")]
    Run {
        /// Id of the run.
        run: String,
        /// What is wrong with it.
        source: model::Error,
    },
}

impl From<csv::Error> for Error {
    fn from(error: csv::Error) -> Self {
        Self::Output(error.into())
    }
}
