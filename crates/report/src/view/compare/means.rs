//! Geometric means of a comparison.

use analyse::Comparison;
use analyse::compare::{GeometricMean, Normalise};
use model::Unit;

use crate::words::{family_title, percent};
use crate::{Block, Cell, Column, Kind, Quantity, Row, Section, Table};

/// The means against the reference, one row a family, `most` machines in one table; nothing when there is none.
pub(crate) fn section(comparison: &Comparison, others: &[usize], most: usize) -> Option<Section> {
    let mut families: Vec<Option<&str>> = Vec::new();
    for mean in comparison.geometric_means.iter().filter(|mean| mean.machine != comparison.reference) {
        if !families.contains(&mean.family.as_deref()) {
            families.push(mean.family.as_deref());
        }
    }
    if families.is_empty() {
        return None;
    }
    let blocks = match others {
        [other] => vec![Block::Table(pair(comparison, &families, &comparison.machines[*other].name))],
        many => many.chunks(most.max(1)).map(|part| Block::Table(beside(comparison, &families, part))).collect(),
    };
    Some(Section { title: format!("geometric means against {}", comparison.reference), blocks })
}

/// The mean of a family on a machine.
fn find<'a>(comparison: &'a Comparison, family: Option<&str>, machine: &str) -> Option<&'a GeometricMean> {
    comparison.geometric_means.iter().find(|mean| mean.family.as_deref() == family && mean.machine == machine)
}

fn pair(comparison: &Comparison, families: &[Option<&str>], machine: &str) -> Table {
    let columns = vec![
        Column::new("", Kind::Label),
        Column::new("mean", Kind::Number),
        Column::new(format!("{} interval", percent(comparison.level)), Kind::Number),
        Column::new("figures", Kind::Number),
    ];
    let row = |family: &Option<&str>| {
        let mean = find(comparison, *family, machine)?;
        let quantity = quantity(mean);
        let cells = vec![
            Cell::text(name(mean)),
            Cell::Value(quantity),
            Cell::Interval(quantity),
            Cell::Count(mean.figures as u64),
        ];
        Some(Row { cells })
    };
    Table::plain(columns, families.iter().filter_map(row).collect())
}

fn beside(comparison: &Comparison, families: &[Option<&str>], part: &[usize]) -> Table {
    let machines: Vec<&str> = part.iter().map(|index| comparison.machines[*index].name.as_str()).collect();
    let mut columns = vec![Column::new("", Kind::Label)];
    columns.extend(machines.iter().map(|machine| Column::new(super::short_name(machine), Kind::Words)));
    let row = |family: &Option<&str>| {
        let means: Vec<Option<&GeometricMean>> =
            machines.iter().map(|machine| find(comparison, *family, machine)).collect();
        let first = means.iter().flatten().next()?;
        let mut cells = vec![Cell::text(name(first))];
        cells.extend(
            means.iter().map(|mean| mean.map_or(Cell::Empty, |mean| Cell::text(quantity(mean).text_with_interval()))),
        );
        Some(Row { cells })
    };
    Table::plain(columns, families.iter().filter_map(row).collect())
}

/// The mean with its interval, where the spread of every figure is known.
fn quantity(mean: &GeometricMean) -> Quantity {
    if mean.level > 0.0 {
        Quantity::ratio(mean.value, mean.low, mean.high)
    } else {
        Quantity::bare(mean.value, Unit::Ratio)
    }
}

fn name(mean: &GeometricMean) -> String {
    let family = mean.family.as_deref().map_or_else(|| "all figures".to_owned(), family_title);
    match mean.of {
        Normalise::Ratio => format!("{family}, ratio"),
        Normalise::Gain => format!("{family}, times better"),
    }
}
