//! Why a question about runs has no answer.

/// Why runs could not be analysed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No run was given.
    #[error("could not compare: no run was given; name at least one run")]
    NoRuns,
    /// No run has the name of the reference.
    #[error("could not find the reference '{name}' among the runs; they are: {known}")]
    Reference {
        /// What was asked for.
        name: String,
        /// Names of the runs.
        known: String,
    },
    /// No two runs have a figure in common.
    #[error("could not compare: the runs have no figure in common{hint}")]
    NothingInCommon {
        /// What may help, beginning with a separator, or nothing.
        hint: String,
    },
    /// A pattern matches no figure.
    #[error("could not find a figure that matches '{pattern}'; there are, among others: {known}")]
    NoMatch {
        /// The pattern.
        pattern: String,
        /// Some figures.
        known: String,
    },
    /// What to sort by is neither a figure nor a machine.
    #[error(
        "could not sort by '{name}': it is neither a figure nor a machine of this comparison; there are, among others: {known}"
    )]
    SortBy {
        /// What was asked for.
        name: String,
        /// Some columns.
        known: String,
    },
    /// What to compare across is no axis of any figure.
    #[error("could not compare across '{axis}': no figure of these runs has that axis; there are: {known}")]
    Across {
        /// What was asked for.
        axis: String,
        /// Axes of the runs' figures.
        known: String,
    },
    /// Not a condition to fail on.
    #[error(
        "could not read '{0}' as a condition to fail on: write slower, different, slower:PERCENT or different:PERCENT, such as slower:5"
    )]
    FailOn(String),
}
