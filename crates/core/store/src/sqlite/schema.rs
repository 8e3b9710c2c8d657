//! The tables.

use rusqlite::{Connection, TransactionBehavior};

/// `application_id` of a Prony store ("Prny"), so that no other program's database is ever written to.
const APPLICATION: i64 = 0x5072_6e79;

/// The version that this program reads and writes.
pub(super) const KNOWN: i64 = 1;

/// - `documents` holds the originals: whole run documents, and the same without the inside of samples
///   (`Detail::Values`).
/// - `results` holds the values of histories: those that Prony measured, each with its machine.
/// - `written_label` is the label in the document, `label` the current one.
const TABLES: &str = "
CREATE TABLE machines (
    machine INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    label TEXT,
    written_label TEXT,
    started TEXT NOT NULL,
    moment INTEGER NOT NULL,
    seconds REAL NOT NULL,
    rounds INTEGER NOT NULL,
    complete INTEGER NOT NULL,
    interrupted INTEGER NOT NULL,
    machine TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    suite TEXT NOT NULL,
    tool TEXT,
    version TEXT NOT NULL,
    results INTEGER NOT NULL,
    measured INTEGER NOT NULL
) STRICT;
CREATE INDEX runs_by_moment ON runs (moment);
CREATE INDEX runs_by_label ON runs (label) WHERE label IS NOT NULL;
CREATE TABLE documents (
    number INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
    whole BLOB NOT NULL,
    sample_values BLOB NOT NULL
) STRICT;
CREATE TABLE keys (
    key INTEGER PRIMARY KEY,
    benchmark TEXT NOT NULL,
    parameters TEXT NOT NULL,
    UNIQUE (benchmark, parameters)
) STRICT;
CREATE TABLE results (
    number INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    position INTEGER NOT NULL,
    key INTEGER NOT NULL REFERENCES keys,
    value REAL NOT NULL,
    low REAL NOT NULL,
    high REAL NOT NULL,
    samples INTEGER NOT NULL,
    machine INTEGER NOT NULL REFERENCES machines,
    moment INTEGER NOT NULL,
    PRIMARY KEY (number, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX results_by_history ON results (machine, key, moment, number);
";

/// Kind of a database file.
pub(super) enum Form {
    /// It is empty.
    Empty,
    /// A store of this version.
    Store(i64),
    /// A database of another program.
    Foreign,
}

/// Finds the kind of a database without changing it. The caller holds a transaction, since this takes several queries.
pub(super) fn form(connection: &Connection) -> rusqlite::Result<Form> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(match (application, version) {
        (APPLICATION, version) => Form::Store(version),
        (0, 0) if tables == 0 => Form::Empty,
        _ => Form::Foreign,
    })
}

/// Creates the tables in an empty database. Another process may do the same, so its kind is read again under the lock.
pub(super) fn create(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    if let Form::Empty = form(&transaction)? {
        transaction.execute_batch(TABLES)?;
        transaction.pragma_update(None, "user_version", KNOWN)?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
    }
    transaction.commit()
}
