//! Which tables continue which published evaluation: descriptions as data, filled with what the evaluations print.

mod describe;
mod tables;

use anyhow::{Context, Result};
use import::published::Table as Printed;
use model::{FigureKey, Point};
use report::view::{Evaluation, EvaluationColumn, EvaluationTable, Slot, Sort};

use describe::{Column, Description, Rows, Sorted, Table, Today};

/// Names of the evaluations, which are those of their suites.
fn names() -> Vec<&'static str> {
    tables::ALL.iter().map(|description| description.suite).collect()
}

/// The tables of the evaluation that a suite continues; `None` for suites that continue none.
///
/// # Errors
/// When a table that ships with the program is damaged.
pub(crate) fn of_suite(suite: &str) -> Result<Option<Evaluation>> {
    let Some(description) = tables::ALL.iter().find(|description| description.suite == suite) else {
        return Ok(None);
    };
    let printed = match description.published {
        "" => Vec::new(),
        name => import::published::tables(name)?,
    };
    let tables = description.tables.iter().map(|table| filled(table, &printed)).collect::<Result<_>>()?;
    Ok(Some(Evaluation { title: description.title.to_owned(), attribution: attribution(description)?, tables }))
}

/// The tables of an evaluation that a person named.
///
/// # Errors
/// When there is no such evaluation; the text says which there are.
pub(crate) fn named(name: &str) -> Result<Evaluation> {
    let unknown = || format!("no evaluation is named {name}; there are {}", names().join(", "));
    of_suite(name)?.with_context(unknown)
}

fn attribution(description: &Description) -> Result<String> {
    let listings = import::published::list()?;
    let named = |name: &str| name.strip_prefix(import::published::PREFIX) == Some(description.published);
    let listed = listings.into_iter().find(|listing| named(&listing.name));
    Ok(listed.map_or(description.definition, |listing| listing.attribution).to_owned())
}

fn filled(table: &Table, printed: &[Printed]) -> Result<EvaluationTable> {
    let source = match table.source {
        "" => None,
        name => Some(printed.iter().find(|printed| printed.name == name).with_context(|| format!("no table {name}"))?),
    };
    let (rows, today) = match table.rows {
        Rows::Machines { today } => {
            let row = |key: &&str| table.columns.iter().map(|column| ours(column, key)).collect();
            (machines(table, source), today.iter().map(row).collect())
        }
        Rows::Tests { columns } => {
            let key = |source: &Printed, row: usize| {
                let cells: Vec<&str> = columns.iter().filter_map(|column| source.cell(row, column)).collect();
                cells.join(" ")
            };
            let keys = source.map(|source| (0..source.rows.len()).map(|row| (row, key(source, row))));
            let row = |(row, key): (usize, String)| test(table, source, row, &key);
            (keys.into_iter().flatten().map(row).collect(), Vec::new())
        }
        Rows::Given(keys) => (keys.iter().map(|key| test(table, None, 0, key)).collect(), Vec::new()),
    };
    let column = |column: &Column| EvaluationColumn { heading: column.heading.to_owned(), numbers: column.numbers };
    let sort = table.sort.map(|(column, descending, sorted)| {
        let rows = match (sorted, source) {
            (Sorted::All, _) | (_, None) => rows.len(),
            (Sorted::Where(column, value), Some(source)) => {
                (0..rows.len()).take_while(|row| source.cell(*row, column) == Some(value)).count()
            }
        };
        Sort { column, descending, rows }
    });
    Ok(EvaluationTable {
        title: table.title.to_owned(),
        note: table.note.to_owned(),
        columns: table.columns.iter().map(column).collect(),
        rows,
        today,
        sort,
    })
}

/// The printed rows of a table whose rows are machines.
fn machines(table: &Table, source: Option<&Printed>) -> Vec<Vec<Slot>> {
    let Some(source) = source else { return Vec::new() };
    let row = |row: usize| table.columns.iter().map(|column| theirs(column, source, row)).collect();
    (0..source.rows.len()).map(row).collect()
}

/// A row whose printed cells are those of its source, and whose others are of the run.
fn test(table: &Table, source: Option<&Printed>, row: usize, key: &str) -> Vec<Slot> {
    let slot = |column: &Column| match source {
        Some(source) if !column.source.is_empty() => theirs(column, source, row),
        _ => ours(column, key),
    };
    table.columns.iter().map(slot).collect()
}

fn theirs(column: &Column, source: &Printed, row: usize) -> Slot {
    let text = source.cell(row, column.source).unwrap_or_default().to_owned();
    if column.numbers { Slot::Printed(text) } else { Slot::Words(text) }
}

/// What the run says in a column; `{}` in a point stands for the row's key.
fn ours(column: &Column, key: &str) -> Slot {
    match column.today {
        Today::Machine => Slot::Machine,
        Today::Fact(name) => Slot::Fact(name),
        Today::Number(name, factor) => Slot::Number(name, factor),
        Today::Key if column.numbers => Slot::Printed(key.to_owned()),
        Today::Key => Slot::Words(key.to_owned()),
        Today::Words(words) => Slot::Words(words.to_owned()),
        Today::Absent(reason) => Slot::Absent(reason.to_owned()),
        Today::Figure(id, point, unit) => Slot::Figure(self::key(id, &point.replace("{}", key)), unit),
        Today::Interval(id, point, unit) => Slot::Interval(self::key(id, &point.replace("{}", key)), unit),
        Today::Each { of, interval } => match of.iter().find(|(name, _)| key.starts_with(name)) {
            Some((_, Today::Figure(id, point, unit))) if interval => Slot::Interval(self::key(id, point), *unit),
            Some((_, Today::Figure(id, point, unit))) => Slot::Figure(self::key(id, point), *unit),
            Some((_, Today::Absent(reason))) if !interval => Slot::Absent((*reason).to_owned()),
            _ => Slot::Words(String::new()),
        },
    }
}

/// The figure of a probe at a point, completed with representative values as suites do.
fn key(id: &str, point: &str) -> FigureKey {
    let part: Point = point.parse().unwrap_or_default();
    // Blocks of 1024 KiB are those of 1 MiB.
    let size = |value: &str| model::parse_size(value).ok().filter(|_| value.ends_with('B')).map(model::format_size);
    let part = part.iter().fold(Point::origin(), |point, (axis, value)| {
        point.with(axis, size(value).unwrap_or_else(|| value.to_owned()))
    });
    let complete =
        probes::find(id).and_then(|probe| probe.complete(&part).ok()).and_then(|points| points.into_iter().next());
    FigureKey::new(id, complete.unwrap_or(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(evaluation: &Evaluation) -> Vec<FigureKey> {
        let mut keys: Vec<FigureKey> = Vec::new();
        for table in &evaluation.tables {
            for slot in table.rows.iter().chain(&table.today).flatten() {
                if let Slot::Figure(key, _) = slot {
                    assert!(probes::find(&key.probe).is_some(), "{key}");
                    if !keys.contains(key) {
                        keys.push(key.clone());
                    }
                }
            }
        }
        keys
    }

    #[test]
    fn a_suite_measures_what_its_tables_show_and_nothing_else() {
        for name in names() {
            let shown = figures(&of_suite(name).unwrap().unwrap());
            let suite = probes::suite(name).unwrap_or_else(|| panic!("{name} is no suite"));
            let measured: Vec<FigureKey> =
                suite.selections().into_iter().map(|one| FigureKey::new(one.probe.id, one.point)).collect();
            for key in &shown {
                assert!(measured.contains(key), "suite {name} does not measure {key}");
            }
            for key in &measured {
                assert!(shown.contains(key), "no table of {name} shows {key}");
            }
        }
    }

    #[test]
    fn printed_rows_are_in_the_order_that_their_table_claims() {
        for name in names() {
            for table in of_suite(name).unwrap().unwrap().tables {
                let Some(sort) = table.sort else { continue };
                let of = |row: &Vec<Slot>| match &row[sort.column] {
                    Slot::Printed(text) => text.parse::<f64>().ok(),
                    other => panic!("{}: {other:?}", table.title),
                };
                let values: Vec<f64> = table.rows[..sort.rows].iter().filter_map(of).collect();
                let ordered = |pair: &[f64]| if sort.descending { pair[0] >= pair[1] } else { pair[0] <= pair[1] };
                assert!(values.windows(2).all(ordered), "{}: {values:?}", table.title);
            }
        }
    }

    #[test]
    fn every_printed_column_is_there_and_every_number_has_its_unit() {
        for description in tables::ALL.iter().filter(|description| !description.published.is_empty()) {
            let printed = import::published::tables(description.published).unwrap();
            for table in description.tables.iter().filter(|table| !table.source.is_empty()) {
                let source = printed.iter().find(|printed| printed.name == table.source).unwrap();
                let ours: Vec<&str> =
                    table.columns.iter().map(|column| column.source).filter(|name| !name.is_empty()).collect();
                assert_eq!(ours, source.columns, "{}", table.title);
            }
        }
    }
}
