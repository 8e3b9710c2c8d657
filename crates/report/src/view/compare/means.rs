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
    families.sort_by_key(Option::is_none); // all figures last
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
    let mut columns = vec![Column::new("", Kind::Label)];
    columns.extend(part.iter().map(|index| Column::new(&comparison.machines[*index].name, Kind::Words)));
    let row = |family: &Option<&str>| {
        let (title, cells) = of_family(comparison, *family, part)?;
        Some(Row { cells: std::iter::once(Cell::text(title)).chain(cells).collect() })
    };
    Table::plain(columns, families.iter().filter_map(row).collect())
}

/// A row a machine that has any mean.
fn below(comparison: &Comparison, families: &[Option<&str>], machines: &[usize]) -> Table {
    let named = families.iter().filter_map(|family| of_family(comparison, *family, machines));
    let (titles, columns): (Vec<String>, Vec<Vec<Cell>>) = named.unzip();
    let mut heads = vec![Column::new("", Kind::Label)];
    heads.extend(titles.into_iter().map(|title| Column::new(title, Kind::Words)));
    let row = |(place, index): (usize, &usize)| {
        let cells: Vec<Cell> = columns.iter().map(|column| column[place].clone()).collect();
        let any = cells.iter().any(|cell| *cell != Cell::Empty);
        let name = Cell::text(&comparison.machines[*index].name);
        any.then(|| Row { cells: std::iter::once(name).chain(cells).collect() })
    };
    Table::plain(heads, machines.iter().enumerate().filter_map(row).collect())
}

/// What the means of a family are called and the mean on each machine. Where some are ratios and others gains, for not
/// all machines have figures of both directions, each says which it is.
fn of_family(comparison: &Comparison, family: Option<&str>, machines: &[usize]) -> Option<(String, Vec<Cell>)> {
    let means: Vec<Option<&GeometricMean>> =
        machines.iter().map(|index| find(comparison, family, &comparison.machines[*index].name)).collect();
    let first = means.iter().flatten().next()?;
    let alike = means.iter().flatten().all(|mean| mean.of == first.of);
    let title = if alike { name(first) } else { title(first) };
    let cell = |mean: &GeometricMean| {
        let said = quantity(mean).text_with_interval();
        Cell::text(if alike { said } else { format!("{said} {}", kind(mean)) })
    };
    let cells = means.into_iter().map(|mean| mean.map_or(Cell::Empty, cell)).collect();
    Some((title, cells))
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
    format!("{}, {}", title(mean), kind(mean))
}

fn title(mean: &GeometricMean) -> String {
    mean.family.as_deref().map_or_else(|| "all figures".to_owned(), family_title)
}

const fn kind(mean: &GeometricMean) -> &'static str {
    match mean.of {
        Normalise::Ratio => "ratio",
        Normalise::Gain => "times better",
    }
}
