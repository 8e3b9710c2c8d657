//! The tables, one migration step for each version.

use rusqlite::{Connection, TransactionBehavior};

use super::write;

/// `application_id` of a Prony store ("Prny"), so that no other program's database is ever written to.
pub(super) const APPLICATION: i64 = 0x5072_6e79;

/// Migration steps, the first from an empty file. A released step never changes.
///
/// - `documents` holds the originals: whole run documents, and the same without the inside of launches
///   (`Detail::Values`).
/// - `figures` holds the values of histories: those that Prony measured, each with its machine. Version 1 held every
///   figure of every run with its kind of outcome and its class, which nothing read.
/// - `written_label` is the label in the document, `label` the current one.
/// - `interrupted` (since version 3) is null where it is not derived from the document yet.
const STEPS: &[&str] = &["
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
    machine TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    suite TEXT NOT NULL,
    tool TEXT,
    version TEXT NOT NULL,
    figures INTEGER NOT NULL,
    measured INTEGER NOT NULL
) STRICT;
CREATE INDEX runs_by_moment ON runs (moment);
CREATE INDEX runs_by_label ON runs (label) WHERE label IS NOT NULL;
CREATE TABLE documents (
    number INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
    whole BLOB NOT NULL,
    launch_values BLOB NOT NULL
) STRICT;
CREATE TABLE keys (
    key INTEGER PRIMARY KEY,
    probe TEXT NOT NULL,
    point TEXT NOT NULL,
    UNIQUE (probe, point)
) STRICT;
CREATE TABLE figures (
    number INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    position INTEGER NOT NULL,
    key INTEGER NOT NULL REFERENCES keys,
    kind TEXT NOT NULL,
    value REAL,
    low REAL,
    high REAL,
    launches INTEGER NOT NULL,
    class TEXT NOT NULL,
    machine INTEGER REFERENCES machines,
    moment INTEGER NOT NULL,
    PRIMARY KEY (number, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX figures_by_key ON figures (key);
CREATE INDEX figures_by_history ON figures (machine, key, moment, number) WHERE machine IS NOT NULL AND value IS NOT NULL;
", "
DROP INDEX figures_by_key;
DELETE FROM figures WHERE machine IS NULL OR value IS NULL;
DELETE FROM keys WHERE key NOT IN (SELECT key FROM figures);
ALTER TABLE figures DROP COLUMN kind;
ALTER TABLE figures DROP COLUMN class;
", "
ALTER TABLE runs ADD COLUMN interrupted INTEGER;
UPDATE runs SET interrupted = 0 WHERE complete OR tool IS NOT NULL;
"];

/// The version that this program writes.
pub(super) const KNOWN: i64 = STEPS.len() as i64;

/// Kind of a database file.
pub(super) enum Form {
    /// It is empty.
    Empty,
    /// A store of this schema version.
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

/// Migrates a database to the version that this program knows, all steps in one transaction. Another process may have
/// done it meanwhile, so the version is read again under the lock.
pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    migrate_by(STEPS, connection, &write::derive_interrupted)
}

/// Takes the steps, then fills in what only documents tell.
fn migrate_by(
    steps: &[&str],
    connection: &mut Connection,
    derive: &dyn Fn(&Connection) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    let from = match form(&transaction)? {
        Form::Empty => 0,
        Form::Store(form) => usize::try_from(form).unwrap_or(usize::MAX),
        Form::Foreign => return Ok(()),
    };
    for (done, step) in (1_i64..).zip(steps).skip(from) {
        transaction.execute_batch(step)?;
        transaction.pragma_update(None, "user_version", done)?;
    }
    derive(&transaction)?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(connection: &Connection) -> i64 {
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
    }

    #[test]
    fn steps_are_taken_once_and_in_order() {
        let mut connection = Connection::open_in_memory().unwrap();
        let steps = ["CREATE TABLE a (x)", "ALTER TABLE a ADD COLUMN y", "INSERT INTO a VALUES (1, 2)"];
        for known in [1, 1, 3, 3, 2] {
            migrate_by(&steps[..known], &mut connection, &|_| Ok(())).unwrap();
            assert!(matches!(form(&connection).unwrap(), Form::Store(_)));
        }
        assert_eq!(version(&connection), 3);
        assert_eq!(connection.query_row("SELECT count(*) FROM a", [], |row| row.get::<_, i64>(0)).unwrap(), 1);
    }

    #[test]
    fn a_failed_step_leaves_the_older_version() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate_by(&["CREATE TABLE a (x)"], &mut connection, &|_| Ok(())).unwrap();
        let broken = ["CREATE TABLE a (x)", "CREATE TABLE b (x); INSERT INTO a VALUES (1)", "no such statement"];
        assert!(migrate_by(&broken, &mut connection, &|_| Ok(())).is_err());
        assert_eq!(version(&connection), 1);
        let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
        let rows: i64 = connection.query_row("SELECT count(*) FROM a", [], |row| row.get(0)).unwrap();
        assert_eq!((tables, rows), (1, 0));
    }
}
