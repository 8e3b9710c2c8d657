//! The tables, in a schema of their own.

use postgres::Client;

/// The version that this program reads and writes.
pub(super) const KNOWN: i64 = 1;

/// Key of the advisory lock that writers hold ("Prny").
pub(super) const LOCK: i64 = 0x5072_6e79;

/// Columns have the same meaning as in the SQLite store.
const TABLES: &str = "
CREATE SCHEMA IF NOT EXISTS prony;
CREATE TABLE prony.store (version bigint NOT NULL, next bigint NOT NULL);
CREATE TABLE prony.machines (
    machine bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    fingerprint text NOT NULL UNIQUE
);
CREATE TABLE prony.runs (
    number bigint PRIMARY KEY,
    id text NOT NULL UNIQUE,
    label text,
    written_label text,
    started text NOT NULL,
    moment bigint NOT NULL,
    seconds double precision NOT NULL,
    rounds bigint NOT NULL,
    complete boolean NOT NULL,
    interrupted boolean NOT NULL,
    machine text NOT NULL,
    fingerprint text NOT NULL,
    suite text NOT NULL,
    tool text,
    version text NOT NULL,
    results bigint NOT NULL,
    measured bigint NOT NULL
);
CREATE TABLE prony.documents (
    number bigint PRIMARY KEY REFERENCES prony.runs ON DELETE CASCADE,
    whole bytea NOT NULL,
    sample_values bytea NOT NULL
);
-- The documents are packed already: to try once more only costs time.
ALTER TABLE prony.documents ALTER COLUMN whole SET STORAGE EXTERNAL, ALTER COLUMN sample_values SET STORAGE EXTERNAL;
CREATE TABLE prony.keys (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    benchmark text NOT NULL,
    parameters text NOT NULL,
    UNIQUE (benchmark, parameters)
);
CREATE TABLE prony.results (
    number bigint NOT NULL REFERENCES prony.runs ON DELETE CASCADE,
    position bigint NOT NULL,
    key bigint NOT NULL REFERENCES prony.keys,
    value double precision NOT NULL,
    low double precision NOT NULL,
    high double precision NOT NULL,
    samples bigint NOT NULL,
    machine bigint NOT NULL REFERENCES prony.machines,
    moment bigint NOT NULL,
    PRIMARY KEY (number, position)
);
CREATE INDEX results_by_history ON prony.results (machine, key, moment, number);
";

/// Version of the store in the database; `None` if there is none.
pub(super) fn version(client: &mut impl postgres::GenericClient) -> Result<Option<i64>, postgres::Error> {
    let there: bool = client.query_one("SELECT to_regclass('prony.store') IS NOT NULL", &[])?.get(0);
    if there { Ok(Some(client.query_one("SELECT version FROM prony.store", &[])?.get(0))) } else { Ok(None) }
}

/// Creates the tables in a database that has no store. Another process may do the same, so the check is repeated under
/// the lock.
pub(super) fn create(client: &mut Client) -> Result<(), postgres::Error> {
    super::in_transaction(client, |transaction| {
        if version(transaction)?.is_none() {
            transaction.batch_execute(TABLES)?;
            transaction.batch_execute(&crate::site::tables("prony."))?;
            transaction.execute("INSERT INTO prony.store VALUES ($1, 1)", &[&KNOWN])?;
        }
        Ok(())
    })
}

/// Creates what a store of an earlier version lacks.
pub(super) fn complete(client: &mut Client) -> Result<(), postgres::Error> {
    let there: bool = client.query_one("SELECT to_regclass('prony.outbox') IS NOT NULL", &[])?.get(0);
    if there {
        return Ok(());
    }
    super::in_transaction(client, |transaction| transaction.batch_execute(&crate::site::tables("prony.")))
}
