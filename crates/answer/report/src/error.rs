//! Errors of rendering a report.

/// Why a report could not be rendered.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Writing to the output failed.
    #[error("could not write the report: {0}")]
    Write(#[from] std::io::Error),
    /// The report's data cannot be written as JSON.
    #[error("could not write the report's data as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A record of the report cannot be written as CSV.
    #[error("could not write the report's records as CSV: {0}")]
    Csv(#[from] csv::Error),
    /// No format has this name.
    #[error("could not find a format named '{name}'; choose one of {known}")]
    Format {
        /// The name that was asked for.
        name: String,
        /// Names of all formats.
        known: String,
    },
}
