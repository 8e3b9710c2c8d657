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
}
