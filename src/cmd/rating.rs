//! The frozen sets of an open CPU rating: suites of `prony run` besides those of the catalogue.

mod document;
mod measured;
mod round;
mod work;

pub(crate) use self::measured::measure;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};
use report::Document;

use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::run_options::MeasureOptions;

/// Name, figures and content of every suite that this module measures.
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

/// Options of `prony rate`, the name of `prony run --suite rating` in version 0.1.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    part: Option<RatePart>,
    /// A frozen set: int-1 or fp-1 [default: both]
    #[arg(value_parser = ["int-1", "fp-1"])]
    sets: Vec<String>,
    /// Only speed: one copy
    #[arg(long)]
    speed_only: bool,
    /// Copies of a rate [default: the number of CPUs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    copies: Option<u32>,
    /// Another build of prony that does the work, such as one for this very CPU
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    #[command(flatten)]
    measure: MeasureOptions,
}

#[derive(Debug, Subcommand)]
enum RatePart {
    /// List the components
    List,
    /// One component once
    #[command(hide = true)]
    Work {
        /// Its name
        component: String,
    },
}

/// Does what `prony rate` asks for.
pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    match &arguments.part {
        Some(RatePart::List) => return list(common),
        Some(RatePart::Work { component }) => return work(component),
        None => {}
    }
    let suite = match arguments.sets.as_slice() {
        [only] => only.as_str(),
        _ => "rating",
    };
    let cpus = || sys::affinity::allowed().map_or(1, |allowed| u32::try_from(allowed.len()).unwrap_or(1));
    let copies = match (arguments.speed_only, arguments.copies) {
        (true, _) => vec![1],
        (false, copies) => vec![1, copies.unwrap_or_else(cpus)],
    };
    let options = RatingOptions { copies, build: arguments.program.clone() };
    measure(suite, None, &options, &arguments.measure, common)
}

/// The components of a frozen set; `None` for other suites.
pub(crate) fn components(suite: &str) -> Option<Document> {
    is_suite(suite).then(|| work::components(suite))
}

fn list(common: &CommonOptions) -> Result<ExitStatus> {
    crate::output::print(&work::components("rating"), common)?;
    Ok(ExitStatus::Fine)
}

fn work(component: &str) -> Result<ExitStatus> {
    work::run(component)
}
