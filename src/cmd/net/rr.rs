//! `prony net rr`: round trips and connections.

use anyhow::Result;
use clap::Args;
use network::round_trip::{RoundTripKind, RoundTripPlan, RoundTripTrial};
use network::series::SeriesTrial;

use super::options::{Derived, Over, measure_trials};
use super::stream::size;
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::run_options::MeasureOptions;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony net rr
  prony net rr --kind tcp --size 64B --load 1,1")]
pub(crate) struct Arguments {
    /// Measure these kinds of round trips
    #[arg(long, value_name = "KIND", value_delimiter = ',', default_value = "tcp,udp,connect", value_parser = ["tcp", "udp", "connect"])]
    kind: Vec<String>,
    /// Send messages of these sizes, each way
    #[arg(long, value_name = "SIZE", value_delimiter = ',', default_value = "1B,1KiB,16KiB", value_parser = size)]
    size: Vec<u32>,
    /// Limit messages per second, each timed from when it was due [default: one after the other]
    #[arg(long, help_heading = "Traffic", value_name = "RATE")]
    rate: Option<f64>,
    /// Measure also while this many streams run up and down [default: none]
    #[arg(long, help_heading = "Traffic", value_name = "UP,DOWN", value_parser = load)]
    load: Option<(u32, u32)>,
    #[command(flatten)]
    measure: MeasureOptions,
    #[command(flatten)]
    over: Over,
}

/// Kinds by name.
fn kind(name: &str) -> RoundTripKind {
    match name {
        "udp" => RoundTripKind::Udp,
        "connect" => RoundTripKind::Connect,
        _ => RoundTripKind::Tcp,
    }
}

/// Streams up and down: `1,1`, of which there are few.
fn load(text: &str) -> Result<(u32, u32), String> {
    let parsed: Option<(u32, u32)> =
        text.split_once(',').and_then(|(up, down)| Some((up.parse().ok()?, down.parse().ok()?)));
    let some = parsed.filter(|(up, down)| (1..=32).contains(&up.saturating_add(*down)));
    some.ok_or_else(|| "write the streams up and down, 32 in all at most, such as 1,1".to_owned())
}

/// Most bytes of a datagram over IPv4.
const DATAGRAM: u32 = 65_507;

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    anyhow::ensure!(
        arguments.rate.is_none_or(|rate| (1.0..=1e6).contains(&rate)),
        "--rate takes 1 to 1000000 messages per second"
    );
    let opened = arguments.over.open()?;
    let mut trials: Vec<Box<dyn SeriesTrial>> = Vec::new();
    for kind in arguments.kind.iter().map(|name| kind(name)) {
        for size in arguments.size.iter().copied() {
            if kind == RoundTripKind::Udp && size > DATAGRAM {
                continue;
            }
            let trip = RoundTripPlan { kind, size, rate: arguments.rate, ..RoundTripPlan::default() };
            let connects = kind == RoundTripKind::Connect;
            match arguments.load {
                // Both in every round: with and without load.
                Some(load) if !connects => trials.extend([(0, 0), load].map(|load| -> Box<dyn SeriesTrial> {
                    let trip = RoundTripPlan { load, warmup: 0.1, ..trip.clone() };
                    Box::new(RoundTripTrial::new(opened.path.clone(), trip))
                })),
                _ => trials.push(Box::new(RoundTripTrial::new(opened.path.clone(), trip))),
            }
            if connects {
                break;
            }
        }
    }
    measure_trials("net rr", trials, |_| Derived::NONE, &arguments.measure, common)
}
