//! Errors that prevent measuring.

/// Why a run could not begin or be resumed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No benchmark or suite of that name.
    #[error("no {kind} is named {name}{near}")]
    Unknown {
        /// `benchmark` or `suite`.
        kind: &'static str,
        /// The requested name.
        name: String,
        /// The nearest names, as a clause.
        near: String,
    },
    /// The benchmark cannot be measured at that set of parameters.
    #[error("{0}")]
    Parameters(String),
    /// Nothing was selected.
    #[error("nothing to measure: the selection is empty")]
    Empty,
    /// The run to resume was measured on another machine.
    #[error("could not resume run {id}: it was measured on {there}, and this is {here}; start a new run instead")]
    Elsewhere {
        /// The run.
        id: String,
        /// Its machine.
        there: String,
        /// This machine.
        here: String,
    },
    /// The run to resume is finished.
    #[error("could not resume run {0}: it is complete")]
    Complete(String),
    /// This process cannot find its CPUs.
    #[error("could not read the CPU affinity: {0}")]
    System(#[from] kernels::Error),
}
