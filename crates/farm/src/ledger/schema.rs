//! Tables of a ledger in SQLite, and how those of older versions become those of this one.

/// Marks a database as a ledger of this program ("farm" in ASCII).
pub(super) const APPLICATION: i32 = 0x6661_726d;
/// Version of the tables.
pub(super) const VERSION: i32 = 3;

/// Numbers of 64 bits that wrap around (digests) are stored as the signed number of the same bits. `since` is seconds
/// since the run began; `at`, of the wall clock, is for people. CPU and wall time are absent where a pilot's number was
/// not possible. The last column of every table is a checksum of the others (`seal`).
pub(super) const TABLES: &str = "
CREATE TABLE farm (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id TEXT NOT NULL, job TEXT NOT NULL, token TEXT NOT NULL, key TEXT NOT NULL, address TEXT NOT NULL,
    created REAL NOT NULL, settings TEXT NOT NULL,
    -- Coordinators so far: each has lease numbers of its own.
    generation INTEGER NOT NULL,
    -- The host's boot in which the last coordinator began, and the begin of the run by that boot's clock.
    boot TEXT NOT NULL, zero REAL NOT NULL,
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

/// Finds the refusals of a chunk, for offers that are made again.
pub(super) const INDEX: &str = "CREATE INDEX IF NOT EXISTS refusals_of_chunk ON refusals (chunk)";

/// Tables of a ledger.
pub(super) const NAMES: [&str; 5] = ["farm", "commits", "refusals", "incidents", "nodes"];

/// What the tables of a ledger of some version hold, in the order of [`NAMES`] and of their columns; the names of its
/// tables begin with `old`. Version 2 had no checksums.
pub(super) fn selects(version: i32, old: &str) -> [String; 5] {
    if version == 1 { from_version_1(old) } else { NAMES.map(|name| format!("SELECT * FROM {old}{name}")) }
}

/// The times of version 1 were those of the wall clock alone, and a later coordinator may have repeated lease numbers
/// that had no result.
fn from_version_1(old: &str) -> [String; 5] {
    let began = format!(
        "coalesce((SELECT min(at) FROM {old}incidents WHERE what = 'started'), (SELECT created FROM {old}farm))"
    );
    let since = format!("max(at - {began}, 0.0)");
    // Numbers that no clock could have shown.
    let sound = |name: &str| format!("CASE WHEN {name} >= 0.0 AND {name} < 1e300 THEN {name} END");
    let (cpu, wall) = (sound("cpu"), sound("wall"));
    let result = format!("chunk, number, node, pilot, events, digest, {cpu}, {wall}, NULL, NULL, at, {since}, NULL");
    [
        format!(
            "SELECT one, id, job, token, key, address, created, settings,
             CASE WHEN address = '' THEN 0 ELSE 2 + (SELECT coalesce(max(number), 0) / {generation} FROM
                 (SELECT max(number) AS number FROM {old}commits UNION ALL SELECT max(number) FROM {old}refusals)) END,
             '', 0.0 FROM {old}farm",
            generation = crate::leases::GENERATION
        ),
        format!("SELECT {result} FROM {old}commits"),
        format!("SELECT {result}, differs, 0 FROM {old}refusals"),
        format!("SELECT at, {since}, what, node, chunk, detail FROM {old}incidents ORDER BY rowid"),
        format!("SELECT node, about FROM {old}nodes"),
    ]
}
