//! Checksums of records, and copies of a ledger's tables that leave damaged records out.
//!
//! SQLite detects a damaged structure, and no flipped bit inside a value; a file system may not either. So every record
//! holds a checksum of its values, which is compared whenever a ledger is opened, and at the end of a run. The number
//! of counted results and a checksum over all of them are compared too. This finds a lost record, because a disk or a
//! copy lost a part of the file.

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, Result, Statement, ToSql, params_from_iter};
use sha2::{Digest, Sha256};

use super::schema::NAMES;
use crate::leases::GENERATION;

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

/// The checksum of a record that was sealed.
pub(super) fn sum_of(record: &[ToSqlOutput<'_>]) -> i64 {
    match record.last() {
        Some(ToSqlOutput::Owned(rusqlite::types::Value::Integer(sum))) => *sum,
        _ => 0,
    }
}

/// Updates the checksum of the run's own record after a change.
pub(super) fn seal_farm(connection: &Connection) -> Result<()> {
    let sum = connection.query_row("SELECT * FROM farm", [], |row| {
        let values = (0..row.as_ref().column_count() - 1).map(|at| row.get_ref(at)).collect::<Result<Vec<_>>>()?;
        Ok(checksum("farm", &values))
    })?;
    connection.execute("UPDATE farm SET sum = ?1", [sum]).map(drop)
}

/// The number of coordinators of a run, and of the results that count with a checksum over all of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) generation: i64,
    counted: i64,
    mark: i64,
}

impl Tally {
    /// A result with this checksum counts.
    pub(super) fn add(&mut self, sum: i64) {
        self.counted += 1;
        self.mark ^= sum;
    }

    /// Removes an uncounted result from the sum.
    pub(super) fn remove(&mut self, sum: i64) {
        self.counted -= 1;
        self.mark ^= sum;
    }

    /// Totals in a ledger; `None` if that record is damaged itself.
    pub(super) fn read(connection: &Connection, old: &str) -> Result<Option<Self>> {
        let text = format!("SELECT one, generation, counted, mark, sum FROM {old}tally");
        let read = connection.query_row(&text, [], |row| {
            let values = (0..4).map(|at| row.get_ref(at)).collect::<Result<Vec<_>>>()?;
            let is_sound = row.get_ref(4)? == ValueRef::Integer(checksum("tally", &values));
            let number = |at: usize| values[at].as_i64().unwrap_or_default();
            Ok(is_sound.then(|| Self { generation: number(1), counted: number(2), mark: number(3) }))
        });
        Ok(read.optional()?.flatten())
    }

    pub(super) fn write(self, connection: &Connection) -> Result<()> {
        let values: [&dyn ToSql; 4] = [&1, &self.generation, &self.counted, &self.mark];
        let mut insert = connection.prepare_cached("INSERT OR REPLACE INTO tally VALUES (?1, ?2, ?3, ?4, ?5)")?;
        insert.execute(params_from_iter(sealed("tally", &values)?)).map(drop)
    }

    /// Counts the records of a ledger again. An unknown number of coordinators follows from their lease numbers and the
    /// event log.
    fn renew(connection: &Connection, generation: Option<i64>) -> Result<()> {
        let mut tally = Self::default();
        let mut query = connection.prepare("SELECT sum FROM commits")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            tally.add(row.get(0)?);
        }
        let known = "SELECT max((SELECT coalesce(max(number), 0) / ?1 FROM
                (SELECT number FROM commits UNION ALL SELECT number FROM refusals)),
            (SELECT count(*) FROM incidents WHERE what IN ('started', 'resumed')))";
        let known = connection.query_row(known, [GENERATION.cast_signed()], |row| row.get(0))?;
        tally.generation = generation.unwrap_or_default().max(known);
        tally.write(connection)
    }
}

/// Records whose checksum does not match, and results that are missing.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct DamagedRecords {
    /// Chunks of damaged results, as far as that number itself is right.
    pub(super) chunks: Vec<u64>,
    /// Damaged records of the run itself.
    pub(super) farm: u64,
    /// Other ones: refused results, the event log, facts about nodes.
    pub(super) other: u64,
    /// Results that counted and are not there.
    pub(super) lost: u64,
    /// The results that count do not match their common checksum: some may be missing.
    pub(super) unsure: bool,
}

impl DamagedRecords {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Number of results that are known to be lost.
    pub(super) fn results(&self) -> u64 {
        self.chunks.len() as u64 + self.lost
    }

    fn add(&mut self, table: &str, values: &[ValueRef<'_>]) {
        match (table, values.first()) {
            ("commits", Some(ValueRef::Integer(chunk))) => self.chunks.push(chunk.cast_unsigned()),
            ("farm", _) => self.farm += 1,
            _ => self.other += 1,
        }
    }

    /// Compares the present results with the totals in the ledger.
    fn compare(&mut self, said: Option<Tally>, found: Tally) {
        let Some(said) = said else {
            self.unsure = true;
            return;
        };
        self.lost = u64::try_from(said.counted - found.counted).unwrap_or_default();
        self.unsure =
            self.lost == 0 && self.chunks.is_empty() && (said.counted, said.mark) != (found.counted, found.mark);
    }

    /// The missing records, in words.
    pub(super) fn missing(&self) -> Option<String> {
        match self.lost {
            0 if self.unsure => {
                Some("the results do not match their common checksum, so that some may be missing".to_owned())
            }
            0 => None,
            1 => Some("1 committed result is missing".to_owned()),
            many => Some(format!("{many} committed results are missing")),
        }
    }

    /// The damage, in words.
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
            format!("{} {records} of duplicates, nodes or the event log {are} damaged", self.other)
        });
        counted.into_iter().chain(self.missing()).chain(other).collect::<Vec<_>>().join(", and ")
    }
}

/// Compares the checksums of a ledger, at one moment of it.
pub(super) fn scan(connection: &Connection) -> Result<DamagedRecords> {
    let moment = connection.unchecked_transaction()?;
    pass(&moment, "", None, false)
}

/// Copies the sound records of a ledger, whose tables' names begin with `old`, into other tables.
pub(super) fn copy(from: &Connection, old: &str, into: &Connection) -> Result<DamagedRecords> {
    pass(from, old, Some(into), false)
}

/// Copies the sound records that can be read of a damaged ledger.
pub(super) fn rescue(from: &Connection, into: &Connection) -> Result<DamagedRecords> {
    pass(from, "", Some(into), true)
}

/// An error that ends a transaction, with its reason.
pub(super) fn aborted(reason: &str) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_ABORT), Some(reason.to_owned()))
}

/// An error that says that a file is damaged.
pub(super) fn corrupt(found: String) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT), Some(found))
}

/// Lets SQLite check for damage outside of records, such as lost ones and keys of an index, which queries may read in
/// place of a record's.
pub(super) fn check_structure(connection: &Connection) -> Result<()> {
    let found: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    // The first line may only name the table.
    if found == "ok" { Ok(()) } else { Err(corrupt(found.lines().last().unwrap_or_default().to_owned())) }
}

/// Goes through all records. An unreadable record is an error, or if `tolerant`, the end of its table.
fn pass(from: &Connection, old: &str, into: Option<&Connection>, tolerant: bool) -> Result<DamagedRecords> {
    let (mut damaged, mut found) = (DamagedRecords::default(), Tally::default());
    for table in NAMES {
        match table_pass(from, (table, old), into, &mut damaged, &mut found) {
            Err(_) if tolerant => {}
            done => done?,
        }
    }
    let said = match Tally::read(from, old) {
        Err(_) if tolerant => None,
        said => said?,
    };
    damaged.compare(said, found);
    into.map_or(Ok(()), |into| Tally::renew(into, said.map(|said| said.generation)))?;
    Ok(damaged)
}

fn table_pass(
    from: &Connection,
    (table, old): (&str, &str),
    into: Option<&Connection>,
    damaged: &mut DamagedRecords,
    found: &mut Tally,
) -> Result<()> {
    let mut query = from.prepare(&format!("SELECT * FROM {old}{table}"))?;
    let kept = query.column_count() - 1;
    let mut insert = into.map(|into| inserting(into, table, kept + 1)).transpose()?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let values = (0..kept).map(|at| row.get_ref(at)).collect::<Result<Vec<_>>>()?;
        let stored = row.get_ref(kept)?;
        if table == "commits" {
            found.add(stored.as_i64().unwrap_or_default());
        }
        let sum = checksum(table, &values);
        if stored != ValueRef::Integer(sum) {
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
        let words = |chunks: &[u64], other, lost| {
            DamagedRecords { chunks: chunks.to_vec(), other, lost, ..DamagedRecords::default() }.words()
        };
        assert_eq!(words(&[7], 0, 0), "the record of chunk 7 is damaged");
        assert_eq!(words(&[7], 0, 2), "the record of chunk 7 is damaged, and 2 committed results are missing");
        assert_eq!(
            words(&[1, 2, 3, 4, 5, 6], 1, 0),
            "the records of 6 chunks (1, 2, 3, 4, 5 ...) are damaged, and 1 record of duplicates, nodes or the \
             event log is damaged"
        );
    }
}
