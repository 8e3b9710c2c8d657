//! Writes of a ledger in SQLite that are more than one statement.

use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rusqlite::{Connection, ToSql, params, params_from_iter};

use super::schema::{APPLICATION, INDEX, NAMES, TABLES, VERSION};
use super::seal::{self, DamagedRecords, sealed};
use super::{ChunkVerdict, DAMAGED, Incident, OfferedResult, RecordedOffer, read};
use crate::clock::Stamp;

/// Makes the sound records of a ledger of some version one of this version, with a word about the others in its story:
/// in place, or where it is only read, in a copy in memory, which is returned. Nothing is changed if the record of the
/// run itself is damaged.
pub(super) fn remade(
    connection: &Connection,
    version: i32,
    in_place: bool,
) -> rusqlite::Result<(Option<Connection>, DamagedRecords)> {
    if !in_place {
        let copy = Connection::open_in_memory()?;
        copy.execute_batch(TABLES)?;
        let damaged = seal::copy(connection, version, "", &copy)?;
        tell(&copy, &damaged)?;
        return Ok((Some(copy), damaged));
    }
    let all = connection.unchecked_transaction()?;
    for name in NAMES {
        all.execute_batch(&format!("ALTER TABLE {name} RENAME TO old_{name}"))?;
    }
    all.execute_batch(TABLES)?;
    let damaged = seal::copy(&all, version, "old_", &all)?;
    if damaged.farm > 0 {
        return Ok((None, damaged));
    }
    for name in NAMES {
        all.execute_batch(&format!("DROP TABLE old_{name}"))?;
    }
    all.execute_batch(INDEX)?;
    all.pragma_update(None, "user_version", VERSION)?;
    tell(&all, &damaged)?;
    seal::check_structure(&all)?;
    all.commit()?;
    Ok((None, damaged))
}

/// Writes the sound records that can be read of a damaged ledger of this version into a new one at a path. Returns the
/// number of chunks that count there.
pub(super) fn rescued(connection: &Connection, path: &Path) -> rusqlite::Result<u64> {
    let copy = Connection::open_in_memory()?;
    copy.execute_batch(TABLES)?;
    copy.execute_batch(INDEX)?;
    let damaged = seal::rescue(connection, &copy)?;
    tell(&copy, &damaged)?;
    // Without this record, the others are of no use.
    copy.query_row("SELECT 1 FROM farm", [], |_| Ok(()))?;
    copy.pragma_update(None, "application_id", APPLICATION)?;
    copy.pragma_update(None, "user_version", VERSION)?;
    into_file(&copy, path)?;
    copy.query_row("SELECT count(*) FROM commits", [], |row| row.get(0)).map(i64::cast_unsigned)
}

/// Writes a ledger into a new file. It holds the token, so only its owner may read it.
pub(super) fn into_file(connection: &Connection, path: &Path) -> rusqlite::Result<()> {
    // SQLite writes into an empty file, and into no other one.
    let _ = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    connection.execute("VACUUM INTO ?1", [path.to_string_lossy()]).map(drop)
}

/// Adds damaged records to the story.
fn tell(connection: &Connection, damaged: &DamagedRecords) -> rusqlite::Result<()> {
    if damaged.is_empty() {
        return Ok(());
    }
    let when = read::last_moment(connection)?;
    let incident = |chunk: Option<u64>, detail: String| Incident {
        at: when.at,
        since: when.since,
        what: DAMAGED.to_owned(),
        node: String::new(),
        chunk,
        detail,
    };
    for chunk in &damaged.chunks {
        note(connection, &incident(Some(*chunk), "its record does not count any more: it is done again".to_owned()))?;
    }
    if damaged.other > 0 {
        let rest = DamagedRecords { chunks: Vec::new(), farm: 0, other: damaged.other };
        note(connection, &incident(None, format!("{}, and left out", rest.words())))?;
    }
    Ok(())
}

/// Adds an incident.
pub(super) fn note(connection: &Connection, one: &Incident) -> rusqlite::Result<()> {
    let mut insert = connection.prepare_cached("INSERT INTO incidents VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
    let chunk = one.chunk.map(u64::cast_signed);
    let values: [&dyn ToSql; 6] = [&one.at, &one.since, &one.what, &one.node, &chunk, &one.detail];
    insert.execute(params_from_iter(sealed("incidents", &values)?)).map(drop)
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
        "INSERT INTO commits VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
         ON CONFLICT (chunk) DO NOTHING",
    )?;
    if insert.execute(params_from_iter(sealed("commits", &values)?))? == 1 {
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
        "INSERT INTO refusals VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
    )?;
    let differs = !same;
    // What an offer says stands first in both tables.
    let refused: [&dyn ToSql; 2] = [&differs, &offer.check];
    refuse.execute(params_from_iter(sealed("refusals", &[&values[..], &refused[..]].concat())?))?;
    Ok(RecordedOffer { verdict, again: false })
}
