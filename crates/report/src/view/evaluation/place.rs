//! Placement of the run's rows.

use model::Run;

use super::resolve::found;
use super::{EvaluationTable, Slot, TableSort};

/// All rows of a table in order: printed ones as printed, and those of the run by the sorting. A row without a figure
/// in the sorted column follows the sorted ones.
pub(super) fn placed(table: &EvaluationTable, run: &Run) -> Vec<Vec<Slot>> {
    let mut rows = table.rows.clone();
    let Some(sort) = table.sort else {
        rows.extend(table.today.iter().cloned());
        return rows;
    };
    let first = sort.rows.min(rows.len());
    for (sorted, row) in (first..).zip(&table.today) {
        let at = number(row, sort, run).map_or(sorted, |value| {
            rows[..sorted]
                .iter()
                .position(|other| number(other, sort, run).is_some_and(|other| follows(other, value, sort)))
                .unwrap_or(sorted)
        });
        rows.insert(at, row.clone());
    }
    rows
}

/// Whether a printed value comes after another in the order.
fn follows(other: f64, value: f64, sort: TableSort) -> bool {
    if sort.descending { other < value } else { other > value }
}

fn number(row: &[Slot], sort: TableSort, run: &Run) -> Option<f64> {
    match row.get(sort.column)? {
        Slot::Printed(text) => text.parse().ok(),
        Slot::Figure(key, unit) => found(run, key, *unit)?.ok().map(|quantity| quantity.value),
        _ => None,
    }
}
