//! Writes of a ledger in SQLite that are more than one statement.

use std::path::Path;

use rusqlite::{Connection, ToSql, params};

use super::schema::{INDEX, NAMES, TABLES, VERSION, from_version_1};
use super::{ChunkVerdict, OfferedResult, RecordedOffer};
use crate::clock::Stamp;

/// Makes the tables of an older ledger those of this version: in place, or where it is only read, in a copy in memory,
/// which is returned.
pub(super) fn upgraded(connection: &Connection, path: &Path, in_place: bool) -> rusqlite::Result<Option<Connection>> {
    if !in_place {
        let copy = Connection::open_in_memory()?;
        copy.execute_batch(TABLES)?;
        copy.execute("ATTACH DATABASE ?1 AS old", [path.to_string_lossy()])?;
        copy.execute_batch(&from_version_1("old."))?;
        copy.execute_batch("DETACH DATABASE old")?;
        return Ok(Some(copy));
    }
    let all = connection.unchecked_transaction()?;
    for name in NAMES {
        all.execute_batch(&format!("ALTER TABLE {name} RENAME TO old_{name}"))?;
    }
    all.execute_batch(TABLES)?;
    all.execute_batch(&from_version_1("old_"))?;
    for name in NAMES {
        all.execute_batch(&format!("DROP TABLE old_{name}"))?;
    }
    all.execute_batch(INDEX)?;
    all.pragma_update(None, "user_version", VERSION)?;
    all.commit()?;
    Ok(None)
}

/// Counts or refuses one offer.
pub(super) fn verdict(connection: &Connection, offer: &OfferedResult, when: Stamp) -> rusqlite::Result<RecordedOffer> {
    let done = &offer.done;
    let (chunk, number, digest) = (offer.chunk.cast_signed(), offer.number.cast_signed(), done.digest.cast_signed());
    let (read, written) = (done.read.map(u64::cast_signed), done.written.map(u64::cast_signed));
    // A list of products can always be written as JSON.
    let products = (!offer.products.is_empty()).then(|| serde_json::to_string(&offer.products).unwrap_or_default());
    let events = done.events.cast_signed();
    let values: [&dyn ToSql; 13] = [
        &chunk,
        &number,
        &offer.node,
        &offer.pilot,
        &events,
        &digest,
        &done.cpu,
        &done.wall,
        &read,
        &written,
        &when.at,
        &when.since,
        &products,
    ];
    let mut insert = connection.prepare_cached(
        "INSERT INTO commits VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
         ON CONFLICT (chunk) DO NOTHING",
    )?;
    if insert.execute(&values[..])? == 1 {
        return Ok(RecordedOffer { verdict: ChunkVerdict::Counted, again: false });
    }
    let mut look = connection.prepare_cached("SELECT number, pilot, events, digest FROM commits WHERE chunk = ?1")?;
    let (first, pilot, same) = look.query_row([chunk], |row| {
        let same = (row.get::<_, i64>(2)?, row.get::<_, i64>(3)?) == (events, digest);
        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, same))
    })?;
    // The reply to the first offer was lost: this is the same offer again, and it counts already.
    if first == number && pilot == offer.pilot && same {
        return Ok(RecordedOffer { verdict: ChunkVerdict::Counted, again: true });
    }
    let verdict = if same { ChunkVerdict::Duplicate } else { ChunkVerdict::Differs };
    let mut known = connection.prepare_cached(
        "SELECT 1 FROM refusals WHERE chunk = ?1 AND number = ?2 AND pilot = ?3 AND events = ?4 AND digest = ?5",
    )?;
    if known.exists(params![chunk, number, offer.pilot, events, digest])? {
        return Ok(RecordedOffer { verdict, again: true });
    }
    let mut refuse = connection.prepare_cached(
        "INSERT INTO refusals VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
    )?;
    let differs = !same;
    // What an offer says stands first in both tables.
    let refused: [&dyn ToSql; 2] = [&differs, &offer.check];
    refuse.execute([&values[..], &refused[..]].concat().as_slice())?;
    Ok(RecordedOffer { verdict, again: false })
}
