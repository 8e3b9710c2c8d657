//! SQLite in memory: rows written in a transaction, an index, joins and groups.

use rusqlite::{Connection, params};

use crate::input::{Checksum, SplitMix};
use crate::work::RatingWork;

const ROWS: i64 = 120_000;

pub(crate) struct Database;

impl Database {
    pub(crate) fn make() -> Box<dyn RatingWork> {
        Box::new(Self)
    }

    fn work() -> rusqlite::Result<u64> {
        let mut connection = Connection::open_in_memory()?;
        connection.execute_batch(
            "CREATE TABLE event (id INTEGER PRIMARY KEY, run INTEGER, energy INTEGER, name TEXT);
             CREATE TABLE run (id INTEGER PRIMARY KEY, period TEXT);",
        )?;
        let mut random = SplitMix::new(7);
        let transaction = connection.transaction()?;
        {
            let mut event = transaction.prepare("INSERT INTO event VALUES (?1, ?2, ?3, ?4)")?;
            for id in 0..ROWS {
                let name = format!("event-{:06x}", random.below(1 << 24));
                event.execute(params![id, random.below(1000) as i64, random.below(100_000) as i64, name])?;
            }
            let mut run = transaction.prepare("INSERT INTO run VALUES (?1, ?2)")?;
            for id in 0..1000 {
                run.execute(params![id, format!("period {}", id % 12)])?;
            }
        }
        transaction.commit()?;
        connection.execute_batch("CREATE INDEX energy ON event (run, energy)")?;
        let mut sum = Checksum::default();
        let mut groups = connection.prepare(
            "SELECT period, count(*), sum(energy), max(name) FROM event JOIN run ON event.run = run.id GROUP BY period ORDER BY period",
        )?;
        let mut rows = groups.query([])?;
        while let Some(row) = rows.next()? {
            sum.word(row.get::<_, i64>(1)? as u64);
            sum.word(row.get::<_, i64>(2)? as u64);
            sum.bytes(row.get::<_, String>(3)?.as_bytes());
        }
        let mut near = connection.prepare("SELECT count(*), total(id) FROM event WHERE run = ?1 AND energy > ?2")?;
        for run in 0..4000_i64 {
            let (count, total): (i64, f64) =
                near.query_row(params![run % 1000, 10 * run], |row| Ok((row.get(0)?, row.get(1)?)))?;
            sum.word(count as u64);
            sum.word(total as u64);
        }
        Ok(sum.value())
    }
}

impl RatingWork for Database {
    fn run(&mut self) -> Result<u64, String> {
        Self::work().map_err(|error| error.to_string())
    }
}
