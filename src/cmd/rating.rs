//! The frozen sets of an open CPU rating: suites of `prony run` besides those of the catalogue.

mod document;
mod measured;
mod round;
mod work;

pub(crate) use self::measured::measure;
pub(crate) use self::work::run as work;

use std::path::PathBuf;

use clap::Args;
use report::Document;

/// Name, results and content of every suite that this module measures.
pub(crate) const SUITES: [(&str, usize, &str); 3] = [
    ("int-1", 14, "frozen set of library code: compress, search, parse, query, sort"),
    ("fp-1", 14, "frozen set of numerical code: simulate, trace, diffuse, solve"),
    ("rating", 28, "both frozen sets, speed and rate: an open CPU rating, about a minute"),
];

/// Whether a suite is one of the frozen sets.
pub(crate) fn is_suite(name: &str) -> bool {
    SUITES.iter().any(|(known, _, _)| *known == name)
}

/// Options that the frozen sets have besides those of every run.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Frozen sets: --suite int-1, fp-1 or rating")]
pub(crate) struct RatingOptions {
    /// Run this many copies at once; 1 is the speed, more a rate [default: 1 and all CPUs]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) copies: Vec<u32>,
    /// Run the work with another build of prony, such as one for this very CPU
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) build: Option<PathBuf>,
}

impl RatingOptions {
    /// Whether any of them was given.
    pub(crate) fn given(&self) -> bool {
        !self.copies.is_empty() || self.build.is_some()
    }
}

/// The components of a frozen set; `None` for other suites.
pub(crate) fn components(suite: &str) -> Option<Document> {
    is_suite(suite).then(|| work::components(suite))
}
