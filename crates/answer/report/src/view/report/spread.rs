//! Distributions of single operations and samples: quantiles, and hand-offs in modes.

use model::{BenchmarkResult, Better, Flag, Outcome, QuantileEstimate, Run, Unit};

use super::curves::series_name;
use super::{CURVES, detail};
use crate::view::tails::valid_quantiles;
use crate::words::{parameters_words, result_label};
use crate::{
    Block, Cell, Chart, ChartAxis, ChartPlot, Column, Curves, Division, DocumentSection, PrintedQuantity, Series,
    TableRow,
};

/// How to read the distributions.
const TAILS: &str = "Tail latency: at 99%, 1 in 100 operations is slower.";

/// The values of measured and of imported runs.
const MEASURED: &str = "Marks: median over samples; bars: 95% interval.";
const STATED: &str = "Imported runs show the percentiles that their sources publish.";

/// Quantiles of the rows that stand for more of them.
const LISTED: [(f64, &str); 4] = [(0.5, "p50"), (0.99, "p99"), (0.999, "p99.9"), (1.0, "max")];

/// Charts of results in modes; further ones are in the tables alone.
const ROWS: usize = 12;

pub(super) fn sections(runs: &[&Run], names: &[String]) -> Vec<DocumentSection> {
    let (drawn, listed): (Vec<Chart>, Vec<Chart>) =
        quantiles(runs, names).into_iter().partition(|chart| curves(chart).len() <= CURVES);
    let mut sections = Vec::new();
    if !drawn.is_empty() || !listed.is_empty() {
        let mut about = vec![TAILS];
        let drawn_of = |imported: bool| {
            let mut runs = runs.iter().filter(|run| run.origin.is_some() == imported);
            runs.any(|run| run.results.iter().any(|result| valid_quantiles(result).len() > 1))
        };
        about.extend(drawn_of(false).then_some(MEASURED));
        about.extend(drawn_of(true).then_some(STATED));
        let mut blocks = vec![Block::Text(about.join(" "))];
        blocks.extend((!drawn.is_empty()).then_some(Block::Multiples(drawn)));
        blocks.extend(listed.iter().map(rows));
        sections.push(DocumentSection { title: "Latency distributions".to_owned(), blocks });
    }
    let modes = modes(runs, names);
    if !modes.is_empty() {
        let title = "Results with several groups of samples";
        sections.push(DocumentSection::of(title, Block::Multiples(modes)));
    }
    sections
}

fn curves(chart: &Chart) -> &[Series] {
    if let ChartPlot::Curves(curves) = &chart.plot { &curves.series } else { &[] }
}

/// The curves of a chart as rows, for more curves than colours can distinguish.
fn rows(chart: &Chart) -> Block {
    let heads = LISTED.iter().map(|(_, title)| Column::number(*title));
    let columns = std::iter::once(Column::label("")).chain(heads).collect();
    let row = |series: &Series| {
        let at = |place: f64| series.points.iter().find(|(x, _)| (x - place).abs() < 1e-9);
        let cells =
            LISTED.iter().map(|(place, _)| at(*place).map_or(Cell::Empty, |(_, quantity)| Cell::Value(*quantity)));
        TableRow::of(std::iter::once(Cell::text(&series.name)).chain(cells).collect())
    };
    let rows = curves(chart).iter().map(row).collect();
    Block::folded(chart.title.clone(), vec![Block::table(columns, rows)])
}

/// One chart for each benchmark that times single operations.
fn quantiles(runs: &[&Run], names: &[String]) -> Vec<Chart> {
    let with = |result: &&BenchmarkResult| valid_quantiles(result).len() > 1;
    let mut benchmarks: Vec<&BenchmarkResult> = Vec::new();
    for result in runs.iter().flat_map(|run| &run.results).filter(with) {
        if benchmarks.iter().all(|known| known.benchmark != result.benchmark) {
            benchmarks.push(result);
        }
    }
    // Of many runs, what one of them alone has is no comparison.
    if runs.len() > 2 {
        benchmarks.retain(|first| {
            let has =
                |run: &&&Run| run.results.iter().any(|result| result.benchmark == first.benchmark && with(&result));
            runs.iter().filter(has).count() > 1
        });
    }
    let chart = |first: &&BenchmarkResult| {
        let mut series = Vec::new();
        for (place, (run, name)) in runs.iter().zip(names).enumerate() {
            let results = run.results.iter().filter(|result| result.benchmark == first.benchmark).filter(with);
            for (index, result) in results.enumerate() {
                let (colour, variant) = if runs.len() > 1 { (place, index) } else { (index, 0) };
                let name = series_name(result, &parameters_words(&result.parameters), name, runs.len() > 1);
                series.push(Series { name, colour, variant, points: points(result) });
            }
        }
        let x = ChartAxis::new("quantile", Unit::Ratio, Division::Nines);
        let per = if first.metric.per.is_empty() { "operation" } else { &first.metric.per };
        let title =
            if first.metric.unit.is_rate() { format!("{per} per second") } else { format!("time of one {per}") };
        let y = ChartAxis { title, unit: first.metric.unit, division: Division::Decades };
        let plot = ChartPlot::Curves(Curves { x, y, series, marks: Vec::new() });
        Chart { title: first.title.clone(), about: TAILS.to_owned(), plot }
    };
    benchmarks.iter().map(chart).collect()
}

fn points(result: &BenchmarkResult) -> Vec<(f64, PrintedQuantity)> {
    // The tail of a rate is its slow end: 99% means that one operation in a hundred is slower than this.
    let share = |quantile: f64| if result.metric.better == Better::Higher { 1.0 - quantile } else { quantile };
    let parameters = |one: &&QuantileEstimate| {
        (share(one.quantile), PrintedQuantity::of(&one.estimate, result.metric.unit).in_metric(&result.metric))
    };
    let mut points: Vec<(f64, PrintedQuantity)> = valid_quantiles(result).iter().map(parameters).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

/// All samples of the results in modes, a chart for each.
fn modes(runs: &[&Run], names: &[String]) -> Vec<Chart> {
    let mut charts = Vec::new();
    for (colour, (run, name)) in runs.iter().zip(names).enumerate() {
        let grouped = |f: &&BenchmarkResult| matches!(f.outcome, Outcome::Modes(_)) || f.has(Flag::Modes);
        for result in run.results.iter().filter(grouped) {
            let label = result_label(result);
            let title = if runs.len() > 1 { format!("{name}: {label}") } else { label };
            charts.extend(detail::chart((colour, name, run, result), title));
        }
    }
    charts.truncate(ROWS);
    charts
}
