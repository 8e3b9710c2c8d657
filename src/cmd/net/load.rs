//! `prony net load`: round trips while streams run.

use anyhow::Result;
use clap::Args;
use fleet::round_trip::{RoundTripPlan, RoundTripTrial};
use fleet::series::SeriesTrial;

use super::options::{Derived, Over, measure_trials};
use super::rr::kind;
use super::stream::size;
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::run_options::MeasureOptions;

/// Options of `prony net load`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// What goes there and back: tcp, udp
    #[arg(long, value_name = "KIND", value_delimiter = ',', default_value = "tcp", value_parser = ["tcp", "udp"])]
    kind: Vec<String>,
    /// Bytes of a message each way
    #[arg(long, value_name = "SIZE", default_value = "64B", value_parser = size)]
    size: u32,
    /// Streams from here to there
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=32))]
    up: u32,
    /// Streams from there to here
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=31))]
    down: u32,
    #[command(flatten)]
    measure: MeasureOptions,
    #[command(flatten)]
    over: Over,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let opened = arguments.over.open()?;
    let mut trials: Vec<Box<dyn SeriesTrial>> = Vec::new();
    for kind in arguments.kind.iter().map(|name| kind(name)) {
        // Both in every round: with and without load.
        for load in [(0, 0), (arguments.up, arguments.down)] {
            let trip = RoundTripPlan { kind, size: arguments.size, load, warmup: 0.1, ..RoundTripPlan::default() };
            trials.push(Box::new(RoundTripTrial::new(opened.path.clone(), trip)));
            if (arguments.up, arguments.down) == (0, 0) {
                break;
            }
        }
    }
    measure_trials("net load", trials, |_| Derived::NONE, &arguments.measure, common)
}
