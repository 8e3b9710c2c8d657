//! `prony net predict`: an event builder with more senders than were measured.

use anyhow::{Result, ensure};
use clap::Args;
use model::{Estimate, EstimateMethod, Metric, Parameters, Run, Unit};
use plan_network::{Framing, ScaleDesign, ScaleLimit, ScaleLoad, ScalePoint, ScalePrediction, predict};
use report::{Block, Cell, Column, Document, PrintedQuantity, Table, TableRow, Tone};
use store::Detail;

use super::options::bits;
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::{output, run_finder};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony net predict 7 --senders 8,16
  prony net predict latest --senders 500 --link 100gbit --buffer 16000000")]
pub(crate) struct Arguments {
    /// A run of net build with several --senders and one --fragment
    #[arg(default_value = "latest", value_name = "RUN")]
    run: String,
    /// Predict for so many senders
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "8,16", value_parser = clap::value_parser!(u32).range(2..=100_000))]
    senders: Vec<u32>,
    /// Set the rate of the switch's links [default: that of the laboratory, or unknown]
    #[arg(long, value_name = "RATE", value_parser = bits)]
    link: Option<u64>,
    /// Set the buffer of a switch's port, in bytes [default: unknown]
    #[arg(long, value_name = "BYTES")]
    buffer: Option<u64>,
}

/// Coverage of the intervals.
const LEVEL: f64 = 0.9;
/// Standard errors in half of an interval of 95%.
const ERRORS: f64 = 1.96;

/// Window that Linux offers at first, bytes.
const WINDOW: u64 = 64 << 10;

/// What is predicted: results that differ in the number of senders alone.
struct Scaled {
    rest: Parameters,
    quantile: Option<String>,
    points: Vec<ScalePoint>,
    /// The same as they were measured.
    measured: Vec<Estimate>,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let run = run_finder::find(std::slice::from_ref(&arguments.run), common, Detail::Values)?;
    let run = &run.first().ok_or_else(|| anyhow::anyhow!("could not find the run {}", arguments.run))?.run;
    let sets = sets(run);
    ensure!(
        !sets.is_empty(),
        "could not predict: run {} needs two numbers of senders with one fragment; try prony net build --senders \
         2,3,4 --fragment 8000",
        arguments.run
    );
    let mut document = Document::new("Event building with more senders");
    for set in &sets {
        let title = format!("{}: {}", what(set), report::words::parameters_words(&set.rest));
        document.add(title, Block::Table(table(set, arguments)));
    }
    output::print(&document, common)
}

fn what(set: &Scaled) -> String {
    set.quantile
        .as_ref()
        .map_or_else(|| "Events per second".to_owned(), |quantile| format!("Time of an event, quantile {quantile}"))
}

/// Rates without a limit, and quantiles at a given rate, by their number of senders.
fn sets(run: &Run) -> Vec<Scaled> {
    let point = |result: &model::BenchmarkResult| {
        let parameters = &result.parameters;
        let is_rate = result.benchmark == "network.events" && parameters.get("rate").is_none();
        let is_tail = result.benchmark == "network.event_latency" && parameters.get("rate").is_some();
        let senders: u32 = parameters.get("senders").filter(|_| is_rate || is_tail)?.parse().ok()?;
        parameters.get("fragment")?;
        let quantile = parameters.get("quantile").map(str::to_owned);
        // The maximum of some thousand events is no quantile of their distribution.
        if quantile.as_deref() == Some("1") {
            return None;
        }
        let estimate = *result.outcome.estimate().filter(|estimate| estimate.value > 0.0)?;
        let Estimate { value, low, high, .. } = estimate;
        let relative = (high - low) / value / 2.0 / ERRORS;
        let seconds = if is_rate { 1.0 / value } else { value };
        let rest = parameters.clone().without("senders").without("quantile");
        Some(((rest, quantile), (ScalePoint { senders, seconds, error: relative * seconds }, estimate)))
    };
    let grouped = report::words::grouped(run.results.iter().filter_map(point));
    let scaled = |((rest, quantile), all): (_, Vec<(ScalePoint, Estimate)>)| {
        let (points, measured) = all.into_iter().unzip();
        Scaled { rest, quantile, points, measured }
    };
    grouped.into_iter().map(scaled).filter(|set| set.points.len() > 1).collect()
}

fn design(set: &Scaled, arguments: &Arguments) -> ScaleDesign {
    let fragment = set.rest.bytes("fragment").unwrap_or(0);
    let transport = set.rest.get("transport").unwrap_or_default();
    let framing = if transport == "tcp" { Framing::TCP } else { Framing::UDP };
    // Links of a laboratory are token buckets, which count no gap.
    let lab = set.rest.get("path").and_then(|path| path.strip_prefix("lab_")).and_then(|rate| bits(rate).ok());
    let framing = if lab.is_some() { framing.without_gap() } else { framing };
    let link = arguments.link.or(lab);
    let rate = set.rest.get("rate").and_then(|rate| rate.parse().ok());
    let load = match (rate, set.rest.get("arrivals")) {
        (None, _) => ScaleLoad::Unpaced,
        (Some(rate), Some(_)) => ScaleLoad::Poisson(rate),
        (Some(rate), None) => ScaleLoad::Regular(rate),
    };
    let pulled = transport == "credits";
    // Without a rate, TCP sends one fragment after the other in full frames, as far as the window lets it.
    let is_stream = transport == "tcp" && rate.is_none();
    let bytes = if is_stream { set.rest.bytes("window").unwrap_or(WINDOW) } else { fragment };
    let wire = if is_stream { fragment as f64 / framing.efficiency() } else { framing.wire(fragment) as f64 };
    let is_random = set.rest.get("arrivals").is_some();
    ScaleDesign {
        // Who pulls at random moments waits for its credits, and what these allow is not known.
        fragment_seconds: link.filter(|_| !(pulled && is_random)).map(|link| wire * 8.0 / link as f64),
        buffer: arguments.buffer.map(|bytes| bytes as f64),
        outstanding: if pulled { 0.0 } else { framing.buffered(bytes) as f64 },
        // That of measured sizes is taken as that of exponential ones, which is larger than most.
        spread: if set.rest.get("sizes").is_some() { 1.0 } else { 0.0 },
        load,
    }
}

fn table(set: &Scaled, arguments: &Arguments) -> Table {
    let is_rate = set.quantile.is_none();
    let metric =
        if is_rate { Metric::higher(Unit::PerSecond, "events") } else { Metric::lower(Unit::Seconds, "event") };
    let cells = |estimate: &Estimate| {
        let quantity = PrintedQuantity::of(estimate, metric.unit).in_metric(&metric);
        [Cell::Value(quantity), Cell::Interval(quantity)]
    };
    let measured = |(point, estimate): (&ScalePoint, &Estimate)| {
        let mut row = vec![Cell::Count(u64::from(point.senders))];
        row.extend(cells(estimate));
        row.push(Cell::Text("measured".to_owned(), Tone::Muted));
        TableRow::of(row)
    };
    let design = design(set, arguments);
    let predicted = |senders: &u32| {
        let mut row = vec![Cell::Count(u64::from(*senders))];
        match predict(&set.points, &design, *senders, LEVEL) {
            Some(ScalePrediction::Predicted { value, low, high, limit }) => {
                let low = low.max(f64::MIN_POSITIVE);
                let [value, low, high] =
                    if is_rate { [1.0 / value, 1.0 / high, 1.0 / low] } else { [value, low, high] };
                let method = EstimateMethod::Propagated;
                row.extend(cells(&Estimate { low, high, level: LEVEL, method, ..Estimate::without_spread(value) }));
                row.push(Cell::text(format!("predicted; {}", limits(limit))));
            }
            Some(ScalePrediction::Refused { limit, from }) => {
                let said = format!("not predicted: from {from} senders on, {}", limits(limit));
                row.push(Cell::Across(said, Tone::Caution));
            }
            None => {
                row.push(Cell::Across("not predicted: it is no more than what was measured".to_owned(), Tone::Caution));
            }
        }
        TableRow::of(row)
    };
    let rows =
        set.points.iter().zip(&set.measured).map(measured).chain(arguments.senders.iter().map(predicted)).collect();
    let value = if is_rate { "#events/s" } else { "#time" };
    Table::plain(Column::list(&format!("#senders|{value}|#interval|")), rows)
}

fn limits(limit: ScaleLimit) -> &'static str {
    match limit {
        ScaleLimit::Port => "the receiver's link limits",
        ScaleLimit::Receiver => "the receiver limits, each sender adds time",
        ScaleLimit::Senders => "the senders or the way to the receiver limit",
        ScaleLimit::Buffer => "the buffer of the receiver's port no longer holds what is on its way",
        ScaleLimit::Waiting => "events wait for those before, and for how long is not known",
    }
}
