//! Tables of a ledger in SQLite.

/// Marks a database as a ledger of this program ("farm" in ASCII).
pub(super) const APPLICATION: i32 = 0x6661_726d;
/// Version of the tables.
pub(super) const VERSION: i32 = 4;

/// Numbers of 64 bits that wrap around (digests) are stored as the signed number of the same bits. `since` is seconds
/// since the run began; `at`, of the wall clock, is for people. CPU and wall time are absent where a pilot's number was
/// not possible. The last column of every table is a checksum of the others (`seal`).
pub(super) const TABLES: &str = "
CREATE TABLE farm (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id TEXT NOT NULL, job TEXT NOT NULL, token TEXT NOT NULL, key TEXT NOT NULL, address TEXT NOT NULL,
    created REAL NOT NULL, settings TEXT NOT NULL,
    -- The host's boot in which the last coordinator began, and the begin of the run by that boot's clock.
    boot TEXT NOT NULL, zero REAL NOT NULL,
    sum INTEGER NOT NULL
) STRICT;
CREATE TABLE tally (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    -- Coordinators so far: each has lease numbers of its own.
    generation INTEGER NOT NULL,
    -- Number of the results that count, and the exclusive or of their checksums: a lost record is noticed.
    counted INTEGER NOT NULL, mark INTEGER NOT NULL,
    sum INTEGER NOT NULL
) STRICT;
CREATE TABLE commits (
    chunk INTEGER PRIMARY KEY,
    number INTEGER NOT NULL, node TEXT NOT NULL, pilot TEXT NOT NULL,
    events INTEGER NOT NULL, digest INTEGER NOT NULL, cpu REAL, wall REAL,
    read INTEGER, written INTEGER,
    at REAL NOT NULL, since REAL NOT NULL,
    products TEXT,
    sum INTEGER NOT NULL
) STRICT;
CREATE TABLE refusals (
    chunk INTEGER NOT NULL,
    number INTEGER NOT NULL, node TEXT NOT NULL, pilot TEXT NOT NULL,
    events INTEGER NOT NULL, digest INTEGER NOT NULL, cpu REAL, wall REAL,
    read INTEGER, written INTEGER,
    at REAL NOT NULL, since REAL NOT NULL,
    products TEXT,
    differs INTEGER NOT NULL,
    -- It was done a second time on purpose.
    checks INTEGER NOT NULL,
    sum INTEGER NOT NULL
) STRICT;
CREATE TABLE incidents (
    at REAL NOT NULL, since REAL NOT NULL, what TEXT NOT NULL, node TEXT NOT NULL, chunk INTEGER, detail TEXT NOT NULL,
    sum INTEGER NOT NULL
) STRICT;
CREATE TABLE nodes (node TEXT PRIMARY KEY, about TEXT NOT NULL, sum INTEGER NOT NULL) STRICT;
";

/// Finds the refusals of a chunk, for repeated offers.
pub(super) const INDEX: &str = "CREATE INDEX IF NOT EXISTS refusals_of_chunk ON refusals (chunk)";

/// Tables that are copied into a rebuilt ledger; the tally is counted again.
pub(super) const NAMES: [&str; 5] = ["farm", "commits", "refusals", "incidents", "nodes"];
