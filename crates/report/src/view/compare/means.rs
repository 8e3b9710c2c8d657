//! Geometric means of a comparison.

use analyse::Comparison;
use analyse::compare::{GeometricMean, Normalise};
use model::Unit;

use crate::words::{family_title, percent};
use crate::{Block, Cell, Column, Kind, Quantity, Row, Section, Table};

/// The means against the reference, a row a family, or of many machines a row each with `most` families in
/// one table; nothing when there is none.
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
        few if few.len() <= super::BESIDE => vec![Block::Table(beside(comparison, &families, few))],
        many => families.chunks(most.max(1)).map(|part| Block::Table(below(comparison, part, many))).collect(),
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
    columns.extend(machines.iter().map(|machine| Column::new(*machine, Kind::Words)));
    let row = |family: &Option<&str>| {
        let means: Vec<Option<&GeometricMean>> =
            machines.iter().map(|machine| find(comparison, *family, machine)).collect();
        let first = means.iter().flatten().next()?;
        let mut cells = vec![Cell::text(name(first))];
        cells.extend(means.into_iter().map(cell));
        Some(Row { cells })
    };
    Table::plain(columns, families.iter().filter_map(row).collect())
}

/// A row a machine that has any mean.
fn below(comparison: &Comparison, families: &[Option<&str>], machines: &[usize]) -> Table {
    let title = |family: &Option<&str>| {
        let mean = comparison.geometric_means.iter().find(|mean| mean.family.as_deref() == *family);
        Column::new(mean.map(name).unwrap_or_default(), Kind::Words)
    };
    let mut columns = vec![Column::new("", Kind::Label)];
    columns.extend(families.iter().map(title));
    let row = |index: &usize| {
        let machine = &comparison.machines[*index].name;
        let means: Vec<Option<&GeometricMean>> =
            families.iter().map(|family| find(comparison, *family, machine)).collect();
        means.iter().flatten().next()?;
        let cells = std::iter::once(Cell::text(machine)).chain(means.into_iter().map(cell));
        Some(Row { cells: cells.collect() })
    };
    Table::plain(columns, machines.iter().filter_map(row).collect())
}

fn cell(mean: Option<&GeometricMean>) -> Cell {
    mean.map_or(Cell::Empty, |mean| Cell::text(quantity(mean).text_with_interval()))
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
