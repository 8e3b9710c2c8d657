//! Ratings: a row for each, and applications against one, machine by machine, with the line through the origin.

use model::{Figure, FigureKey, Run};

use crate::words::{figure_label, plural};
use crate::{
    Block, Cell, Chart, ChartAxis, ChartPlot, Column, Division, DocumentSection, PrintedQuantity, ScatterPlot, Table,
    TableRow,
};

/// End of the title of a rating as a whole; the others are its components.
const WHOLE: &str = "geometric mean";

/// The ratings of the runs: the means first, their components folded. A ratio above 1 is faster than the reference
/// machine.
pub(super) fn rows(runs: &[&Run], names: &[String]) -> Option<DocumentSection> {
    let mut keys: Vec<(FigureKey, String)> = Vec::new();
    for figure in runs.iter().flat_map(|run| &run.figures).filter(|figure| figure.family() == "rating") {
        let key = figure.key();
        if !keys.iter().any(|(known, _)| *known == key) {
            keys.push((key, figure_label(figure)));
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
    Some(DocumentSection { title: "Rating, against the reference machine".to_owned(), blocks })
}

fn ratios(runs: &[&Run], names: &[String], keys: &[(FigureKey, String)]) -> Table {
    let mut columns = vec![Column::label("")];
    for name in names {
        let heading = if runs.len() > 1 { name.as_str() } else { "ratio" };
        columns.extend([Column::number(heading), Column::number("interval")]);
    }
    let cells = |run: &&Run, key: &FigureKey| match value(run, key) {
        Some((_, quantity)) => [Cell::Value(quantity), Cell::Interval(quantity)],
        None => [Cell::Empty, Cell::Empty],
    };
    let row = |(key, label): &(FigureKey, String)| {
        TableRow::of(std::iter::once(Cell::text(label)).chain(runs.iter().flat_map(|run| cells(run, key))).collect())
    };
    Table::plain(columns, keys.iter().map(row).collect())
}

/// Fewest machines of a chart.
const LEAST_MACHINES: usize = 3;

/// One chart for each application, over the first rating that enough runs have.
pub(super) fn section(runs: &[&Run], names: &[String]) -> Option<DocumentSection> {
    let of = |families: &[&str]| -> Vec<FigureKey> {
        let mut keys: Vec<FigureKey> = Vec::new();
        for figure in runs.iter().flat_map(|run| &run.figures).filter(|figure| families.contains(&figure.family())) {
            let holders = runs.iter().filter(|run| value(run, &figure.key()).is_some()).count();
            if holders >= LEAST_MACHINES && !keys.contains(&figure.key()) {
                keys.push(figure.key());
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
    (!blocks.is_empty()).then(|| DocumentSection { title: "Applications against the rating".to_owned(), blocks })
}

fn value<'a>(run: &'a Run, key: &FigureKey) -> Option<(&'a Figure, PrintedQuantity)> {
    let figure = run.figure(key)?;
    Some((figure, PrintedQuantity::of(figure.outcome.estimate()?, figure.metric.unit)))
}

fn chart(runs: &[&Run], names: &[String], rating: &FigureKey, application: &FigureKey) -> Option<Chart> {
    let mut points = Vec::new();
    let mut labels = None;
    for (run, name) in runs.iter().zip(names) {
        if let (Some((x, across)), Some((y, up))) = (value(run, rating), value(run, application)) {
            labels.get_or_insert_with(|| (figure_label(x), across.unit, figure_label(y), up.unit));
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
        "One dot a machine; the line goes through the origin: a machine above it runs the application faster than its \
         rating promises."
    } else {
        "One dot a machine, both axes logarithmic."
    };
    let x = ChartAxis { title: x_title, unit: x_unit, division };
    let y = ChartAxis { title: y_title.clone(), unit: y_unit, division };
    Some(Chart {
        title: y_title,
        about: about.to_owned(),
        plot: ChartPlot::Scatter(ScatterPlot { x, y, points, slope, marked: None }),
    })
}
