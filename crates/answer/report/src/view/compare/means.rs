//! Geometric means of a comparison.

use compare::{Comparison, GeometricMean, Normalise};
use model::Unit;

use super::rows;
use crate::words::{distinct, factor, family_title, plural};
use crate::{Block, Cell, Column, DocumentSection, PrintedQuantity, Table, TableRow};

/// The means against the reference with a row for each family, or for many machines with a row each and `most` families
/// in one table; `None` if there are no means.
pub(crate) fn section(comparison: &Comparison, others: &[usize], most: usize) -> Option<DocumentSection> {
    let others_means = comparison.geometric_means.iter().filter(|mean| mean.machine != comparison.reference);
    let mut families = distinct(others_means.map(|mean| mean.family.as_deref()));
    if families.is_empty() {
        return None;
    }
    families.sort_by_key(Option::is_none); // all results last
    let mut blocks = match others {
        [other] => vec![Block::Table(pair(comparison, &families, &comparison.machines[*other].name))],
        few if few.len() <= super::BESIDE => vec![Block::Table(beside(comparison, &families, few))],
        many => families.chunks(most.max(1)).map(|part| Block::Table(below(comparison, part, many))).collect(),
    };
    blocks.push(Block::Text(about(comparison)));
    Some(DocumentSection { title: format!("geometric means vs baseline {}", comparison.reference), blocks })
}

/// The mean of a family on a machine.
pub(super) fn find<'a>(comparison: &'a Comparison, family: Option<&str>, machine: &str) -> Option<&'a GeometricMean> {
    comparison.geometric_means.iter().find(|mean| mean.family.as_deref() == family && mean.machine == machine)
}

fn pair(comparison: &Comparison, families: &[Option<&str>], machine: &str) -> Table {
    let [mut mean_column, interval_column] = rows::change_columns(comparison.normalise, comparison.level);
    mean_column.title = "mean".to_owned();
    let columns =
        vec![Column::label(""), mean_column, interval_column, Column::number("results"), Column::number("benchmarks")];
    let row = |family: &Option<&str>| {
        let mean = find(comparison, *family, machine)?;
        let quantity = quantity(mean);
        let (value, ends) = match mean.of {
            Normalise::Ratio => (Cell::Value(quantity), quantity),
            Normalise::Gain => {
                let factor = factor(quantity, unit(comparison, *family));
                (Cell::text(factor.text()), factor.quantity)
            }
        };
        let (results, benchmarks) = (Cell::Count(mean.results as u64), Cell::Count(mean.benchmarks as u64));
        Some(TableRow::of(vec![Cell::text(title(mean)), value, Cell::Interval(ends), results, benchmarks]))
    };
    Table::plain(columns, families.iter().filter_map(row).collect())
}

fn beside(comparison: &Comparison, families: &[Option<&str>], part: &[usize]) -> Table {
    let mut columns = vec![Column::label("")];
    columns.extend(super::heads(comparison, part).into_iter().map(Column::words));
    let row = |family: &Option<&str>| {
        let (title, cells) = of_family(comparison, *family, part)?;
        Some(TableRow::of(std::iter::once(Cell::text(title)).chain(cells).collect()))
    };
    Table::plain(columns, families.iter().filter_map(row).collect())
}

/// A row for each machine that has a mean.
fn below(comparison: &Comparison, families: &[Option<&str>], machines: &[usize]) -> Table {
    let named = families.iter().filter_map(|family| of_family(comparison, *family, machines));
    let (titles, columns): (Vec<String>, Vec<Vec<Cell>>) = named.unzip();
    let mut heads = vec![Column::label("")];
    heads.extend(titles.into_iter().map(Column::words));
    let row = |(place, index): (usize, &usize)| {
        let cells: Vec<Cell> = columns.iter().map(|column| column[place].clone()).collect();
        let any = cells.iter().any(|cell| *cell != Cell::Empty);
        let name = Cell::text(&comparison.machines[*index].name);
        any.then(|| TableRow::of(std::iter::once(name).chain(cells).collect()))
    };
    Table::plain(heads, machines.iter().enumerate().filter_map(row).collect())
}

/// Title of a family's means, the number of results in them, and the mean on each machine.
fn of_family(comparison: &Comparison, family: Option<&str>, machines: &[usize]) -> Option<(String, Vec<Cell>)> {
    let means: Vec<Option<&GeometricMean>> =
        machines.iter().map(|index| find(comparison, family, &comparison.machines[*index].name)).collect();
    let first = means.iter().flatten().next()?;
    let over = if first.benchmarks < first.results {
        format!("{} of {}", plural(first.results, "result"), plural(first.benchmarks, "benchmark"))
    } else {
        plural(first.results, "result")
    };
    let cell = |mean: &GeometricMean| Cell::text(words(comparison, mean));
    let head = format!("{}, {over}", title(first));
    Some((head, means.into_iter().map(|mean| mean.map_or(Cell::Empty, cell)).collect()))
}

/// `Mean of all results: 1.02x slower (1.01 – 1.04); processor 1.04x slower (1.02 – 1.06)`, of a machine. A family is
/// named only if its interval shows a change.
pub(super) fn sentence(comparison: &Comparison, other: usize) -> Option<String> {
    let name = &comparison.machines[other].name;
    let means: Vec<&GeometricMean> = comparison.geometric_means.iter().filter(|mean| mean.machine == *name).collect();
    // Without an interval a mean is no finding; the whole table has it.
    let overall = means.iter().find(|mean| mean.family.is_none()).filter(|mean| mean.low.is_some())?;
    let changed = |mean: &&&GeometricMean| {
        mean.family.is_some() && mean.low.zip(mean.high).is_some_and(|(low, high)| low > 1.0 || high < 1.0)
    };
    let families = means.iter().filter(changed).map(|mean| format!("; {} {}", title(mean), words(comparison, mean)));
    Some(format!("Mean of all results: {}{}", words(comparison, overall), families.collect::<String>()))
}

/// A mean with its interval.
fn words(comparison: &Comparison, mean: &GeometricMean) -> String {
    match mean.of {
        Normalise::Ratio => quantity(mean).text_with_interval(),
        Normalise::Gain => factor(quantity(mean), unit(comparison, mean.family.as_deref())).text_with_interval(),
    }
}

/// A mean without its interval: `1.04x faster`.
pub(super) fn factor_words(comparison: &Comparison, mean: &GeometricMean) -> String {
    factor(quantity(mean), unit(comparison, mean.family.as_deref())).text_in_map()
}

/// What the means include, where a reader could think otherwise.
pub(super) fn about(comparison: &Comparison) -> String {
    let machines = comparison.machines.len().saturating_sub(1);
    let mut words = vec!["Each benchmark has the same weight, whatever its number of parameter settings".to_owned()];
    let overall = comparison.geometric_means.iter().find(|mean| mean.family.is_none());
    if let Some(left_out) = overall.map(|mean| mean.left_out).filter(|count| machines > 1 && *count > 0) {
        words.push(format!("without {} that some machine lacks", plural(left_out, "result")));
    }
    format!("{}.", words.join("; "))
}

/// The mean with its interval, if the spread of every result is known.
fn quantity(mean: &GeometricMean) -> PrintedQuantity {
    PrintedQuantity::ratio_with(mean.value, mean.low.zip(mean.high))
}

/// The unit of a family: seconds if all results are times or rates, so that they become faster or slower.
fn unit(comparison: &Comparison, family: Option<&str>) -> Unit {
    let of_family =
        |row: &&compare::CompareRow| family.is_none_or(|family| row.benchmark.split('.').next() == Some(family));
    let speed = |row: &compare::CompareRow| row.metric.unit == Unit::Seconds || row.metric.unit.is_rate();
    let all = comparison.rows.iter().filter(of_family).all(speed);
    if all { Unit::Seconds } else { Unit::Ratio }
}

fn title(mean: &GeometricMean) -> String {
    mean.family.as_deref().map_or_else(|| "all results".to_owned(), family_title)
}
