//! The tails of latencies: quantiles of single operations with their intervals.

use model::{Figure, QuantileEstimate, Run};

use crate::words::{figure_label, percent};
use crate::{Block, Cell, Column, Group, Kind, Quantity, Row, Section, Table, Tone};

/// A section with every distribution of a run, when it has any.
pub(super) fn tails(run: &Run) -> Option<Section> {
    let groups: Vec<Group> = run.figures.iter().filter(|figure| figure.quantiles.len() > 1).map(group).collect();
    if groups.is_empty() {
        return None;
    }
    let columns = vec![
        Column::new("", Kind::Label),
        Column::new("value", Kind::Number),
        Column::new("interval", Kind::Number),
        Column::new("level", Kind::Number),
    ];
    let title = "Single operations: median, 99%, 99.9% and maximum, each the median over launches";
    Some(Section::of(title, Block::Table(Table { columns, groups })))
}

fn group(figure: &Figure) -> Group {
    let shown = |one: &&QuantileEstimate| [0.5, 0.99, 0.999, 1.0].contains(&one.quantile);
    let rows = figure.quantiles.iter().filter(shown).map(|one| row(one, figure)).collect();
    Group { title: figure_label(figure), note: String::new(), rows }
}

fn row(one: &QuantileEstimate, figure: &Figure) -> Row {
    let quantity = Quantity::of(&one.estimate, figure.metric.unit);
    let level = if quantity.has_interval() { percent(one.estimate.level) } else { String::new() };
    Row {
        cells: vec![
            Cell::text(name(one.quantile)),
            Cell::Value(quantity),
            Cell::Interval(quantity),
            Cell::Text(level, Tone::Muted),
        ],
    }
}

fn name(quantile: f64) -> String {
    match quantile {
        q if q >= 1.0 => "maximum".to_owned(),
        q if (q - 0.5).abs() < 1e-9 => "median".to_owned(),
        q if q > 0.99 + 1e-9 => "99.9%".to_owned(),
        _ => "99%".to_owned(),
    }
}
