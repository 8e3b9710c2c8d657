//! Errors of fitting trends.

/// Why dated values could not be read or fitted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A line is not a date with a value.
    #[error("could not read line {line} of the dated values: {reason}")]
    Line {
        /// Number of the line, from 1.
        line: usize,
        /// The error.
        reason: String,
    },
    /// A named column is missing.
    #[error("could not find the column '{name}' of the dated values; the columns are: {known}")]
    Column {
        /// The name that was asked for.
        name: String,
        /// Names of the columns.
        known: String,
    },
    /// Too many points.
    #[error("could not read line {line} of the dated values: there are more than {most}; keep fewer of them")]
    TooMany {
        /// Number of the line, from 1.
        line: usize,
        /// Most values that are read.
        most: usize,
    },
    /// Too few points.
    #[error(
        "could not fit a trend: only {points} dated values{window}; a trend needs at least {needed}, on different dates"
    )]
    TooFew {
        /// Number of points.
        points: usize,
        /// The window, in words that begin with a space; empty for all time.
        window: String,
        /// Number of points needed.
        needed: usize,
    },
    /// All points are of one date.
    #[error(
        "could not fit a trend: all {points} values{window} have the same date; a trend needs at least {needed}, on different dates"
    )]
    OneDate {
        /// Number of points.
        points: usize,
        /// The window, in words that begin with a space; empty for all time.
        window: String,
        /// Number of points needed.
        needed: usize,
    },
}
