//! `prony net udp`: datagrams at rising rates, and where they are lost.

use std::rc::Rc;

use anyhow::Result;
use clap::Args;
use network::loss::{LossCounts, losses};
use network::series::SeriesTrial;
use network::udp::{Datagram, DatagramTrial, loss_free};

use super::options::{Derived, Over, measure_trials};
use super::stream::size;
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::run_options::MeasureOptions;
use crate::value_parsers::short_seconds;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony net udp --rate 5000,20000")]
pub(crate) struct Arguments {
    /// Send messages of this size: the payload of a datagram
    #[arg(long, value_name = "SIZE", default_value = "1472B", value_parser = size)]
    size: u32,
    /// Limit messages per second: one limit after the other, from low to high
    #[arg(
        long,
        value_name = "RATE",
        value_delimiter = ',',
        default_value = "1000,2000,4000,8000,16000,32000,64000,128000,256000"
    )]
    rate: Vec<f64>,
    /// Send and receive this many with one call, where the system can (GSO, GRO)
    #[arg(long, help_heading = "Traffic", value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    segments: u32,
    /// Measure blocks of this length, one for each rate
    #[arg(long, help_heading = "Traffic", value_name = "TIME", default_value = "0.2s", value_parser = short_seconds)]
    block: f64,
    #[command(flatten)]
    measure: MeasureOptions,
    #[command(flatten)]
    over: Over,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    anyhow::ensure!((0.01..=60.0).contains(&arguments.block), "--block takes 10ms to 60s");
    let rates = arguments.rate.iter().all(|rate| (1.0..=1e9).contains(rate));
    anyhow::ensure!(rates, "--rate takes 1 to 1000000000 datagrams per second");
    let opened = arguments.over.open()?;
    let counts = LossCounts::default();
    let trial = |rate: &f64| -> Box<dyn SeriesTrial> {
        let step =
            Datagram { size: arguments.size, rate: *rate, seconds: arguments.block, segments: arguments.segments };
        Box::new(DatagramTrial::new(opened.path.clone(), step, Rc::clone(&counts)))
    };
    let trials = arguments.rate.iter().map(trial).collect();
    measure_trials(
        "net udp",
        trials,
        |run| Derived {
            whole: loss_free(&run.results).into_iter().collect(),
            session: losses("network.udp_loss", "UDP loss", "datagram", &counts),
        },
        &arguments.measure,
        common,
    )
}
