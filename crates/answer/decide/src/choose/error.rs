//! Errors of choosing.

/// Why a choice could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text is invalid.
    #[error("could not read the offers and the demand: line {line}, column {column}: {reason}")]
    Text {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// The error, and what to write instead.
        reason: String,
    },
    /// An application has no rate on an offer.
    #[error(
        "could not find the rate of '{application}' on '{offer}' (line {line}): give the rate, name a run that has \
         it, or give runs to predict it from{why}"
    )]
    NoRate {
        /// The offer.
        offer: String,
        /// The application.
        application: String,
        /// Line of the offer.
        line: usize,
        /// Why the runs give no rate, with a separator before it, or an empty text.
        why: String,
    },
    /// The solver failed.
    #[error("could not solve the choice: {0}")]
    Solver(String),
    /// Too few machines for an evaluation.
    #[error(
        "could not evaluate choices: they need a result on {machines} CPU models to learn from and on {offers} that \
         can be predicted"
    )]
    TooFew {
        /// Models to learn from.
        machines: usize,
        /// Models to offer.
        offers: usize,
    },
}
