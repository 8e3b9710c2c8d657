//! Errors of predictions.

/// Why an application could not be predicted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No run has the application.
    #[error("could not find a result of the application '{name}' in any run{known}; run it on at least one machine")]
    NoApplication {
        /// The name that was asked for.
        name: String,
        /// Names of the existing applications with a separator before them, or an empty text.
        known: String,
    },
    /// A name matches several results.
    #[error("could not tell which result '{name}' means; it may be: {known}")]
    Ambiguous {
        /// The name that was asked for.
        name: String,
        /// The results.
        known: String,
    },
    /// A machine is not among the runs.
    #[error("could not predict for '{name}': none of the runs is of that machine; similar names: {near}")]
    NoMachine {
        /// The name that was asked for.
        name: String,
        /// The nearest machines.
        near: String,
    },
    /// Too few models for an evaluation.
    #[error(
        "could not evaluate predictions of {application}: it was measured on {models} CPU models, and at least 3 are needed"
    )]
    TooFew {
        /// The application.
        application: String,
        /// Models that have it.
        models: usize,
    },
    /// Runs define one result differently.
    #[error("could not join the runs: {result} is counted in another unit or direction in {run}")]
    Mixed {
        /// Name of the result.
        result: String,
        /// Name of the run.
        run: String,
    },
}
