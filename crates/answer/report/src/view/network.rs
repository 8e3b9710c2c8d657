//! Network results as their authors drew them: throughput against the record, and loss against the frames of a burst.

use model::{BenchmarkResult, Estimate, Outcome, Parameters, Run, Unit, format_size};
use plan_network::{Burst, Framing};

use super::network_steps::steps;
use super::network_tails::tails;
use crate::words::{grouped, modes, parameter_value, parameters_words};
use crate::{
    Block, Cell, Chart, ChartAxis, ChartPlot, Column, Curves, Division, DocumentSection, PrintedQuantity, Series,
    TableRow, Tone,
};

/// Curves whose colours differ: the tables of a longer sweep tell its quantiles.
const COLOURS: usize = 7;
/// Benchmark of a stream.
const STREAM: &str = "network.tcp_stream";
/// Benchmark of the time that an event takes to build, at a quantile.
const EVENT_LATENCY: &str = "network.event_latency";
/// Benchmark of the frames lost of a burst.
const BURST: &str = "network.burst_loss";

/// A plateau that others printed: what it is of, and its value in bytes a second as printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrintedPlateau {
    /// The network.
    pub network: String,
    /// The value, in MB/s.
    pub printed: String,
}

/// The tables and charts of a run's network results; none if it has no such results. `plateaus` stand below the curves.
#[must_use]
pub fn network(run: &Run, plateaus: &[PrintedPlateau]) -> Vec<DocumentSection> {
    let mut sections = steps(run);
    sections.extend(tails(run));
    sections.extend(streams(run, plateaus));
    sections.extend(bursts(run));
    sections
}

/// One chart of the latencies of event building over their quantiles, a curve for each setting.
pub(super) fn events(run: &Run) -> Option<DocumentSection> {
    let sets = sets(run, EVENT_LATENCY, "quantile");
    let shared = |name: &str, value: &str| sets.iter().all(|(own, _)| own.get(name) == Some(value));
    let series = |(colour, (own, members)): (usize, &(Parameters, Vec<&BenchmarkResult>))| {
        let rest =
            own.iter().filter(|(name, value)| !shared(name, value)).map(|(name, value)| parameter_value(name, value));
        let words: Vec<String> = rest.collect();
        let point = |result: &&BenchmarkResult| {
            let estimate = result.outcome.estimate()?;
            let quantity = PrintedQuantity::of(estimate, result.metric.unit).in_metric(&result.metric);
            Some((result.parameters.get("quantile")?.parse().ok()?, quantity))
        };
        let name = if words.is_empty() { "event latency".to_owned() } else { words.join(", ") };
        Series { name, colour, variant: 0, points: members.iter().filter_map(point).collect() }
    };
    let series: Vec<Series> = sets.iter().enumerate().map(series).filter(|one| one.points.len() > 1).collect();
    let chart = Chart {
        title: "Latency of an event".to_owned(),
        about: "At 99%, 1 in 100 events takes longer to build. Bars: 95% intervals.".to_owned(),
        plot: ChartPlot::Curves(Curves {
            x: ChartAxis::new("quantile", Unit::Ratio, Division::Nines),
            y: ChartAxis::new("time of one event", Unit::Seconds, Division::Decades),
            marks: Vec::new(),
            series: series.clone(),
        }),
    };
    (1..=COLOURS).contains(&series.len()).then(|| DocumentSection::of("Event building", Block::Chart(chart)))
}

/// The sets of parameters of results of a benchmark without one parameter, in the order of the run.
fn sets<'a>(run: &'a Run, benchmark: &str, parameter: &str) -> Vec<(Parameters, Vec<&'a BenchmarkResult>)> {
    let members =
        run.results.iter().filter(|result| result.benchmark == benchmark && result.parameters.get(parameter).is_some());
    grouped(members.map(|result| (result.parameters.clone().without(parameter), result)))
}

/// One table for each curve: record, MB/s, interval.
fn streams(run: &Run, plateaus: &[PrintedPlateau]) -> Vec<DocumentSection> {
    let section = |(rest, members): (Parameters, Vec<&BenchmarkResult>)| {
        let columns = Column::list("record|#MB/s|#interval");
        let mut rows: Vec<TableRow> = members.iter().map(|result| row(result)).collect();
        rows.extend(plateaus.iter().map(|plateau| {
            TableRow::of(vec![Cell::text(&plateau.network), Cell::Printed(plateau.printed.clone()), Cell::Empty])
        }));
        let title = format!("Throughput by record: {}", parameters_words(&rest));
        let chart = beside(&title, &members, plateaus);
        DocumentSection { title, blocks: vec![Block::table(columns, rows), Block::Chart(chart)] }
    };
    sets(run, STREAM, "record").into_iter().filter(|(_, members)| members.len() > 1).map(section).collect()
}

/// Plateaus as level lines between two places, in colours from this one on.
fn levels(plateaus: &[PrintedPlateau], ends: [f64; 2], first: usize) -> Vec<Series> {
    let level = |(colour, plateau): (usize, &PrintedPlateau)| {
        let value = plateau.printed.trim_start_matches("< ").parse::<f64>().ok()? * 1e6;
        let quantity = PrintedQuantity::bare(value, Unit::BytesPerSecond);
        let points = ends.map(|end| (end, quantity)).into();
        Some(Series { name: plateau.network.clone(), colour: first + colour, variant: 1, points })
    };
    plateaus.iter().enumerate().filter_map(level).collect()
}

/// Adds plateaus to the chart of streams over their record, where a report has one.
pub(super) fn add_plateaus(sections: &mut [DocumentSection], plateaus: &[PrintedPlateau]) {
    for block in sections.iter_mut().flat_map(|section| &mut section.blocks) {
        let Block::Chart(Chart { title, about, plot: ChartPlot::Curves(plot) }) = block else { continue };
        let places = || plot.series.iter().flat_map(|series| &series.points).map(|(place, _)| *place);
        let ends = [places().fold(f64::INFINITY, f64::min), places().fold(0.0, f64::max)];
        if title.starts_with("TCP stream") && plot.y.unit == Unit::BytesPerSecond && ends[0] < ends[1] {
            plot.series.extend(levels(plateaus, ends, plot.series.len()));
            about.push_str(" Level lines: plateaus that were printed in 1998.");
        }
    }
}

/// The curve of today, and the plateaus that others printed.
fn beside(title: &str, members: &[&BenchmarkResult], plateaus: &[PrintedPlateau]) -> Chart {
    let point = |result: &&BenchmarkResult| {
        let record = result.parameters.bytes("record").ok()?;
        Some((record as f64, PrintedQuantity::of(result.outcome.estimate()?, Unit::BytesPerSecond)))
    };
    let mut points: Vec<(f64, PrintedQuantity)> = members.iter().filter_map(point).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let ends = points.first().zip(points.last()).map(|(first, last)| [first.0, last.0]);
    let printed = ends.map(|ends| levels(plateaus, ends, 1)).unwrap_or_default();
    let today = Series { name: "this run".to_owned(), colour: 0, variant: 0, points: points.clone() };
    let curves = Curves {
        x: ChartAxis::new("bytes of one write", Unit::Count, Division::Octaves),
        y: ChartAxis::new("throughput", Unit::BytesPerSecond, Division::Decades),
        series: std::iter::once(today).chain(printed).collect(),
        marks: Vec::new(),
    };
    let about = "Both axes logarithmic. The level lines are plateaus that were printed in 1998.".to_owned();
    Chart { title: title.to_owned(), about, plot: ChartPlot::Curves(curves) }
}

fn row(result: &BenchmarkResult) -> TableRow {
    let label = Cell::text(result.parameters.bytes("record").map_or_else(|_| String::new(), format_size));
    let cells = match &result.outcome {
        Outcome::Measured(estimate) => {
            // MB as networks count them, without a prefix: the unit is in the heading.
            let scaled = Estimate {
                value: estimate.value * 1e-6,
                low: estimate.low * 1e-6,
                high: estimate.high * 1e-6,
                ..*estimate
            };
            let quantity = PrintedQuantity::of(&scaled, Unit::Count);
            vec![label, Cell::Value(quantity), Cell::Interval(quantity)]
        }
        Outcome::Modes(groups) => vec![label, Cell::Across(modes(groups, &result.metric), Tone::Caution)],
        Outcome::NotMeasured(reason) | Outcome::Failed(reason) => {
            vec![label, Cell::Across(reason.clone(), Tone::Caution)]
        }
        Outcome::Below { bound } => {
            vec![label, Cell::Below(PrintedQuantity::bare(bound * 1e-6, Unit::Count)), Cell::Empty]
        }
    };
    TableRow::of(cells)
}

/// One chart for each sweep: the share lost against the frames of each sender, and the relation of the port's buffer.
pub(super) fn bursts(run: &Run) -> Vec<DocumentSection> {
    let section = |(rest, members): (Parameters, Vec<&BenchmarkResult>)| {
        let mut measured: Vec<(f64, PrintedQuantity)> = members.iter().filter_map(|result| share(result)).collect();
        measured.sort_by(|a, b| a.0.total_cmp(&b.0));
        let most = measured.last().map_or(0.0, |(frames, _)| *frames);
        let number = |parameter: &str| rest.get(parameter)?.parse::<u32>().ok();
        let link = rest.get("link").and_then(|link| link.strip_suffix("bit")?.parse::<f64>().ok());
        let buffer = rest.bytes("buffer").ok();
        let relation = |frames: u64| -> Option<(f64, PrintedQuantity)> {
            let burst = Burst::of(number("senders")?, frames, link? / 8.0, buffer?, Framing::UDP);
            Some((frames as f64, PrintedQuantity::bare(burst.lost_share, Unit::Ratio)))
        };
        let series = |name: &str, colour, points| Series { name: name.to_owned(), colour, variant: 0, points };
        let curves = Curves {
            x: ChartAxis::new("frames of each sender in a burst", Unit::Count, Division::Linear),
            y: ChartAxis::new("share of the frames lost", Unit::Ratio, Division::Linear),
            series: vec![
                series("measured", 0, measured),
                series("BUF = (N - 1) l dt", 1, (1..=most as u64).filter_map(relation).collect()),
            ],
            marks: Vec::new(),
        };
        let chart = Chart {
            title: format!("Loss against the length of a burst: {}", parameters_words(&rest)),
            about:
                "Every sender sends so many full frames at once to one port. The line is what its buffer cannot hold."
                    .to_owned(),
            plot: ChartPlot::Curves(curves),
        };
        let rows = members.iter().map(|result| against(result, &relation)).collect();
        let columns = Column::list("#frames|#lost|#interval|#by the relation");
        let blocks = vec![Block::Chart(chart), Block::table(columns, rows)];
        DocumentSection { title: "Bursts into one port".to_owned(), blocks }
    };
    sets(run, BURST, "frames").into_iter().map(section).collect()
}

/// Frames and share lost. Without any loss the share is 0 and its bound the upper end.
fn share(result: &BenchmarkResult) -> Option<(f64, PrintedQuantity)> {
    let frames = result.parameters.get("frames")?.parse().ok()?;
    let quantity = match &result.outcome {
        Outcome::Measured(estimate) => PrintedQuantity::of(estimate, Unit::Ratio),
        Outcome::Below { bound } => PrintedQuantity { high: *bound, ..PrintedQuantity::bare(0.0, Unit::Ratio) },
        _ => return None,
    };
    Some((frames, quantity))
}

fn against(result: &BenchmarkResult, relation: &dyn Fn(u64) -> Option<(f64, PrintedQuantity)>) -> TableRow {
    let frames: Option<u64> = result.parameters.get("frames").and_then(|frames| frames.parse().ok());
    let shown = |quantity: PrintedQuantity| quantity.in_metric(&result.metric);
    let mut cells = vec![frames.map_or(Cell::Empty, Cell::Count)];
    cells.extend(match &result.outcome {
        Outcome::Measured(estimate) => {
            let quantity = shown(PrintedQuantity::of(estimate, Unit::Ratio));
            [Cell::Value(quantity), Cell::Interval(quantity)]
        }
        Outcome::Below { bound } => [Cell::Below(shown(PrintedQuantity::bare(*bound, Unit::Ratio))), Cell::Empty],
        _ => [Cell::Empty, Cell::Empty],
    });
    cells.push(frames.and_then(relation).map_or(Cell::Empty, |(_, quantity)| Cell::Value(shown(quantity))));
    TableRow::of(cells)
}
