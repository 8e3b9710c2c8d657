//! Ratings: a row for each, and applications against one, machine by machine, with the line through the origin.

use model::{BenchmarkResult, ResultKey, Run};

use crate::words::{plural, result_label};
use crate::{
    Block, Cell, Chart, ChartAxis, ChartPlot, Column, Division, DocumentSection, PrintedQuantity, ScatterPlot, Table,
    TableRow,
};

/// End of the title of a rating as a whole; the others are its components.
const WHOLE: &str = "geometric mean";

/// The ratings of the runs: the means first, their components folded. A ratio above 1 is faster than the reference
/// machine.
pub(super) fn rows(runs: &[&Run], names: &[String]) -> Option<DocumentSection> {
    let mut keys: Vec<(ResultKey, String)> = Vec::new();
    for result in runs.iter().flat_map(|run| &run.results).filter(|result| result.family() == "rating") {
        let key = result.key();
        if !keys.iter().any(|(known, _)| *known == key) {
            keys.push((key, result_label(result)));
        }
    }
    let (means, parts): (Vec<_>, Vec<_>) = keys.into_iter().partition(|(_, label)| label.contains(WHOLE));
    if means.is_empty() {
        return None;
    }
    let mut blocks = vec![Block::Table(ratios(runs, names, &means))];
    if !parts.is_empty() {
        let title = plural(parts.len(), "component");
        blocks.push(Block::folded(title, vec![Block::Table(ratios(runs, names, &parts))]));
    }
    Some(DocumentSection { title: "Rating (reference machine = 1)".to_owned(), blocks })
}

fn ratios(runs: &[&Run], names: &[String], keys: &[(ResultKey, String)]) -> Table {
    let mut columns = vec![Column::label("")];
    for name in names {
        let heading = if runs.len() > 1 { name.as_str() } else { "ratio" };
        columns.extend([Column::number(heading), Column::number("interval")]);
    }
    let cells = |run: &&Run, key: &ResultKey| match value(run, key) {
        Some((_, quantity)) => [Cell::Value(quantity), Cell::Interval(quantity)],
        None => [Cell::Empty, Cell::Empty],
    };
    let row = |(key, label): &(ResultKey, String)| {
        TableRow::of(std::iter::once(Cell::text(label)).chain(runs.iter().flat_map(|run| cells(run, key))).collect())
    };
    Table::plain(columns, keys.iter().map(row).collect())
}

/// Fewest machines of a chart.
const LEAST_MACHINES: usize = 3;

/// One chart for each application, over the first rating that enough runs have.
pub(super) fn section(runs: &[&Run], names: &[String]) -> Option<DocumentSection> {
    let of = |families: &[&str]| -> Vec<ResultKey> {
        let mut keys: Vec<ResultKey> = Vec::new();
        for result in runs.iter().flat_map(|run| &run.results).filter(|result| families.contains(&result.family())) {
            let holders = runs.iter().filter(|run| value(run, &result.key()).is_some()).count();
            if holders >= LEAST_MACHINES && !keys.contains(&result.key()) {
                keys.push(result.key());
            }
        }
        keys
    };
    let rating = of(&["rating", "spec"]).into_iter().next()?;
    let blocks: Vec<Block> = of(&["application", "app"])
        .iter()
        .filter_map(|key| chart(runs, names, &rating, key))
        .map(Block::Chart)
        .collect();
    (!blocks.is_empty()).then(|| DocumentSection { title: "Applications vs rating".to_owned(), blocks })
}

fn value<'a>(run: &'a Run, key: &ResultKey) -> Option<(&'a BenchmarkResult, PrintedQuantity)> {
    let result = run.result(key)?;
    Some((result, PrintedQuantity::of(result.outcome.estimate()?, result.metric.unit).in_metric(&result.metric)))
}

fn chart(runs: &[&Run], names: &[String], rating: &ResultKey, application: &ResultKey) -> Option<Chart> {
    let mut points = Vec::new();
    let mut labels = None;
    for (run, name) in runs.iter().zip(names) {
        if let (Some((x, across)), Some((y, up))) = (value(run, rating), value(run, application)) {
            labels.get_or_insert_with(|| (result_label(x), across.unit, result_label(y), up.unit));
            points.push((name.clone(), across, up));
        }
    }
    let (x_title, x_unit, y_title, y_unit) = labels?;
    let xs: Vec<f64> = points.iter().map(|(_, x, _)| x.value).collect();
    let ys: Vec<f64> = points.iter().map(|(_, _, y)| y.value).collect();
    let rates = y_unit.is_rate() && x_unit != model::Unit::Seconds;
    // As in `application::fit`: every machine counts by its share.
    let weights: Vec<f64> = xs.iter().map(|x| x.powi(-2)).collect();
    let line = || stats::fit::line::weighted_line_through_origin(&xs, &ys, &weights);
    let slope = if rates { line().map(|line| line.slope) } else { None };
    let division = if rates { Division::Linear } else { Division::Decades };
    let about = if slope.is_some() {
        "One dot per machine. Machines above the line run the application faster than their rating predicts."
    } else {
        "One dot per machine, both axes logarithmic."
    };
    let x = ChartAxis { title: x_title, unit: x_unit, division };
    let y = ChartAxis { title: y_title.clone(), unit: y_unit, division };
    Some(Chart {
        title: y_title,
        about: about.to_owned(),
        plot: ChartPlot::Scatter(ScatterPlot { x, y, points, slope, marked: None }),
    })
}
