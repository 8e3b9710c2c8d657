//! Tables of a ledger in SQLite.

/// Marks a database as a ledger of this program ("farm" in ASCII).
pub(super) const APPLICATION: i32 = 0x6661_726d;
/// Version of the tables.
pub(super) const VERSION: i32 = 1;

/// Numbers of 64 bits that wrap around (digests) are stored as the signed number of the same bits.
pub(super) const TABLES: &str = "
CREATE TABLE farm (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id TEXT NOT NULL, job TEXT NOT NULL, token TEXT NOT NULL, key TEXT NOT NULL, address TEXT NOT NULL,
    created REAL NOT NULL, settings TEXT NOT NULL
) STRICT;
CREATE TABLE commits (
    chunk INTEGER PRIMARY KEY,
    number INTEGER NOT NULL, node TEXT NOT NULL, pilot TEXT NOT NULL,
    events INTEGER NOT NULL, digest INTEGER NOT NULL, cpu REAL NOT NULL, wall REAL NOT NULL, at REAL NOT NULL
) STRICT;
CREATE TABLE refusals (
    chunk INTEGER NOT NULL,
    number INTEGER NOT NULL, node TEXT NOT NULL, pilot TEXT NOT NULL,
    events INTEGER NOT NULL, digest INTEGER NOT NULL, cpu REAL NOT NULL, wall REAL NOT NULL, at REAL NOT NULL,
    differs INTEGER NOT NULL
) STRICT;
CREATE TABLE incidents (
    at REAL NOT NULL, what TEXT NOT NULL, node TEXT NOT NULL, chunk INTEGER, detail TEXT NOT NULL
) STRICT;
CREATE TABLE nodes (node TEXT PRIMARY KEY, about TEXT NOT NULL) STRICT;
";
