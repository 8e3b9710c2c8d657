//! Finds runs and histories.

use model::ResultKey;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::Detail;
use crate::index::{SessionValue, Summary};
use crate::key::canonical;

/// The compressed document of an id, with its current label.
pub(super) fn document(
    connection: &Connection,
    id: &str,
    detail: Detail,
) -> rusqlite::Result<Option<(Option<String>, Vec<u8>)>> {
    let sql = match detail {
        Detail::Whole => "SELECT label, whole FROM runs JOIN documents USING (number) WHERE id = ?1",
        Detail::Values => "SELECT label, sample_values FROM runs JOIN documents USING (number) WHERE id = ?1",
    };
    connection.prepare_cached(sql)?.query_row([id], |row| Ok((row.get(0)?, row.get(1)?))).optional()
}

pub(super) fn summaries(connection: &Connection) -> rusqlite::Result<Vec<Summary>> {
    connection
        .prepare_cached(
            "SELECT number, id, label, started, seconds, rounds, complete, machine, fingerprint, suite, tool, version,
                    results, measured, interrupted
             FROM runs ORDER BY number",
        )?
        .query_map([], summary)?
        .collect()
}

pub(super) fn summary(row: &Row<'_>) -> rusqlite::Result<Summary> {
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
        results: row.get(12)?,
        measured: row.get(13)?,
        interrupted: row.get(14)?,
    })
}

/// The newest `limit` session values, oldest first.
pub(super) fn history(
    connection: &Connection,
    key: &ResultKey,
    fingerprint: &str,
    limit: usize,
) -> rusqlite::Result<Vec<SessionValue>> {
    let mut values: Vec<SessionValue> = connection
        .prepare_cached(
            "SELECT f.number, r.id, r.started, f.value, f.low, f.high, f.samples
             FROM results f JOIN runs r ON r.number = f.number
             WHERE f.machine = (SELECT machine FROM machines WHERE fingerprint = ?1)
               AND f.key = (SELECT key FROM keys WHERE benchmark = ?2 AND parameters = ?3)
             ORDER BY f.moment DESC, f.number DESC LIMIT ?4",
        )?
        .query_map(
            params![fingerprint, key.benchmark, canonical(&key.parameters), i64::try_from(limit).unwrap_or(i64::MAX)],
            |row| {
                Ok(SessionValue {
                    number: unsigned(row, 0)?,
                    id: row.get(1)?,
                    started: row.get(2)?,
                    value: row.get(3)?,
                    low: row.get(4)?,
                    high: row.get(5)?,
                    samples: row.get(6)?,
                })
            },
        )?
        .collect::<Result<_, _>>()?;
    values.reverse();
    Ok(values)
}

pub(super) fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
}
