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

/// Options of `prony net rr`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// What goes there and back: tcp, udp, connect
    #[arg(long, value_name = "KIND", value_delimiter = ',', default_value = "tcp,udp,connect", value_parser = ["tcp", "udp", "connect"])]
    kind: Vec<String>,
    /// Bytes of a message each way
    #[arg(long, value_name = "SIZE", value_delimiter = ',', default_value = "1B,1KiB,16KiB", value_parser = size)]
    size: Vec<u32>,
    /// Send at this fixed rate a second, and count latency from when a message was due [default: one after the other]
    #[arg(long, value_name = "RATE")]
    rate: Option<f64>,
    /// Measure beside this many streams from here to there as well; connections are made without
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=32))]
    up: u32,
    /// The same from there to here
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=31))]
    down: u32,
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

/// Most bytes of a datagram over IPv4.
const DATAGRAM: u32 = 65_507;

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    anyhow::ensure!(
        arguments.rate.is_none_or(|rate| (1.0..=1e6).contains(&rate)),
        "rates of 1 to 1000000 a second can be kept"
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
            let load = (arguments.up, arguments.down);
            if load == (0, 0) || connects {
                trials.push(Box::new(RoundTripTrial::new(opened.path.clone(), trip)));
            } else {
                // Both in every round: with and without load.
                for load in [(0, 0), load] {
                    let trip = RoundTripPlan { load, warmup: 0.1, ..trip.clone() };
                    trials.push(Box::new(RoundTripTrial::new(opened.path.clone(), trip)));
                }
            }
            if connects {
                break;
            }
        }
    }
    measure_trials("net rr", trials, |_| Derived::NONE, &arguments.measure, common)
}
