//! Tables of a ledger in PostgreSQL, in a schema of their own. One database can hold several runs.

use postgres::{Error, GenericClient, Transaction};

/// Version of the tables.
pub(super) const VERSION: i64 = 1;
/// Key of the advisory lock that is held while tables and runs are created ("farm").
const LOCK: i64 = 0x6661_726d;

/// Columns mean what they mean in SQLite. Times are seconds since 1970: by the server's clock where coordinators are
/// compared (`began`, `beat`, `ended`), by the coordinator's clock elsewhere.
const TABLES: &str = "
CREATE TABLE prony_farm.ledger (form bigint NOT NULL);
CREATE TABLE prony_farm.farms (
    id text PRIMARY KEY,
    place bigint GENERATED ALWAYS AS IDENTITY,
    job jsonb NOT NULL, token text NOT NULL, key text NOT NULL,
    created double precision NOT NULL, settings jsonb NOT NULL,
    -- Chunks in a block.
    block bigint NOT NULL CHECK (block > 0)
);
CREATE TABLE prony_farm.coordinators (
    farm text NOT NULL REFERENCES prony_farm.farms ON DELETE CASCADE,
    number bigint NOT NULL,
    address text NOT NULL,
    expiry double precision NOT NULL,
    began double precision NOT NULL, beat double precision NOT NULL, ended double precision,
    -- It ended without a message: another coordinator noticed.
    lost boolean NOT NULL DEFAULT false,
    chunks bigint NOT NULL DEFAULT 0, events bigint NOT NULL DEFAULT 0,
    cpu double precision NOT NULL DEFAULT 0, wall double precision NOT NULL DEFAULT 0,
    refused bigint NOT NULL DEFAULT 0, wasted double precision NOT NULL DEFAULT 0,
    PRIMARY KEY (farm, number)
);
CREATE TABLE prony_farm.blocks (
    farm text NOT NULL REFERENCES prony_farm.farms ON DELETE CASCADE,
    block bigint NOT NULL,
    owner bigint,
    done boolean NOT NULL DEFAULT false,
    PRIMARY KEY (farm, block)
);
CREATE INDEX blocks_left ON prony_farm.blocks (farm, block) WHERE NOT done;
CREATE TABLE prony_farm.commits (
    farm text NOT NULL REFERENCES prony_farm.farms ON DELETE CASCADE,
    chunk bigint NOT NULL,
    coordinator bigint NOT NULL,
    number bigint NOT NULL, node text NOT NULL, pilot text NOT NULL,
    events bigint NOT NULL, digest bigint NOT NULL,
    cpu double precision NOT NULL, wall double precision NOT NULL, at double precision NOT NULL,
    -- A chunk counts once.
    PRIMARY KEY (farm, chunk)
);
CREATE TABLE prony_farm.refusals (
    farm text NOT NULL REFERENCES prony_farm.farms ON DELETE CASCADE,
    place bigint GENERATED ALWAYS AS IDENTITY,
    chunk bigint NOT NULL,
    number bigint NOT NULL, node text NOT NULL, pilot text NOT NULL,
    events bigint NOT NULL, digest bigint NOT NULL,
    cpu double precision NOT NULL, wall double precision NOT NULL, at double precision NOT NULL,
    differs boolean NOT NULL,
    -- When the reply was lost and the offer is repeated, no second refusal is stored.
    UNIQUE (farm, chunk, number, pilot)
);
CREATE TABLE prony_farm.incidents (
    farm text NOT NULL REFERENCES prony_farm.farms ON DELETE CASCADE,
    place bigint GENERATED ALWAYS AS IDENTITY,
    coordinator bigint NOT NULL,
    at double precision NOT NULL, what text NOT NULL, node text NOT NULL, chunk bigint, detail text NOT NULL
);
CREATE INDEX incidents_of_farm ON prony_farm.incidents (farm, what);
CREATE TABLE prony_farm.nodes (
    farm text NOT NULL REFERENCES prony_farm.farms ON DELETE CASCADE,
    node text NOT NULL, about jsonb NOT NULL,
    PRIMARY KEY (farm, node)
);
";

/// Version of the ledger in the database; `None` if there is none.
pub(super) fn version(client: &mut impl GenericClient) -> Result<Option<i64>, Error> {
    let there: bool = client.query_one("SELECT to_regclass('prony_farm.ledger') IS NOT NULL", &[])?.get(0);
    if there { Ok(Some(client.query_one("SELECT form FROM prony_farm.ledger", &[])?.get(0))) } else { Ok(None) }
}

/// Waits for others that create tables or runs, then creates the tables if there are none.
pub(super) fn prepare(transaction: &mut Transaction<'_>) -> Result<(), Error> {
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK])?;
    if version(transaction)?.is_none() {
        transaction.batch_execute("CREATE SCHEMA IF NOT EXISTS prony_farm")?;
        transaction.batch_execute(TABLES)?;
        transaction.execute("INSERT INTO prony_farm.ledger VALUES ($1)", &[&VERSION])?;
    }
    Ok(())
}
