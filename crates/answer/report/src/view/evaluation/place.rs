//! Placement of the run's rows.

use model::{ResultKey, Run};

use super::resolve::found;
use super::{EvaluationTable, Slot, TableSort};

/// All rows of a table in order: printed ones as printed, and those of the run by the sorting. A row without a result
/// in the sorted column follows the sorted ones.
pub(super) fn placed(table: &EvaluationTable, run: &Run) -> Vec<Vec<Slot>> {
    let mut rows = table.rows.clone();
    let today = of_every_directory(&table.today, run);
    let Some(sort) = table.sort else {
        rows.extend(today);
        return rows;
    };
    let first = sort.rows.min(rows.len());
    for (sorted, row) in (first..).zip(&today) {
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

/// Rows of files in the run's directory, and again for each further directory that it has.
fn of_every_directory(today: &[Vec<Slot>], run: &Run) -> Vec<Vec<Slot>> {
    let mut rows = Vec::new();
    for row in today {
        rows.push(row.clone());
        let files = |slot: &Slot| matches!(slot, Slot::Result(key, _) if key.parameters.get("place") == Some("target"));
        let further = if row.iter().any(files) { run.plan.more_directories.len() } else { 0 };
        rows.extend((2..2 + further).map(|number| row.iter().map(|slot| moved(slot, number)).collect()));
    }
    rows
}

/// A slot of the row of another directory.
fn moved(slot: &Slot, number: usize) -> Slot {
    let key = |key: &ResultKey| match key.parameters.get("place") {
        Some("target") => {
            ResultKey::new(key.benchmark.clone(), key.parameters.clone().with("place", format!("target{number}")))
        }
        _ => key.clone(),
    };
    match slot {
        Slot::Result(of, unit) => Slot::Result(key(of), *unit),
        Slot::Interval(of, unit) => Slot::Interval(key(of), *unit),
        Slot::Fact(name) => Slot::Fact(name.replace("filesystem.target.", &format!("filesystem.target{number}."))),
        other => other.clone(),
    }
}

/// Whether a printed value comes after another in the order.
fn follows(other: f64, value: f64, sort: TableSort) -> bool {
    if sort.descending { other < value } else { other > value }
}

fn number(row: &[Slot], sort: TableSort, run: &Run) -> Option<f64> {
    match row.get(sort.column)? {
        Slot::Printed(text) => text.parse().ok(),
        Slot::Result(key, unit) => found(run, key, *unit)?.ok().map(|quantity| quantity.value),
        _ => None,
    }
}
