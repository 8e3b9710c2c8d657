//! Why no trend can be fitted.

/// Why dated values could not be read or fitted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A line is no date with a value.
    #[error("could not read line {line} of the dated values: {reason}")]
    Line {
        /// Number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A named column is missing.
    #[error("could not find the column '{name}' of the dated values; the columns are: {known}")]
    Column {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// Too few points.
    #[error(
        "could not fit a trend: {points} dated values {window}, and at least {needed} at different dates are needed"
    )]
    TooFew {
        /// How many there are.
        points: usize,
        /// In which window, in words.
        window: String,
        /// How many are needed.
        needed: usize,
    },
}
