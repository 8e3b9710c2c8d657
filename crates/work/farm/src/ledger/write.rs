//! Writes of a ledger in SQLite that are more than one statement.

use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, ToSql, params, params_from_iter};

use super::schema::{APPLICATION, INDEX, NAMES, TABLES, VERSION};
use super::seal::{self, DamagedRecords, Tally, sealed, sum_of};
use super::{ChunkVerdict, DAMAGED, Incident, OfferedResult, RecordedOffer, Withdrawal, read};
use crate::clock::Stamp;

/// Adds a result that does not count.
const REFUSE: &str =
    "INSERT INTO refusals VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)";

/// Rebuilds a damaged ledger from its sound records, with an entry about the others in its event log. It works in
/// place, or if the ledger is read-only, in a copy in memory, which is returned. Nothing is changed if the record of
/// the run itself is damaged.
pub(super) fn remade(
    connection: &Connection,
    in_place: bool,
) -> rusqlite::Result<(Option<Connection>, DamagedRecords)> {
    let all = connection.unchecked_transaction()?;
    if !in_place {
        let copy = Connection::open_in_memory()?;
        copy.execute_batch(TABLES)?;
        let damaged = seal::copy(&all, "", &copy)?;
        tell(&copy, &damaged)?;
        drop(all);
        return Ok((Some(copy), damaged));
    }
    let old = || NAMES.into_iter().chain(["tally"]);
    for name in old() {
        all.execute_batch(&format!("ALTER TABLE {name} RENAME TO old_{name}"))?;
    }
    all.execute_batch(TABLES)?;
    let damaged = seal::copy(&all, "old_", &all)?;
    if damaged.farm > 0 {
        return Ok((None, damaged));
    }
    for name in old() {
        all.execute_batch(&format!("DROP TABLE old_{name}"))?;
    }
    all.execute_batch(INDEX)?;
    tell(&all, &damaged)?;
    seal::check_structure(&all)?;
    all.commit()?;
    Ok((None, damaged))
}

/// Writes the sound records that can be read of a damaged ledger into a new one at a path. Returns the
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
    let io = |error: std::io::Error| rusqlite::Error::ToSqlConversionFailure(Box::new(error));
    // SQLite writes into an empty file, and into no other one.
    std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(io)?;
    connection.execute("VACUUM INTO ?1", [path.to_string_lossy()])?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    std::fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(io)
}

/// Adds damaged records to the event log.
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
        note(connection, &incident(Some(*chunk), "its record is damaged; the chunk is repeated".to_owned()))?;
    }
    if let Some(missing) = damaged.missing() {
        note(connection, &incident(None, format!("{missing}; missing chunks are repeated")))?;
    }
    if damaged.other > 0 {
        let rest = DamagedRecords { other: damaged.other, ..DamagedRecords::default() };
        note(connection, &incident(None, format!("{}; they are ignored", rest.words())))?;
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
pub(super) fn verdict(
    connection: &Connection,
    offer: &OfferedResult,
    when: Stamp,
    tally: &mut Tally,
) -> rusqlite::Result<RecordedOffer> {
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
    let record = sealed("commits", &values)?;
    let sum = sum_of(&record);
    if insert.execute(params_from_iter(record))? == 1 {
        tally.add(sum);
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
    let mut refuse = connection.prepare_cached(REFUSE)?;
    let differs = !same;
    // The members of an offer come first in both tables.
    let refused: [&dyn ToSql; 2] = [&differs, &offer.check];
    refuse.execute(params_from_iter(sealed("refusals", &[&values[..], &refused[..]].concat())?))?;
    Ok(RecordedOffer { verdict, again: false })
}

/// Makes the counted result of a chunk uncounted, and says why in the event log. Nothing is done if none counts.
pub(super) fn withdraw(
    connection: &Connection,
    one: &Withdrawal,
    when: Stamp,
    tally: &mut Tally,
) -> rusqlite::Result<()> {
    let mut find = connection.prepare_cached("SELECT * FROM commits WHERE chunk = ?1")?;
    let record =
        |row: &rusqlite::Row<'_>| (0..14).map(|at| row.get::<_, Value>(at)).collect::<rusqlite::Result<Vec<_>>>();
    let Some(mut record) = find.query_row([one.chunk.cast_signed()], record).optional()? else { return Ok(()) };
    if let Some(Value::Integer(sum)) = record.pop() {
        tally.remove(sum);
    }
    let node = if let Some(Value::Text(node)) = record.get(2) { node.clone() } else { String::new() };
    let (differs, checks) = (one.differs, false);
    let mut values: Vec<&dyn ToSql> = record.iter().map(|value| value as &dyn ToSql).collect();
    values.extend([&differs as &dyn ToSql, &checks]);
    connection.prepare_cached(REFUSE)?.execute(params_from_iter(sealed("refusals", &values)?))?;
    connection.execute("DELETE FROM commits WHERE chunk = ?1", [one.chunk.cast_signed()])?;
    let (what, chunk, detail) = ("withdrawn".to_owned(), Some(one.chunk), one.why.clone());
    note(connection, &Incident { at: when.at, since: when.since, what, node, chunk, detail })
}
