//! The tables, one migration step for each version, in a schema of their own.

use postgres::Client;

/// Migration steps, the first from an empty database. A released step never changes. Columns mean what they mean in the
/// SQLite store.
const STEPS: &[&str] = &[
    "
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
    machine text NOT NULL,
    fingerprint text NOT NULL,
    suite text NOT NULL,
    tool text,
    version text NOT NULL,
    figures bigint NOT NULL,
    measured bigint NOT NULL
);
CREATE TABLE prony.documents (
    number bigint PRIMARY KEY REFERENCES prony.runs ON DELETE CASCADE,
    whole bytea NOT NULL,
    launch_values bytea NOT NULL
);
-- The documents are packed already: to try once more only costs time.
ALTER TABLE prony.documents ALTER COLUMN whole SET STORAGE EXTERNAL, ALTER COLUMN launch_values SET STORAGE EXTERNAL;
CREATE TABLE prony.keys (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    probe text NOT NULL,
    point text NOT NULL,
    UNIQUE (probe, point)
);
CREATE TABLE prony.figures (
    number bigint NOT NULL REFERENCES prony.runs ON DELETE CASCADE,
    position bigint NOT NULL,
    key bigint NOT NULL REFERENCES prony.keys,
    kind text NOT NULL,
    value double precision,
    low double precision,
    high double precision,
    launches bigint NOT NULL,
    class text NOT NULL,
    machine bigint REFERENCES prony.machines,
    moment bigint NOT NULL,
    PRIMARY KEY (number, position)
);
CREATE INDEX figures_by_key ON prony.figures (key);
CREATE INDEX figures_by_history ON prony.figures (machine, key, moment, number)
    WHERE machine IS NOT NULL AND value IS NOT NULL;
",
    "
DROP INDEX prony.figures_by_key;
DELETE FROM prony.figures WHERE machine IS NULL OR value IS NULL;
DELETE FROM prony.keys WHERE key NOT IN (SELECT key FROM prony.figures);
ALTER TABLE prony.figures DROP COLUMN kind, DROP COLUMN class;
",
    "
ALTER TABLE prony.runs ADD COLUMN interrupted boolean;
UPDATE prony.runs SET interrupted = FALSE WHERE complete OR tool IS NOT NULL;
",
];

/// The version that this program writes.
pub(super) const KNOWN: i64 = STEPS.len() as i64;

/// Key of the advisory lock that writers hold ("Prny").
pub(super) const LOCK: i64 = 0x5072_6e79;

/// Version of the store in the database; `None` if there is none.
pub(super) fn form(client: &mut impl postgres::GenericClient) -> Result<Option<i64>, postgres::Error> {
    let there: bool = client.query_one("SELECT to_regclass('prony.store') IS NOT NULL", &[])?.get(0);
    if there { Ok(Some(client.query_one("SELECT form FROM prony.store", &[])?.get(0))) } else { Ok(None) }
}

/// Migrates the database to the version that this program knows, all steps in one transaction.
pub(super) fn migrate(client: &mut Client) -> Result<(), postgres::Error> {
    let mut transaction = client.transaction()?;
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK])?;
    let from = match form(&mut transaction)? {
        Some(form) => form,
        None => {
            transaction.batch_execute(
                "CREATE SCHEMA IF NOT EXISTS prony;
                 CREATE TABLE prony.store (form bigint NOT NULL, next bigint NOT NULL);
                 INSERT INTO prony.store VALUES (0, 1);",
            )?;
            0
        }
    };
    for step in STEPS.iter().skip(usize::try_from(from).unwrap_or(usize::MAX)) {
        transaction.batch_execute(step)?;
    }
    super::write::derive_interrupted(&mut transaction)?;
    transaction.execute("UPDATE prony.store SET form = $1", &[&from.max(KNOWN)])?;
    transaction.commit()
}
