//! Many machines against one: a row for each machine and a column for each result, like published tables.

use compare::{CompareRow as Compared, Comparison, Ratio};
use model::Verdict;

use super::rows;
use crate::words::{family_title, grouped, plural};
use crate::{Block, Cell, Column, DocumentSection, Table, TableRow};

/// Stands for inconclusive, the verdict of most cells of old tables.
pub(crate) const INCONCLUSIVE: &str = "?";

/// Tables for each family with `most` results in each; results that cannot be compared on any machine are in the list
/// of open ones.
pub(crate) fn sections(comparison: &Comparison, reference: usize, most: usize) -> Vec<DocumentSection> {
    let rows = comparison.rows.iter().filter(|row| comparable(row, reference));
    let families = grouped(rows.map(|row| (row.benchmark.split('.').next().unwrap_or_default(), row)));
    let parts = families.iter().flat_map(|(family, results)| even(results, most).map(move |part| (family, part)));
    parts
        .map(|(family, part)| DocumentSection {
            title: family_title(family),
            blocks: vec![Block::Table(table(comparison, reference, part))],
        })
        .collect()
}

/// Parts of at most `most` results and of similar size.
fn even<'a, 'r>(results: &'a [&'r Compared], most: usize) -> std::slice::Chunks<'a, &'r Compared> {
    let parts = results.len().div_ceil(most.max(1)).max(1);
    results.chunks(results.len().div_ceil(parts).max(1))
}

fn comparable(row: &Compared, reference: usize) -> bool {
    row.ratios.iter().enumerate().any(|(index, ratio)| index != reference && has(ratio))
}

const fn has(ratio: &Ratio) -> bool {
    ratio.value.is_some() || !ratio.modes.is_empty()
}

fn table(comparison: &Comparison, reference: usize, results: &[&Compared]) -> Table {
    let mut columns = vec![Column::label("")];
    columns.extend(results.iter().map(|row| Column::words(rows::name(row))));
    let mut lines = Vec::with_capacity(comparison.machines.len());
    for (index, machine) in comparison.machines.iter().enumerate() {
        let ratios: Vec<Option<&Ratio>> = results.iter().map(|row| row.ratios.get(index)).collect();
        if index != reference && !ratios.iter().flatten().any(|ratio| has(ratio)) {
            continue;
        }
        let cell = |(row, ratio): (&&Compared, Option<&Ratio>)| match ratio {
            Some(ratio) if index == reference => own(rows::value(row, ratio)),
            Some(ratio) if has(ratio) => rows::ratio(row, ratio, comparison.normalise, INCONCLUSIVE),
            _ => Cell::Empty,
        };
        let name = std::iter::once(Cell::text(&machine.name));
        lines.push(TableRow::of(name.chain(results.iter().zip(ratios).map(cell)).collect()));
    }
    Table::plain(columns, lines)
}

/// The value of the reference with its own prefix, since its neighbours in the row are other results.
fn own(cell: Cell) -> Cell {
    match cell {
        Cell::Value(quantity) => Cell::text(quantity.text()),
        Cell::Below(quantity) => Cell::text(format!("< {}", quantity.text())),
        other => other,
    }
}

/// Ranks of the machines if some are significantly better than others: a rank, or the span that equal ones share.
pub(crate) fn places(comparison: &Comparison) -> Option<DocumentSection> {
    let sure = |row: &&Compared| {
        let mut spans = row.ratios.iter().filter_map(|ratio| ratio.rank);
        spans.next().is_some_and(|first| spans.any(|rank| (rank.low, rank.high) != (first.low, first.high)))
    };
    let ordered: Vec<&Compared> = comparison.rows.iter().filter(sure).collect();
    let open = comparison.rows.len() - ordered.len();
    if ordered.is_empty() {
        return None;
    }
    let columns = Column::list("|~ranks, the best first");
    let line = |row: &&Compared| TableRow::of(vec![Cell::text(rows::name(row)), Cell::text(order(comparison, row))]);
    let mut blocks = vec![Block::table(columns, ordered.iter().map(line).collect())];
    if open > 0 {
        blocks.push(Block::Text(format!("In {} no machine is better than another.", plural(open, "result"))));
    }
    Some(DocumentSection { title: "ranks".to_owned(), blocks })
}

/// `1 node3 · 2–4 node1, node2, node5`.
fn order(comparison: &Comparison, row: &Compared) -> String {
    let ranked = row.ratios.iter().zip(&comparison.machines);
    let ranked = ranked.filter_map(|(ratio, machine)| Some((ratio.rank?, machine.name.as_str())));
    let mut spans = grouped(ranked.map(|(rank, name)| ((rank.low, rank.high), name)));
    spans.sort_by_key(|(span, _)| *span);
    let say = |((low, high), names): &((usize, usize), Vec<&str>)| {
        let place = if low == high { low.to_string() } else { format!("{low}–{high}") };
        format!("{place} {}", names.join(", "))
    };
    spans.iter().map(say).collect::<Vec<_>>().join(" · ")
}

/// Whether a table has an inconclusive cell, so that its mark must be explained.
pub(crate) fn has_inconclusive(comparison: &Comparison) -> bool {
    let ratios = || comparison.rows.iter().flat_map(|row| &row.ratios);
    ratios().any(|ratio| ratio.verdict == Some(Verdict::Inconclusive))
}
