//! Finds runs and figures.

use std::collections::BTreeSet;

use model::FigureKey;
use rusqlite::{Connection, OptionalExtension, Row, params, types::Type};

use crate::index::{FigureRow, OutcomeKind, SessionValue, Summary, class_from_name};
use crate::key::{canonical, figure_key};
use crate::{Detail, FigurePattern};

/// The compressed document of an id, with its current label.
pub(super) fn document(
    connection: &Connection,
    id: &str,
    detail: Detail,
) -> rusqlite::Result<Option<(Option<String>, Vec<u8>)>> {
    let sql = match detail {
        Detail::Whole => "SELECT label, whole FROM runs JOIN documents USING (number) WHERE id = ?1",
        Detail::Values => "SELECT label, launch_values FROM runs JOIN documents USING (number) WHERE id = ?1",
    };
    connection.prepare_cached(sql)?.query_row([id], |row| Ok((row.get(0)?, row.get(1)?))).optional()
}

pub(super) fn summaries(connection: &Connection) -> rusqlite::Result<Vec<Summary>> {
    connection
        .prepare_cached(
            "SELECT number, id, label, started, seconds, rounds, complete, machine, fingerprint, suite, tool, version,
                    figures, measured
             FROM runs ORDER BY number",
        )?
        .query_map([], |row| {
            Ok(Summary {
                number: unsigned(row, 0)?,
                id: row.get(1)?,
                label: row.get(2)?,
                started: row.get(3)?,
                seconds: row.get(4)?,
                rounds: row.get(5)?,
                complete: row.get(6)?,
                machine: row.get(7)?,
                fingerprint: row.get(8)?,
                suite: row.get(9)?,
                tool: row.get(10)?,
                version: row.get(11)?,
                figures: row.get(12)?,
                measured: row.get(13)?,
            })
        })?
        .collect()
}

pub(super) fn holding(connection: &Connection, figure: &FigurePattern) -> rusqlite::Result<BTreeSet<u64>> {
    let keys: Vec<(i64, FigureKey)> = connection
        .prepare_cached("SELECT key, probe, point FROM keys")?
        .query_map([], |row| Ok((row.get(0)?, figure_key(&row.get::<_, String>(1)?, &row.get::<_, String>(2)?))))?
        .collect::<Result<_, _>>()?;
    let mut numbers = BTreeSet::new();
    let mut select = connection.prepare_cached("SELECT number FROM figures WHERE key = ?1")?;
    for (key, _) in keys.iter().filter(|(_, key)| figure.matches(key)) {
        for number in select.query_map([key], |row| unsigned(row, 0))? {
            numbers.insert(number?);
        }
    }
    Ok(numbers)
}

/// The figures of a run; `None` when there is no such run.
pub(super) fn figures(connection: &Connection, id: &str) -> rusqlite::Result<Option<Vec<FigureRow>>> {
    let number: Option<i64> = connection
        .prepare_cached("SELECT number FROM runs WHERE id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    let Some(number) = number else { return Ok(None) };
    connection
        .prepare_cached(
            "SELECT probe, point, kind, value, low, high, launches, class FROM figures JOIN keys USING (key)
             WHERE number = ?1 ORDER BY position",
        )?
        .query_map([number], |row| {
            Ok(FigureRow {
                key: figure_key(&row.get::<_, String>(0)?, &row.get::<_, String>(1)?),
                kind: word(row, 2, OutcomeKind::from_name)?,
                value: row.get(3)?,
                low: row.get(4)?,
                high: row.get(5)?,
                launches: row.get(6)?,
                class: word(row, 7, class_from_name)?,
            })
        })?
        .collect::<Result<_, _>>()
        .map(Some)
}

/// The newest `limit` session values, oldest first.
pub(super) fn history(
    connection: &Connection,
    key: &FigureKey,
    fingerprint: &str,
    limit: usize,
) -> rusqlite::Result<Vec<SessionValue>> {
    let mut values: Vec<SessionValue> = connection
        .prepare_cached(
            "SELECT f.number, r.id, r.started, f.value, f.low, f.high, f.launches
             FROM figures f JOIN runs r ON r.number = f.number
             WHERE f.machine = (SELECT machine FROM machines WHERE fingerprint = ?1)
               AND f.key = (SELECT key FROM keys WHERE probe = ?2 AND point = ?3)
               AND f.value IS NOT NULL
             ORDER BY f.moment DESC, f.number DESC LIMIT ?4",
        )?
        .query_map(
            params![fingerprint, key.probe, canonical(&key.point), i64::try_from(limit).unwrap_or(i64::MAX)],
            |row| {
                Ok(SessionValue {
                    number: unsigned(row, 0)?,
                    id: row.get(1)?,
                    started: row.get(2)?,
                    value: row.get(3)?,
                    low: row.get(4)?,
                    high: row.get(5)?,
                    launches: row.get(6)?,
                })
            },
        )?
        .collect::<Result<_, _>>()?;
    values.reverse();
    Ok(values)
}

fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
}

/// A word of a closed list; any other word means damage, or a program that did not increase the schema version.
fn word<T>(row: &Row<'_>, column: usize, known: fn(&str) -> Option<T>) -> rusqlite::Result<T> {
    let name: String = row.get(column)?;
    known(&name).ok_or_else(|| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, format!("unknown word '{name}'").into())
    })
}
