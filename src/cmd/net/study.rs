//! `prony net study`: effects of settings, in interleaved pairs.

use anyhow::Result;
use clap::Args;
use network::series::SeriesTrial;
use network::stream::StreamPlan;
use network::study::{Effect, StudySetting, mark_paired};

use super::options::{Derived, OpenedPath, Over, measure_trials};
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::output;
use crate::run_options::MeasureOptions;
use crate::value_parsers::short_seconds;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony net study --lab --time-limit 1m")]
pub(crate) struct Arguments {
    /// Measure blocks of this length, eight per connection
    #[arg(long, help_heading = "Traffic", value_name = "TIME", default_value = "20ms", value_parser = short_seconds)]
    block: f64,
    #[command(flatten)]
    measure: MeasureOptions,
    #[command(flatten)]
    over: Over,
}

/// Receive buffer of the streams that compare media, bytes.
const WINDOW: u32 = 32_768;

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    anyhow::ensure!((1e-3..=10.0).contains(&arguments.block), "--block takes 1ms to 10s");
    let opened = arguments.over.open()?;
    let base = StreamPlan { block: arguments.block, ..StreamPlan::default() };
    let allowed = kernels::affinity::allowed()?;
    let mut effects = Effect::of_sockets(&opened.path, &base, &allowed, 1);
    // Laboratories with another MTU and with offloads exist beside the first one during the study.
    let mut others: Vec<OpenedPath> = Vec::new();
    if arguments.over.lab {
        let shape = arguments.over.switch.shape(2)?;
        for (factor, name, other) in [
            ("mtu", "9000", lab::LabShape { mtu: 9000, ..shape }),
            ("offloads", "on", lab::LabShape { offloads: !shape.offloads, ..shape }),
        ] {
            let second = arguments.over.laboratory(other)?;
            let from = if factor == "mtu" { shape.mtu.to_string() } else { "off".to_owned() };
            let setting = |name: String, opened: &OpenedPath| StudySetting {
                name,
                stream: base.clone(),
                path: opened.path.clone(),
            };
            effects.push(Effect::new(factor, setting(from, &opened), setting(name.to_owned(), &second), 7));
            others.push(second);
        }
        // Windows that the common medium's hosts of 1998 had: larger ones hide in queues what collisions cost.
        let windowed = |name: &str, opened: &OpenedPath| {
            let mut stream = base.clone();
            stream.options.window = Some(WINDOW);
            StudySetting { name: name.to_owned(), stream, path: opened.path.clone() }
        };
        let half = arguments.over.laboratory(lab::LabShape { half_duplex: true, offloads: false, ..shape })?;
        let settings = (windowed("full_duplex", &opened), windowed("half_duplex", &half));
        effects.push(Effect::new("medium", settings.0, settings.1, 8));
        others.push(half);
    } else {
        output::remark("MTU, offloads and duplex can be changed only with --lab");
    }
    let trials = effects.into_iter().map(|effect| Box::new(effect) as Box<dyn SeriesTrial>).collect();
    let derive = |run: &mut model::Run| {
        mark_paired(&mut run.results);
        Derived::NONE
    };
    measure_trials("net study", trials, derive, &arguments.measure, common)
}
