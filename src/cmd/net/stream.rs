//! `prony net stream`: throughput against the size of one write.

use std::rc::Rc;

use anyhow::Result;
use clap::Args;
use network::series::SeriesTrial;
use network::stream::{self, ConnectionCosts, CopyRate, StreamDirection, StreamPlan, StreamTrial, two_parameters};
use network::{Api, SocketOptions};

use super::options::{Derived, Over, measure_trials};
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::run_options::MeasureOptions;
use crate::value_parsers::short_seconds;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony net stream  over loopback
  prony net stream --server node7:7070 --direction up,down --size 64B,64KiB
  prony net stream --lab --mtu 1500,9000")]
pub(crate) struct Arguments {
    /// Send messages of these sizes, one a write
    #[arg(long, value_name = "SIZE", value_delimiter = ',', value_parser = size,
          default_value = "1B,4B,16B,64B,256B,1KiB,4KiB,16KiB,64KiB,256KiB,1MiB")]
    size: Vec<u32>,
    /// Send up (from here), down, or both at once
    #[arg(long, value_name = "WAYS", value_delimiter = ',', default_value = "up", value_parser = ["up", "down", "both"])]
    direction: Vec<String>,
    /// Use this many connections at once in each direction
    #[arg(long, help_heading = "Traffic", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    streams: u32,
    /// Set the receive buffer, which limits the TCP window; auto: the system decides
    #[arg(long, help_heading = "Traffic", value_name = "SIZE", value_delimiter = ',', default_value = "auto", value_parser = window)]
    window: Vec<ReceiveBuffer>,
    /// Use this congestion control, such as reno or cubic [default: that of the system]
    #[arg(long, help_heading = "Traffic", value_name = "NAME")]
    congestion: Option<String>,
    /// Send by these calls: write, writev, zerocopy, sendfile, uring, ...; all of them: all
    #[arg(long, help_heading = "Traffic", value_name = "CALLS", value_delimiter = ',', value_parser = api)]
    api: Vec<Apis>,
    /// Read at most so many bytes with one call [default: 128KiB]
    #[arg(long, help_heading = "Traffic", value_name = "SIZE", value_parser = size)]
    read: Option<u32>,
    /// Measure blocks of this length, eight per connection
    #[arg(long, help_heading = "Traffic", value_name = "TIME", default_value = "20ms", value_parser = short_seconds)]
    block: f64,
    #[command(flatten)]
    measure: MeasureOptions,
    #[command(flatten)]
    over: Over,
}

/// A size of at most 64 MiB.
pub(super) fn size(text: &str) -> Result<u32, String> {
    let bytes = model::parse_size(text).map_err(|error| error.to_string())?;
    u32::try_from(bytes).ok().filter(|bytes| *bytes <= 64 << 20).ok_or_else(|| "at most 64MiB".to_owned())
}

/// A receive buffer, or `None` if the system decides.
type ReceiveBuffer = Option<u32>;

fn window(text: &str) -> Result<ReceiveBuffer, String> {
    if text == "auto" { Ok(None) } else { size(text).map(Some) }
}

/// One way to send, or all.
type Apis = Vec<Api>;

fn api(text: &str) -> Result<Apis, String> {
    if text == "all" {
        return Ok(Api::ALL.to_vec());
    }
    let named = Api::ALL.into_iter().find(|api| api.name() == text).map(|api| vec![api]);
    named.ok_or_else(|| match text {
        "rdma" => "RDMA is not measured here, because Prony sends through the kernel's sockets".to_owned(),
        _ => format!("use all, or some of {}", Api::ALL.map(Api::name).join(", ")),
    })
}

fn direction(name: &str) -> StreamDirection {
    match name {
        "down" => StreamDirection::Down,
        "both" => StreamDirection::Both,
        _ => StreamDirection::Up,
    }
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    anyhow::ensure!((1e-3..=10.0).contains(&arguments.block), "--block takes 1ms to 10s");
    let opened = arguments.over.open_all()?;
    let (costs, copy) = (ConnectionCosts::default(), CopyRate::default());
    let named = arguments.api.iter().flatten().copied().map(Some);
    let apis: Vec<Option<Api>> = if arguments.api.is_empty() { vec![None] } else { named.collect() };
    let mut trials: Vec<Box<dyn SeriesTrial>> = Vec::new();
    for path in opened.iter().map(|one| &one.path) {
        for (way, window) in arguments.direction.iter().flat_map(|way| arguments.window.iter().map(move |w| (way, w))) {
            let options =
                SocketOptions { window: *window, congestion: arguments.congestion.clone(), ..SocketOptions::default() };
            let stream = StreamPlan {
                direction: direction(way),
                streams: arguments.streams,
                options,
                block: arguments.block,
                read: arguments.read,
                ..StreamPlan::default()
            };
            for (api, record) in apis.iter().flat_map(|api| arguments.size.iter().map(move |record| (api, record))) {
                let stream = StreamPlan { record: *record, api: *api, ..stream.clone() };
                let trial = StreamTrial::new(path.clone(), stream, Rc::clone(&costs));
                trials.push(Box::new(if api.is_some() { trial.naming_limits(&copy) } else { trial }));
            }
        }
    }
    let derive = |run: &mut model::Run| Derived {
        whole: two_parameters(run),
        session: stream::costs(&run.results, &costs.borrow()),
    };
    measure_trials("net stream", trials, derive, &arguments.measure, common)
}
