//! `prony net waterfall`: the steps from a copy in memory to events that are built and filtered, each with its limit.

use std::rc::Rc;

use anyhow::Result;
use clap::Args;
use network::ReceiverWork;
use network::series::SeriesTrial;
use network::stream::{self, ConnectionCosts, CopyRate, CopyTrial, StreamPlan, StreamTrial};

use super::options::{Derived, Over, measure_trials};
use super::stream::size;
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::run_options::MeasureOptions;
use crate::value_parsers::short_seconds;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony net waterfall  over loopback
  prony net waterfall --server node7:7070 --streams 8
  prony net waterfall --lab --link 1gbit --delay 10ms")]
pub(crate) struct Arguments {
    /// Use this many connections, and sources of events
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(2..=64))]
    streams: u32,
    /// Send messages of this size
    #[arg(long, value_name = "SIZE", default_value = "64KiB", value_parser = size)]
    size: u32,
    /// Measure blocks of this length, eight per connection
    #[arg(long, help_heading = "Traffic", value_name = "TIME", default_value = "40ms", value_parser = short_seconds)]
    block: f64,
    #[command(flatten)]
    measure: MeasureOptions,
    #[command(flatten)]
    over: Over,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    anyhow::ensure!((1e-3..=10.0).contains(&arguments.block), "--block takes 1ms to 10s");
    let opened = arguments.over.open()?;
    let (costs, copy) = (ConnectionCosts::default(), CopyRate::default());
    let base = StreamPlan { record: arguments.size, block: arguments.block, ..StreamPlan::default() };
    let step = |streams: u32, work: ReceiverWork| -> Box<dyn SeriesTrial> {
        let plan = StreamPlan { streams, work, ..base.clone() };
        Box::new(StreamTrial::new(opened.path.clone(), plan, Rc::clone(&costs)).naming_limits(&copy))
    };
    let trials: Vec<Box<dyn SeriesTrial>> = vec![
        Box::new(CopyTrial::new(opened.path.cpus.client, Rc::clone(&copy))),
        step(1, ReceiverWork::Bytes),
        step(arguments.streams, ReceiverWork::Bytes),
        step(arguments.streams, ReceiverWork::Framed),
        step(arguments.streams, ReceiverWork::Events),
        step(arguments.streams, ReceiverWork::Filtered),
    ];
    let derive = |run: &mut model::Run| {
        let mut session = stream::costs(&run.results, &costs.borrow());
        // A step is compared by its bytes.
        session.retain(|cost| cost.benchmark == "network.tcp_cpu_byte");
        Derived { session, ..Derived::NONE }
    };
    measure_trials("net waterfall", trials, derive, &arguments.measure, common)
}
