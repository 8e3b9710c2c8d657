//! Queries of a ledger in SQLite.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Result, Row};

use super::{Commit, Farm, Incident, NodeTotals, OfferedResult, Refusal, Totals};
use crate::ChunkSet;
use crate::clock::Stamp;
use crate::job::{ChunkResult, FarmJob};

const SUMS: &str = "count(*), count(DISTINCT chunk), coalesce(sum(events), 0), coalesce(sum(cpu), 0.0),
    coalesce(sum(wall), 0.0), coalesce(max(number), 0), coalesce(sum(read), 0), coalesce(sum(written), 0)";
const OFFER: &str = "chunk, number, node, pilot, events, digest, cpu, wall, read, written, at, since, products";

/// The run, its job and its settings as text.
pub(super) fn farm(connection: &Connection) -> Result<(Farm, String, String)> {
    connection.query_row("SELECT id, job, token, key, address, created, settings FROM farm", [], |row| {
        let farm = Farm {
            id: row.get(0)?,
            job: FarmJob::default(),
            token: row.get(2)?,
            key: row.get(3)?,
            address: row.get(4)?,
            created: row.get(5)?,
            settings: serde_json::Value::Null,
        };
        Ok((farm, row.get(1)?, row.get(6)?))
    })
}

/// Time of the latest record.
pub(super) fn last_moment(connection: &Connection) -> Result<Stamp> {
    let text = "SELECT coalesce(max(at), 0.0), coalesce(max(since), 0.0) FROM (
            SELECT * FROM (SELECT at, since FROM commits ORDER BY since DESC LIMIT 1)
            UNION ALL SELECT * FROM (SELECT at, since FROM incidents ORDER BY since DESC LIMIT 1))";
    connection.query_row(text, [], |row| Ok(Stamp { at: row.get(0)?, since: row.get(1)? }))
}

fn sums(row: &Row<'_>, at: usize) -> Result<Totals> {
    let number = |at| row.get::<_, i64>(at).map(i64::cast_unsigned);
    Ok(Totals {
        commits: number(at)?,
        distinct: number(at + 1)?,
        events: number(at + 2)?,
        cpu: row.get(at + 3)?,
        wall: row.get(at + 4)?,
        number: number(at + 5)?,
        read: number(at + 6)?,
        written: number(at + 7)?,
        ..Totals::default()
    })
}

fn offer(row: &Row<'_>) -> Result<(OfferedResult, Stamp)> {
    let number = |at| row.get::<_, i64>(at).map(i64::cast_unsigned);
    let maybe = |at| row.get::<_, Option<i64>>(at).map(|value| value.map(i64::cast_unsigned));
    let done = ChunkResult {
        events: number(4)?,
        digest: number(5)?,
        cpu: row.get(6)?,
        wall: row.get(7)?,
        read: maybe(8)?,
        written: maybe(9)?,
    };
    let products = match row.get::<_, Option<String>>(12)? {
        None => Vec::new(),
        Some(text) => serde_json::from_str(&text).map_err(|error| {
            rusqlite::Error::FromSqlConversionFailure(12, rusqlite::types::Type::Text, Box::new(error))
        })?,
    };
    let (chunk, number, node, pilot) = (number(0)?, number(1)?, row.get(2)?, row.get(3)?);
    let offer = OfferedResult { chunk, number, node, pilot, done, products, check: false };
    Ok((offer, Stamp { at: row.get(10)?, since: row.get(11)? }))
}

pub(super) fn counted(connection: &Connection, chunks: u64) -> Result<ChunkSet> {
    let mut set = ChunkSet::new(chunks);
    let mut query = connection.prepare("SELECT chunk FROM commits")?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        set.insert(row.get::<_, i64>(0)?.cast_unsigned());
    }
    Ok(set)
}

pub(super) fn counted_result(connection: &Connection, chunk: u64) -> Result<Option<Commit>> {
    let mut query = connection.prepare_cached(&format!("SELECT {OFFER} FROM commits WHERE chunk = ?1"))?;
    let found = query.query_row([chunk.cast_signed()], offer).optional()?;
    Ok(found.map(|(offer, when)| Commit { offer, when }))
}

pub(super) fn totals(connection: &Connection) -> Result<Totals> {
    let mut totals = connection.query_row(&format!("SELECT {SUMS} FROM commits"), [], |row| sums(row, 0))?;
    let mut query = connection.prepare("SELECT digest FROM commits")?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        totals.digest = totals.digest.wrapping_add(row.get::<_, i64>(0)?.cast_unsigned());
    }
    let refused = "SELECT count(*), coalesce(sum(cpu), 0.0), coalesce(sum(differs), 0), coalesce(max(number), 0),
        coalesce(sum(checks AND NOT differs), 0) FROM refusals";
    let number = connection.query_row(refused, [], |row| {
        let count = |at| row.get::<_, i64>(at).map(i64::cast_unsigned);
        totals.refused = count(0)?;
        totals.wasted = row.get(1)?;
        totals.differing = count(2)?;
        totals.confirmed = count(4)?;
        count(3)
    })?;
    totals.number = totals.number.max(number);
    let failed = "SELECT count(*) FROM incidents WHERE what = 'failed'";
    totals.failed = connection.query_row(failed, [], |row| row.get::<_, i64>(0))?.cast_unsigned();
    Ok(totals)
}

/// Totals of every node that counted, was refused, or failed.
pub(super) fn nodes(connection: &Connection) -> Result<Vec<NodeTotals>> {
    let mut nodes: BTreeMap<String, NodeTotals> = BTreeMap::new();
    let of = |nodes: &mut BTreeMap<String, NodeTotals>, name: String, fill: &dyn Fn(&mut NodeTotals)| {
        let node = nodes.entry(name.clone()).or_default();
        node.node = name;
        fill(node);
    };
    let text = format!("SELECT node, min(since), max(since), {SUMS} FROM commits GROUP BY node");
    let mut query = connection.prepare(&text)?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let (span, totals) = ((row.get(1)?, row.get(2)?), sums(row, 3)?);
        of(&mut nodes, row.get(0)?, &|node| (node.span, node.totals) = (span, totals));
    }
    let text = "SELECT node, count(*), coalesce(sum(cpu), 0.0), sum(differs), sum(checks AND NOT differs)
        FROM refusals GROUP BY node";
    let mut query = connection.prepare(text)?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let count = |at| row.get::<_, i64>(at).map(i64::cast_unsigned);
        let (refused, wasted, differing, confirmed) = (count(1)?, row.get(2)?, count(3)?, count(4)?);
        of(&mut nodes, row.get(0)?, &|node| {
            (node.totals.refused, node.totals.wasted) = (refused, wasted);
            (node.totals.differing, node.totals.confirmed) = (differing, confirmed);
        });
    }
    // SQLite takes the other columns from the row of the greatest rowid ("Bare columns in an aggregate query").
    let text = "SELECT node, count(*), detail, max(rowid) FROM incidents WHERE what = 'failed' GROUP BY node";
    let mut query = connection.prepare(text)?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let (failed, detail) = (row.get::<_, i64>(1)?.cast_unsigned(), row.get::<_, String>(2)?);
        of(&mut nodes, row.get(0)?, &|node| {
            (node.totals.failed, node.complaint) = (failed, Some(detail.clone()));
        });
    }
    Ok(nodes.into_values().collect())
}

pub(super) fn commits(connection: &Connection, each: &mut dyn FnMut(Commit)) -> Result<()> {
    let mut query = connection.prepare(&format!("SELECT {OFFER} FROM commits ORDER BY since, chunk"))?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let (offer, when) = offer(row)?;
        each(Commit { offer, when });
    }
    Ok(())
}

pub(super) fn refusals(connection: &Connection, each: &mut dyn FnMut(Refusal)) -> Result<()> {
    let text = format!("SELECT {OFFER}, differs, checks FROM refusals ORDER BY since, rowid");
    let mut query = connection.prepare(&text)?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let (mut offer, when) = offer(row)?;
        offer.check = row.get(14)?;
        each(Refusal { offer, when, differs: row.get(13)? });
    }
    Ok(())
}

pub(super) fn incidents(connection: &Connection) -> Result<Vec<Incident>> {
    let text = "SELECT at, since, what, node, chunk, detail FROM incidents ORDER BY since, rowid";
    let mut query = connection.prepare(text)?;
    let all = query.query_map([], |row| {
        let chunk = row.get::<_, Option<i64>>(4)?.map(i64::cast_unsigned);
        let (what, node, detail) = (row.get(2)?, row.get(3)?, row.get(5)?);
        Ok(Incident { at: row.get(0)?, since: row.get(1)?, what, node, chunk, detail })
    })?;
    all.collect()
}

pub(super) fn descriptions(connection: &Connection) -> Result<Vec<(String, String)>> {
    let mut query = connection.prepare("SELECT node, about FROM nodes ORDER BY node")?;
    query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}
