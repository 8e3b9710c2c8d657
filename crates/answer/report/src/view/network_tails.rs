//! Completion times of events against what is swept: the offered load, with its knee, or the number of senders.

use model::{BenchmarkResult, Parameters, Run, Unit};
use plan_network::{LoadPoint, knee};

use crate::words::{grouped, parameters_words};
use crate::{
    Block, Cell, Chart, ChartAxis, ChartPlot, Column, Curves, Division, DocumentSection, Mark, PrintedQuantity, Series,
    TableRow,
};

/// Quantiles of completion times, events built, and events built in the slowest tenth of a second.
const LATENCY: &str = "network.event_latency";
const EVENTS: &str = "network.events";
const SLOWEST: &str = "network.events_slowest";

/// A quantile and its name.
const QUANTILES: [(&str, &str); 4] = [("0.5", "p50"), ("0.99", "p99"), ("0.999", "p99.9"), ("1", "maximum")];

/// The tables and charts of a run; none if it sweeps neither load nor senders.
pub(super) fn tails(run: &Run) -> Vec<DocumentSection> {
    let load = |rest, steps| section(run, "Tails against the offered load", "rate", rest, steps);
    let senders = |rest, steps| section(run, "Tails against the number of senders", "senders", rest, steps);
    let mut sections: Vec<DocumentSection> =
        swept(run, "rate").into_iter().map(|(rest, steps)| load(rest, steps)).collect();
    sections.extend(swept(run, "senders").into_iter().map(|(rest, steps)| senders(rest, steps)));
    sections
}

/// A step of a sweep: the value, and the parameters of its job.
type Step = (f64, Parameters);

/// Sweeps of a parameter, each with the parameters that its steps share.
fn swept(run: &Run, parameter: &str) -> Vec<(Parameters, Vec<Step>)> {
    let jobs = run.results.iter().filter(|result| result.benchmark == EVENTS);
    let step = |result: &BenchmarkResult| {
        let value: f64 = result.parameters.get(parameter)?.parse().ok()?;
        Some((result.parameters.clone().without(parameter), (value, result.parameters.clone())))
    };
    let mut sets = grouped(jobs.filter_map(step));
    sets.iter_mut().for_each(|(_, steps)| steps.sort_by(|a, b| a.0.total_cmp(&b.0)));
    sets.retain(|(_, steps)| steps.len() > 1);
    sets
}

/// A measured quantity of a job.
fn quantity(run: &Run, benchmark: &str, parameters: &Parameters) -> Option<PrintedQuantity> {
    let found = run.results.iter().find(|result| result.benchmark == benchmark && result.parameters == *parameters)?;
    Some(PrintedQuantity::of(found.outcome.estimate()?, found.metric.unit).in_metric(&found.metric))
}

fn latency(run: &Run, parameters: &Parameters, quantile: &str) -> Option<PrintedQuantity> {
    quantity(run, LATENCY, &parameters.clone().with("quantile", quantile))
}

fn section(run: &Run, title: &str, parameter: &str, rest: Parameters, steps: Vec<Step>) -> DocumentSection {
    let is_load = parameter == "rate";
    let first = if is_load { "#offered" } else { "#senders" };
    let columns = Column::list(&format!("{first}|#events/s|#slowest 0.1 s|#p50|#p99|#p99.9|#maximum"));
    let cell = |quantity: Option<PrintedQuantity>| quantity.map_or(Cell::Empty, Cell::Value);
    let row = |(value, parameters): &Step| {
        let mut cells = vec![Cell::Printed(value.to_string())];
        cells.extend([EVENTS, SLOWEST].map(|benchmark| cell(quantity(run, benchmark, parameters))));
        cells.extend(QUANTILES.map(|(quantile, _)| cell(latency(run, parameters, quantile))));
        TableRow::of(cells)
    };
    let mut blocks = Vec::new();
    let point = |(offered, parameters): &Step| {
        let built = quantity(run, EVENTS, parameters)?.value;
        Some(LoadPoint { offered: *offered, built, p99: latency(run, parameters, "0.99")?.value })
    };
    let points: Vec<LoadPoint> = steps.iter().filter_map(point).collect();
    let bend = knee(&points).filter(|_| is_load);
    if is_load && !points.is_empty() {
        blocks.push(Block::Text(match bend {
            Some(bend) if Some(bend) == points.last().map(|point| point.offered) => {
                format!(
                    "No knee up to {bend} events/s: 95% of them are built, with a p99 of at most three times the least."
                )
            }
            Some(bend) => {
                format!("Knee: up to {bend} events/s, 95% are built, with a p99 of at most three times the least.")
            }
            None => "Not even the lowest load is carried.".to_owned(),
        }));
    }
    blocks.push(Block::table(columns, steps.iter().map(row).collect()));
    blocks
        .extend(chart(run, &format!("{title}: {}", parameters_words(&rest)), is_load, &steps, bend).map(Block::Chart));
    DocumentSection { title: format!("{title}: {}", parameters_words(&rest)), blocks }
}

fn chart(run: &Run, title: &str, is_load: bool, steps: &[Step], bend: Option<f64>) -> Option<Chart> {
    let series = |(colour, (quantile, name)): (usize, (&str, &str))| {
        let point = |(value, parameters): &Step| Some((*value, latency(run, parameters, quantile)?));
        let points: Vec<(f64, PrintedQuantity)> = steps.iter().filter_map(point).collect();
        Series { name: name.to_owned(), colour, variant: 0, points }
    };
    let all: Vec<Series> =
        QUANTILES.into_iter().enumerate().map(series).filter(|series| series.points.len() > 1).collect();
    let across = if is_load { "offered events a second" } else { "senders" };
    let curves = Curves {
        x: ChartAxis::new(across, Unit::Count, Division::Octaves),
        y: ChartAxis::new("time of an event", Unit::Seconds, Division::Decades),
        series: all,
        marks: bend.map(|x| Mark { x, text: "knee".to_owned() }).into_iter().collect(),
    };
    let about = "Both axes logarithmic. Bars: 95% intervals over jobs.".to_owned();
    (!curves.series.is_empty()).then(|| Chart { title: title.to_owned(), about, plot: ChartPlot::Curves(curves) })
}
