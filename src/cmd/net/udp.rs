//! `prony net udp`: datagrams at rising rates, and where they are lost.

use std::rc::Rc;

use anyhow::Result;
use clap::Args;
use fleet::loss::{LossCounts, losses};
use fleet::series::{EARLIER, SeriesTrial};
use fleet::udp::{Datagram, DatagramTrial};
use model::{Estimate, EstimateMethod, Figure, Metric, Outcome, Primitive, Run, Unit};

use super::options::{Derived, Over, measure_trials};
use super::stream::size;
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::run_options::MeasureOptions;

/// Options of `prony net udp`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Bytes of a message: the payload of a datagram
    #[arg(long, value_name = "SIZE", default_value = "1472B", value_parser = size)]
    size: u32,
    /// Datagrams a second, from low to high
    #[arg(
        long,
        value_name = "RATES",
        value_delimiter = ',',
        default_value = "1000,2000,4000,8000,16000,32000,64000,128000,256000"
    )]
    offered: Vec<f64>,
    /// Seconds of one step
    #[arg(long, default_value_t = 0.2)]
    seconds: f64,
    #[command(flatten)]
    over: Over,
    #[command(flatten)]
    measure: MeasureOptions,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    anyhow::ensure!((0.01..=60.0).contains(&arguments.seconds), "steps of 0.01 to 60 s can be measured");
    let rates = arguments.offered.iter().all(|rate| (1.0..=1e9).contains(rate));
    anyhow::ensure!(rates, "rates of 1 to 1000000000 datagrams a second can be offered");
    let opened = arguments.over.open()?;
    let counts = LossCounts::default();
    let trial = |rate: &f64| -> Box<dyn SeriesTrial> {
        let step = Datagram { size: arguments.size, rate: *rate, seconds: arguments.seconds };
        Box::new(DatagramTrial::new(opened.path.clone(), step, Rc::clone(&counts)))
    };
    let trials = arguments.offered.iter().map(trial).collect();
    measure_trials(
        "net udp",
        trials,
        |run| Derived {
            whole: loss_free(run).into_iter().collect(),
            session: losses("network.udp_loss", "UDP loss", "datagram", &counts),
        },
        &arguments.measure,
        common,
    )
}

/// The highest step of the ladder without loss in any launch, below which there was no loss either.
fn loss_free(run: &Run) -> Option<Figure> {
    let steps = run.figures.iter().filter(|figure| figure.probe == "network.udp_received");
    let clean = |figure: &&Figure| {
        let mut lost =
            figure.notes.iter().filter_map(|note| note.strip_prefix(EARLIER).unwrap_or(note).strip_prefix("lost "));
        lost.clone().next().is_some() && lost.all(|share| share.starts_with("0.000% "))
    };
    let last = steps.take_while(clean).last()?;
    let rate: f64 = last.point.get("offered")?.parse().ok()?;
    let metric = Metric::higher(Unit::PerSecond, "datagrams");
    let point = last.point.clone().without("offered");
    let mut figure =
        fleet::series::figure("network.udp_loss_free", point, "UDP rate without loss", metric, &[Primitive::UdpStack]);
    figure.flags.clear();
    figure.notes = vec!["the highest step of the ladder without loss; the next one lost".to_owned()];
    figure.outcome = Outcome::Measured(Estimate { method: EstimateMethod::None, ..Estimate::without_spread(rate) });
    Some(figure)
}
