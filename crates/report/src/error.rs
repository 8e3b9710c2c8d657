//! Why a report could not be drawn.

/// Why a report could not be drawn.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The output refused bytes.
    #[error("could not write the report: {0}")]
    Write(#[from] std::io::Error),
    /// The data behind the report cannot be written as JSON.
    #[error("could not write the report's data as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A record of the report cannot be written as CSV.
    #[error("could not write the report's records as CSV: {0}")]
    Csv(#[from] csv::Error),
    /// The drawing library refused a chart.
    #[error("could not draw a chart: {0}")]
    Chart(String),
    /// Not a format's name.
    #[error("could not find a format named '{name}'; choose one of {known}")]
    Format {
        /// What was asked for.
        name: String,
        /// Every name.
        known: String,
    },
}
