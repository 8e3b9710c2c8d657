//! A network from memory to event building, and ways to send: rate, cost at both ends, and limit of each step.

use model::{BenchmarkResult, Estimate, Outcome, Parameters, Run, Unit};

use crate::words::{parameter_value, parameters_words};
use crate::{
    Block, Cell, Chart, ChartAxis, ChartPlot, Column, Division, DocumentSection, PrintedQuantity, Strip, StripRow,
    TableRow, Tone,
};

/// Benchmarks of the steps.
const COPY: &str = "network.memory_copy";
const STREAM: &str = "network.tcp_stream";
/// CPU time of a byte at one end.
const COST: &str = "network.tcp_cpu_byte";
/// Beginning of the note that names a limit.
const LIMIT: &str = "limit: ";

/// The tables of a run; none if it has no steps and no ways to send.
pub(super) fn steps(run: &Run) -> Vec<DocumentSection> {
    let streams = || run.results.iter().filter(|result| result.benchmark == STREAM);
    let mut sections = Vec::new();
    if let Some(copy) = run.results.iter().find(|result| result.benchmark == COPY) {
        let members: Vec<&BenchmarkResult> = std::iter::once(copy).chain(streams()).collect();
        let rows = members.iter().map(|result| (network_step(result), *result)).collect();
        sections.push(section(run, "From memory to event building", "step", rows));
    }
    let mut rests: Vec<Parameters> = Vec::new();
    for stream in streams().filter(|stream| stream.parameters.get("api").is_some()) {
        let rest = stream.parameters.clone().without("api");
        if !rests.contains(&rest) {
            rests.push(rest);
        }
    }
    for rest in rests {
        let of = streams().filter(|stream| stream.parameters.clone().without("api") == rest);
        let name = |stream: &BenchmarkResult| stream.parameters.get("api").unwrap_or_default().replace('_', " ");
        let rows = of.map(|stream| (name(stream), stream)).collect();
        sections.push(section(run, &format!("Ways to send: {}", parameters_words(&rest)), "calls", rows));
    }
    sections
}

/// A step in words.
#[must_use]
pub fn network_step(result: &BenchmarkResult) -> String {
    let streams = result.parameters.get("streams").unwrap_or("1");
    match (result.benchmark.as_str(), result.parameters.get("work")) {
        (COPY, _) => "memory copy, one core".to_owned(),
        (_, None) if streams == "1" => "one TCP stream".to_owned(),
        (_, None) => format!("{streams} TCP streams"),
        (_, Some("framed")) => {
            let size = result.parameters.get("record").map(|size| parameter_value("size", size));
            format!("messages of {}", size.unwrap_or_default())
        }
        (_, Some("events")) => format!("events of {streams} messages"),
        (_, Some(_)) => "events, each filtered".to_owned(),
    }
}

fn section(run: &Run, title: &str, first: &str, members: Vec<(String, &BenchmarkResult)>) -> DocumentSection {
    let titles = format!("{first}|#MB/s|#interval|#sender, CPU s/GB|#receiver, CPU s/GB|~limit");
    let rows = members.iter().map(|(name, result)| row(run, name, result)).collect();
    let mut blocks = vec![Block::table(Column::list(&titles), rows)];
    blocks.extend(chart(title, &members).map(Block::Chart));
    DocumentSection { title: title.to_owned(), blocks }
}

fn row(run: &Run, name: &str, result: &BenchmarkResult) -> TableRow {
    let mut cells = vec![Cell::text(name)];
    match &result.outcome {
        Outcome::Measured(estimate) => {
            let quantity = PrintedQuantity::of(&scaled(estimate, 1e-6), Unit::Count);
            cells.extend([Cell::Value(quantity), Cell::Interval(quantity)]);
        }
        Outcome::NotMeasured(reason) | Outcome::Failed(reason) => {
            cells.push(Cell::Across(reason.clone(), Tone::Caution));
            return TableRow::of(cells);
        }
        Outcome::Modes(groups) => {
            cells.push(Cell::Across(crate::words::modes(groups, &result.metric), Tone::Caution));
            return TableRow::of(cells);
        }
        Outcome::Below { .. } => cells.extend([Cell::Empty, Cell::Empty]),
    }
    cells.extend(["sender", "receiver"].map(|end| cost(run, result, end)));
    let limit = result.notes.iter().find_map(|note| note.strip_prefix(LIMIT));
    cells.push(Cell::Text(limit.unwrap_or_default().to_owned(), Tone::Muted));
    TableRow::of(cells)
}

/// CPU seconds of a GB at one end; a copy takes its core for as long as it lasts.
fn cost(run: &Run, result: &BenchmarkResult, end: &str) -> Cell {
    let estimate = match (result.benchmark.as_str(), end, result.outcome.estimate()) {
        (COPY, "sender", Some(rate)) => {
            let (low, high) = (1e9 / rate.high, 1e9 / rate.low);
            Some(Estimate { value: 1e9 / rate.value, low, high, ..*rate })
        }
        (COPY, ..) => None,
        _ => {
            let wanted = result.parameters.clone().with("end", end);
            let found = run.results.iter().find(|one| one.benchmark == COST && one.parameters == wanted);
            found.and_then(|found| Some(scaled(found.outcome.estimate()?, 1e9)))
        }
    };
    estimate.map_or(Cell::Empty, |estimate| Cell::Value(PrintedQuantity::of(&estimate, Unit::Count)))
}

fn scaled(estimate: &Estimate, by: f64) -> Estimate {
    Estimate { value: estimate.value * by, low: estimate.low * by, high: estimate.high * by, ..*estimate }
}

/// Every connection of every step, one step below the other.
fn chart(title: &str, members: &[(String, &BenchmarkResult)]) -> Option<Chart> {
    let row = |(name, result): &(String, &BenchmarkResult)| {
        let values = result.values();
        (!values.is_empty()).then(|| StripRow { label: name.clone(), values, centres: Vec::new() })
    };
    let rows: Vec<StripRow> = members.iter().filter_map(row).collect();
    let x = ChartAxis::new("throughput", Unit::BytesPerSecond, Division::Decades);
    let about = "One dot for each connection, on a logarithmic axis.".to_owned();
    (rows.len() > 1).then(|| Chart { title: title.to_owned(), about, plot: ChartPlot::Strip(Strip { x, rows }) })
}
