//! Pages, environments and the queue of a site.

use model::{ResultKey, Run};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::read::{summary, unsigned};
use crate::site::{self, EnvironmentChange, MachineSummary, RunFilter};
use crate::{Summary, site::pattern};

/// A statement with the parameters of SQLite.
pub(super) fn numbered(sql: &str) -> String {
    sql.replace('$', "?")
}

/// Whether an older store, opened for reading, lacks the tables of this module.
fn is_older(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT count(*) = 0 FROM sqlite_schema WHERE name = 'outbox'";
    connection.prepare_cached(sql)?.query_row([], |row| row.get(0))
}

fn signed(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn page(
    connection: &Connection,
    filter: &RunFilter<'_>,
    limit: usize,
    offset: usize,
) -> rusqlite::Result<Vec<Summary>> {
    let mut found = connection.prepare_cached(&numbered(&site::runs(filter, "")))?;
    let (limit, offset) = (signed(limit), signed(offset));
    match filter {
        RunFilter::All => found.query_map(params![limit, offset], summary)?.collect(),
        RunFilter::Machine(text) | RunFilter::Id(text) => {
            found.query_map(params![limit, offset, text], summary)?.collect()
        }
        RunFilter::Text(text) => found.query_map(params![limit, offset, pattern(text)], summary)?.collect(),
        RunFilter::Number(number) => {
            let number = i64::try_from(*number).unwrap_or(i64::MAX);
            found.query_map(params![limit, offset, number], summary)?.collect()
        }
    }
}

pub(super) fn machines(
    connection: &Connection,
    suite: Option<&str>,
    limit: usize,
    offset: usize,
) -> rusqlite::Result<Vec<MachineSummary>> {
    let mut found = connection.prepare_cached(&numbered(&site::machines(suite.is_some(), "")))?;
    let machine = |row: &Row<'_>| Ok(MachineSummary { newest: summary(row)?, runs: unsigned(row, 15)? });
    match suite {
        Some(suite) => found.query_map(params![signed(limit), signed(offset), suite], machine)?.collect(),
        None => found.query_map(params![signed(limit), signed(offset)], machine)?.collect(),
    }
}

pub(super) fn suites(connection: &Connection) -> rusqlite::Result<Vec<(String, u64)>> {
    let mut found = connection.prepare_cached(&site::suites(""))?;
    found.query_map([], |row| Ok((row.get(0)?, unsigned(row, 1)?)))?.collect()
}

pub(super) fn keys(connection: &Connection, fingerprint: &str) -> rusqlite::Result<Vec<ResultKey>> {
    let mut found = connection.prepare_cached(&numbered(&site::keys("")))?;
    let texts = found.query_map([fingerprint], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
    let texts: Vec<(String, String)> = texts.collect::<rusqlite::Result<_>>()?;
    let key = |(benchmark, parameters): (String, String)| Some(ResultKey::new(benchmark, parameters.parse().ok()?));
    Ok(texts.into_iter().filter_map(key).collect())
}

pub(super) fn environments(connection: &Connection, fingerprint: &str) -> rusqlite::Result<Vec<EnvironmentChange>> {
    if is_older(connection)? {
        return Ok(Vec::new());
    }
    let mut found = connection.prepare_cached(&numbered(&site::environments("")))?;
    let runs = found.query_map([fingerprint], |row| Ok((unsigned(row, 0)?, row.get(1)?, row.get(2)?)))?;
    let mut facts = connection.prepare_cached(&numbered(&site::facts("")))?;
    site::changes(runs.collect::<rusqlite::Result<_>>()?, |digest| {
        facts.query_row([digest], |row| row.get(0)).optional()
    })
}

pub(super) fn queued(connection: &Connection, to: &str) -> rusqlite::Result<Vec<Summary>> {
    if is_older(connection)? {
        return Ok(Vec::new());
    }
    connection.prepare_cached(&numbered(&site::queued("")))?.query_map([to], summary)?.collect()
}

pub(super) fn put_environment(transaction: &Transaction<'_>, number: i64, run: &Run) -> rusqlite::Result<()> {
    let (digest, text) = site::environment(run);
    let [facts, of_run] = site::save_environment("").map(|sql| numbered(&sql));
    transaction.prepare_cached(&facts)?.execute((&digest, text))?;
    transaction.prepare_cached(&of_run)?.execute((number, digest)).map(drop)
}
