//! The frozen sets of an open CPU rating: suites of `prony run` besides those of the catalogue.

#[cfg(feature = "rating")]
mod document;
#[cfg(feature = "rating")]
mod measured;
#[cfg(feature = "rating")]
mod round;
#[cfg(feature = "rating")]
mod work;

use std::path::PathBuf;

use clap::Args;
use report::Document;

/// Name, figures and content of every suite that this module measures.
pub(crate) const SUITES: [(&str, usize, &str); 3] = [
    (
        "int-1",
        20,
        "frozen set of library code: compress, search, parse, play chess, query, walk graphs, interpret, sort",
    ),
    ("fp-1", 20, "frozen set of library code: solve, transform, trace, filter"),
    ("rating", 40, "both frozen sets, speed and rate: an open CPU rating, about two minutes"),
];

/// Whether a suite is one of the frozen sets.
pub(crate) fn is_suite(name: &str) -> bool {
    SUITES.iter().any(|(known, _, _)| *known == name)
}

/// Options that the frozen sets have besides those of every run.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Frozen sets: --suite int-1, fp-1 or rating")]
pub(crate) struct RatingOptions {
    /// Numbers of copies started together: 1 is the speed, more are a rate [default: 1 and the number of CPUs]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) copies: Vec<u32>,
    /// Another build of prony that does the work, such as one for this very CPU
    #[arg(long, value_name = "FILE")]
    pub(crate) build: Option<PathBuf>,
}

impl RatingOptions {
    /// Whether any of them was given.
    pub(crate) fn given(&self) -> bool {
        !self.copies.is_empty() || self.build.is_some()
    }
}

#[cfg(feature = "rating")]
pub(crate) use self::{measured::measure, work::run as work};

/// The components of a frozen set; `None` for other suites, and where this program has none.
pub(crate) fn components(suite: &str) -> Option<Document> {
    #[cfg(feature = "rating")]
    return is_suite(suite).then(|| work::components(suite));
    #[cfg(not(feature = "rating"))]
    return is_suite(suite).then(|| Document::new(format!("{suite}: this prony was built without it")));
}

#[cfg(not(feature = "rating"))]
mod absent {
    //! A program that was built without the sets says how to build it with them.

    use anyhow::{Result, bail};
    use model::Run;

    use super::RatingOptions;
    use crate::ExitStatus;
    use crate::cli::CommonOptions;
    use crate::run_options::MeasureOptions;

    pub(crate) fn measure(
        _: &str,
        _: Option<Run>,
        _: &RatingOptions,
        _: &MeasureOptions,
        _: &CommonOptions,
    ) -> Result<ExitStatus> {
        work("")
    }

    pub(crate) fn work(_: &str) -> Result<ExitStatus> {
        bail!(
            "this prony was built without the frozen sets; build it with its default features, or with --features rating"
        )
    }
}

#[cfg(not(feature = "rating"))]
pub(crate) use self::absent::{measure, work};
