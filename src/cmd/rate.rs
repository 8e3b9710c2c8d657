//! `prony rate`: the frozen sets of an open CPU rating.

#[cfg(feature = "rating")]
mod document;
#[cfg(feature = "rating")]
mod measured;
#[cfg(feature = "rating")]
mod round;
#[cfg(feature = "rating")]
mod work;

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[cfg(feature = "rating")]
pub(crate) use self::measured::run;
use crate::run_saver::SaveOptions;
use crate::value_parsers::{percent, seconds};

const ABOUT: &str = "\
A set is library code doing its ordinary job on generated input: int-1 compresses, searches, parses, plays chess, queries a
database, walks graphs, interprets and sorts; fp-1 solves, transforms, traces and filters. A component's ratio is the time of
the reference machine over its own; the geometric mean of the ratios is the rating. Speed is one copy; rate is one copy a CPU,
all started together. Every output has a checksum that stands in the source: a wrong one makes the rating invalid.

Examples:
  prony rate                    both sets, speed and rate: about two minutes
  prony rate int-1 --speed-only
  prony rate list               what the components are, and the reference times
  prony compare 1 2             two ratings side by side";

/// Options of `prony rate`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, after_help = ABOUT)]
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
    /// Half-width of the interval of a geometric mean at which it is settled, in percent
    #[arg(long, value_name = "PERCENT", default_value = "2", value_parser = percent)]
    target: f64,
    /// Begin no further round after this time
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    time_limit: Option<f64>,
    /// Another build of prony that does the work, such as one for this very CPU
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    #[command(flatten)]
    saving: SaveOptions,
    /// No progress line
    #[arg(long, short)]
    quiet: bool,
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

/// A program that was built without the sets says how to build it with them.
#[cfg(not(feature = "rating"))]
pub(crate) fn run(_: &Arguments, _: &crate::cli::CommonOptions) -> anyhow::Result<crate::ExitStatus> {
    anyhow::bail!(
        "this prony was built without the rating's libraries; build it with: cargo build --release --features rating"
    )
}
