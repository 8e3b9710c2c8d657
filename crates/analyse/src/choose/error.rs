//! Why nothing can be chosen.

/// Why a choice could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text is not what is asked for.
    #[error("could not read the offers and the demand: line {line}, column {column}: {reason}")]
    Text {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong, and what to write instead.
        reason: String,
    },
    /// An application has no rate on an offer.
    #[error(
        "could not tell how fast '{offer}' does '{application}' (line {line}): give its rate, name a run that has it, or give \
         runs from which it can be predicted{why}"
    )]
    NoRate {
        /// The offer.
        offer: String,
        /// The application.
        application: String,
        /// Line of the offer.
        line: usize,
        /// Why the runs did not help, with a separator before it, or nothing.
        why: String,
    },
    /// The solver gave up.
    #[error("could not solve the choice: {0}")]
    Solver(String),
}
