//! Checksums of records, and copies of a ledger's tables that leave damaged records out.
//!
//! SQLite detects a damaged structure, and no flipped bit inside a value; a file system may not either. So every record
//! holds a checksum of its values, which is compared whenever a ledger is opened, and at the end of a run.

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Result, Statement, ToSql, params_from_iter};
use sha2::{Digest, Sha256};

use super::schema::{NAMES, VERSION, selects};

/// 64 bits of SHA-256 over the name of a record's table and its values, each with its type and its length.
fn checksum(table: &str, values: &[ValueRef<'_>]) -> i64 {
    let mut sha = Sha256::new();
    let mut add = |kind: u8, bytes: &[u8]| {
        sha.update([kind]);
        sha.update((bytes.len() as u64).to_le_bytes());
        sha.update(bytes);
    };
    add(0, table.as_bytes());
    for value in values {
        match value {
            ValueRef::Integer(number) => add(1, &number.to_le_bytes()),
            // SQLite stores no number for NaN, and the same one for both zeros.
            ValueRef::Real(number) if number.is_nan() => add(5, &[]),
            ValueRef::Real(number) => add(2, &(number + 0.0).to_le_bytes()),
            ValueRef::Text(text) => add(3, text),
            ValueRef::Blob(bytes) => add(4, bytes),
            ValueRef::Null => add(5, &[]),
        }
    }
    sha.finalize().first_chunk().map_or(0, |first| i64::from_le_bytes(*first))
}

/// A record's values with their checksum, which is the last column of every table.
pub(super) fn sealed<'a>(table: &str, values: &'a [&'a dyn ToSql]) -> Result<Vec<ToSqlOutput<'a>>> {
    let mut all = values.iter().map(|value| value.to_sql()).collect::<Result<Vec<_>>>()?;
    let sum = {
        let values: Vec<ValueRef<'_>> = all
            .iter()
            .map(|value| match value {
                ToSqlOutput::Borrowed(value) => *value,
                ToSqlOutput::Owned(value) => value.into(),
                // Nothing else is ever stored.
                _ => ValueRef::Null,
            })
            .collect();
        checksum(table, &values)
    };
    all.push(ToSqlOutput::from(sum));
    Ok(all)
}

/// Computes the checksum of the run's own record anew, after a change.
pub(super) fn seal_farm(connection: &Connection) -> Result<()> {
    let sum = connection.query_row("SELECT * FROM farm", [], |row| {
        let values = (0..row.as_ref().column_count() - 1).map(|at| row.get_ref(at)).collect::<Result<Vec<_>>>()?;
        Ok(checksum("farm", &values))
    })?;
    connection.execute("UPDATE farm SET sum = ?1", [sum]).map(drop)
}

/// Records whose checksum does not match.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct DamagedRecords {
    /// Chunks of damaged results, as far as that number itself is right.
    pub(super) chunks: Vec<u64>,
    /// Damaged records of the run itself.
    pub(super) farm: u64,
    /// Other ones: refused results, the story, facts about nodes.
    pub(super) other: u64,
}

impl DamagedRecords {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn add(&mut self, table: &str, values: &[ValueRef<'_>]) {
        match (table, values.first()) {
            ("commits", Some(ValueRef::Integer(chunk))) => self.chunks.push(chunk.cast_unsigned()),
            ("farm", _) => self.farm += 1,
            _ => self.other += 1,
        }
    }

    /// What was found, in words.
    pub(super) fn words(&self) -> String {
        let chunks: Vec<String> = self.chunks.iter().take(5).map(u64::to_string).collect();
        let more = if self.chunks.len() > 5 { " ..." } else { "" };
        let counted = match self.chunks.len() {
            0 => None,
            1 => Some(format!("the record of chunk {} is damaged", chunks[0])),
            many => Some(format!("the records of {many} chunks ({}{more}) are damaged", chunks.join(", "))),
        };
        let other = (self.other > 0).then(|| {
            let (records, are) = if self.other == 1 { ("record", "is") } else { ("records", "are") };
            format!("{} {records} of refused results, nodes or the story {are} damaged", self.other)
        });
        counted.into_iter().chain(other).collect::<Vec<_>>().join(", and ")
    }
}

/// Compares the checksum of every record of a ledger of this version.
pub(super) fn scan(connection: &Connection) -> Result<DamagedRecords> {
    pass(connection, VERSION, "", None, false)
}

/// Copies the sound records of a ledger of some version, whose tables' names begin with `old`, into tables of this one.
pub(super) fn copy(from: &Connection, version: i32, old: &str, into: &Connection) -> Result<DamagedRecords> {
    pass(from, version, old, Some(into), false)
}

/// Copies the sound records that can be read of a damaged ledger of this version.
pub(super) fn rescue(from: &Connection, into: &Connection) -> Result<DamagedRecords> {
    pass(from, VERSION, "", Some(into), true)
}

/// An error that says that a file is damaged.
fn corrupt(found: String) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT), Some(found))
}

/// Lets SQLite look for damage outside of records, such as lost ones and keys of an index, which queries may read in
/// place of a record's.
pub(super) fn check_structure(connection: &Connection) -> Result<()> {
    let found: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    // The first line may only name the table.
    if found == "ok" { Ok(()) } else { Err(corrupt(found.lines().last().unwrap_or_default().to_owned())) }
}

/// Whether the tables are those of the version that a ledger's header says.
pub(super) fn check_version(connection: &Connection, version: i32) -> Result<()> {
    let text = "SELECT count(*) FROM pragma_table_info('commits') WHERE name = 'sum'";
    let sealed = connection.query_row(text, [], |row| row.get::<_, i64>(0))? > 0;
    if sealed == (version == VERSION) {
        Ok(())
    } else {
        Err(corrupt("its version is not that of its tables".to_owned()))
    }
}

/// Goes through all records. What cannot be read is an error, or if `tolerant`, the end of its table.
fn pass(
    from: &Connection,
    version: i32,
    old: &str,
    into: Option<&Connection>,
    tolerant: bool,
) -> Result<DamagedRecords> {
    let mut damaged = DamagedRecords::default();
    for (table, select) in NAMES.into_iter().zip(selects(version, old)) {
        match table_pass(from, (table, &select), version, into, &mut damaged) {
            Err(_) if tolerant => {}
            done => done?,
        }
    }
    Ok(damaged)
}

fn table_pass(
    from: &Connection,
    (table, select): (&str, &str),
    version: i32,
    into: Option<&Connection>,
    damaged: &mut DamagedRecords,
) -> Result<()> {
    let mut query = from.prepare(select)?;
    let columns = query.column_count();
    // Records of older versions have no checksum.
    let kept = if version == VERSION { columns - 1 } else { columns };
    let mut insert = into.map(|into| inserting(into, table, kept + 1)).transpose()?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let values = (0..kept).map(|at| row.get_ref(at)).collect::<Result<Vec<_>>>()?;
        let sum = checksum(table, &values);
        if version == VERSION && row.get_ref(kept)? != ValueRef::Integer(sum) {
            damaged.add(table, &values);
        } else if let Some(insert) = &mut insert {
            let values = values.into_iter().map(ToSqlOutput::Borrowed);
            insert.execute(params_from_iter(values.chain([ToSqlOutput::from(sum)])))?;
        }
    }
    Ok(())
}

fn inserting<'a>(into: &'a Connection, table: &str, columns: usize) -> Result<Statement<'a>> {
    let marks: Vec<String> = (1..=columns).map(|at| format!("?{at}")).collect();
    into.prepare(&format!("INSERT INTO {table} VALUES ({}) ON CONFLICT DO NOTHING", marks.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_what_is_stored_and_depends_on_every_bit_of_it() {
        let values = [ValueRef::Integer(7), ValueRef::Real(0.5), ValueRef::Text(b"ab"), ValueRef::Null];
        let sum = checksum("commits", &values);
        let zeros = |zero| checksum("commits", &[ValueRef::Real(zero)]);
        assert_eq!(zeros(0.0), zeros(-0.0), "SQLite stores a zero without its sign");
        assert_ne!(sum, checksum("refusals", &values));
        for bit in 0..64 {
            let flipped = [ValueRef::Integer(7 ^ (1 << bit)), values[1], values[2], values[3]];
            assert_ne!(sum, checksum("commits", &flipped));
            let flipped = f64::from_bits(0.5_f64.to_bits() ^ (1 << bit));
            assert_ne!(sum, checksum("commits", &[values[0], ValueRef::Real(flipped), values[2], values[3]]));
        }
        let moved = [ValueRef::Text(b"a"), ValueRef::Text(b"bc")];
        assert_ne!(checksum("x", &moved), checksum("x", &[ValueRef::Text(b"ab"), ValueRef::Text(b"c")]));
    }

    #[test]
    fn damage_is_told_in_few_words() {
        let words = |chunks: &[u64], other| DamagedRecords { chunks: chunks.to_vec(), farm: 0, other }.words();
        assert_eq!(words(&[7], 0), "the record of chunk 7 is damaged");
        assert_eq!(
            words(&[1, 2, 3, 4, 5, 6], 1),
            "the records of 6 chunks (1, 2, 3, 4, 5 ...) are damaged, and 1 record of refused results, nodes or the \
             story is damaged"
        );
    }
}
