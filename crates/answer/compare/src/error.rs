//! Errors of analysing runs.

/// Why runs could not be analysed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No run was given.
    #[error("could not compare: no run was given; name at least one run")]
    NoRuns,
    /// No run has the name of the reference.
    #[error("could not find the baseline '{name}' among the runs; they are: {known}")]
    Reference {
        /// The name that was asked for.
        name: String,
        /// Names of the runs.
        known: String,
    },
    /// No two runs have a result in common.
    #[error("could not compare: the runs have no result in common{hint}")]
    NothingInCommon {
        /// A hint that begins with a separator, or an empty text.
        hint: String,
    },
    /// A pattern matches no result.
    #[error("could not find a result that matches '{pattern}'; there are, among others: {known}")]
    NoMatch {
        /// The pattern.
        pattern: String,
        /// Some results.
        known: String,
    },
    /// The name to sort by is neither a result nor a machine.
    #[error(
        "could not sort by '{name}': no result and no machine of this comparison has that name; it has, among others: \
         {known}"
    )]
    SortBy {
        /// The name that was asked for.
        name: String,
        /// Some columns.
        known: String,
    },
    /// The parameter to compare across is in no result.
    #[error("could not compare across '{parameter}': no result of these runs has that parameter; there are: {known}")]
    Across {
        /// The parameter that was asked for.
        parameter: String,
        /// Parameters of the runs' results.
        known: String,
    },
    /// A point at which no result of a run was measured.
    #[error("could not explain at {asked}: no result of the run was measured there; {known}")]
    At {
        /// The parameter and its value.
        asked: String,
        /// Values of that parameter, or the parameters that there are.
        known: String,
    },
    /// A condition that could not be parsed.
    #[error(
        "could not read '{0}' as a condition to fail on: write slower, different, slower:PERCENT or different:PERCENT, such as slower:5"
    )]
    FailOn(String),
}
