//! The default store: one SQLite file.

mod open;
mod read;
mod schema;
mod site;
mod trouble;
mod write;

use std::path::PathBuf;

use model::{ResultKey, Run};
use rusqlite::{Connection, Transaction, TransactionBehavior};

use self::open::FileIdentity;
use crate::packed::{Packed, unpacked};
use crate::select::check_label;
use crate::{Access, Detail, EnvironmentChange, Error, MachineSummary, RunFilter, SessionValue, Store, Summary};

/// Runs in an SQLite file.
#[derive(Debug)]
pub struct SqliteStore {
    connection: Connection,
    path: PathBuf,
    /// The file that is open, where it has a name.
    file: Option<FileIdentity>,
    anew: bool,
}

impl SqliteStore {
    fn refuse(&self, action: &'static str, error: &rusqlite::Error) -> Error {
        Error::Place { action, place: self.place(), trouble: trouble::of(error, &self.path) }
    }

    fn unknown(&self, id: &str) -> Error {
        Error::Unknown { text: id.to_owned(), place: self.place(), nearest: Vec::new() }
    }

    fn write<T>(
        &mut self,
        action: &'static str,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        let attempt = || {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = work(&transaction)?;
            transaction.commit()?;
            Ok(result)
        };
        let result = attempt();
        result.map_err(|error| self.refuse(action, &error))
    }

    /// Whether the open file has lost its name, so that everything written to it is lost.
    fn is_gone(&self) -> bool {
        self.file.is_some() && open::identity(&self.path) != self.file
    }

    fn put_packed(&mut self, packed: &[Packed<'_>]) -> Result<Vec<i64>, Error> {
        self.write("save the run in", |transaction| {
            packed.iter().map(|packed| write::put(transaction, packed)).collect::<Result<Vec<_>, _>>()
        })
    }

    fn delete(&mut self, ids: &[&str]) -> Result<(), Error> {
        self.write("remove runs from", |transaction| {
            let mut delete = transaction.prepare_cached("DELETE FROM runs WHERE id = ?1")?;
            for id in ids {
                if delete.execute([id])? == 0 {
                    return Err(rusqlite::Error::QueryReturnedNoRows);
                }
            }
            Ok(())
        })
    }

    /// Cuts the pages of removed runs off the file. Each step of the statement frees one page, so it is stepped to its
    /// end.
    fn give_back(&self) -> rusqlite::Result<()> {
        let mut vacuum = self.connection.prepare("PRAGMA incremental_vacuum")?;
        let mut pages = vacuum.query([])?;
        while pages.next()?.is_some() {}
        self.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")
    }
}

impl Store for SqliteStore {
    fn place(&self) -> String {
        self.path.display().to_string()
    }

    fn put_all(&mut self, runs: &[Run]) -> Result<Vec<u64>, Error> {
        let place = self.place();
        let packed = runs.iter().map(|run| Packed::of(run, &place)).collect::<Result<Vec<_>, _>>()?;
        let mut numbers = if self.is_gone() { Vec::new() } else { self.put_packed(&packed)? };
        if self.is_gone() {
            *self = Self { anew: true, ..Self::open(&self.path, Access::Write)? };
            numbers = self.put_packed(&packed)?;
        }
        // After a checkpoint the file alone is complete: it can be copied, and read on a read-only file system, and the
        // log's space is free for reuse when the disk is full. A reader at this moment only delays the checkpoint.
        let _ = self.connection.execute_batch("PRAGMA wal_checkpoint(PASSIVE)");
        Ok(numbers.into_iter().map(i64::unsigned_abs).collect())
    }

    fn get(&self, id: &str, detail: Detail) -> Result<Run, Error> {
        let found = read::document(&self.connection, id, detail).map_err(|error| self.refuse("read", &error))?;
        let (label, bytes) = found.ok_or_else(|| self.unknown(id))?;
        unpacked(&bytes, label, &format!("{}, run {id}", self.place()))
    }

    fn summaries(&self) -> Result<Vec<Summary>, Error> {
        read::summaries(&self.connection).map_err(|error| self.refuse("list the runs of", &error))
    }

    fn histories(&self, keys: &[ResultKey], fingerprint: &str, limit: usize) -> Result<Vec<Vec<SessionValue>>, Error> {
        let history = |key| read::history(&self.connection, key, fingerprint, limit);
        let found: rusqlite::Result<_> = keys.iter().map(history).collect();
        found.map_err(|error| self.refuse("read the history in", &error))
    }

    fn page(&self, filter: &RunFilter<'_>, limit: usize, offset: usize) -> Result<Vec<Summary>, Error> {
        site::page(&self.connection, filter, limit, offset).map_err(|error| self.refuse("list the runs of", &error))
    }

    fn machines(&self, suite: Option<&str>, limit: usize, offset: usize) -> Result<Vec<MachineSummary>, Error> {
        site::machines(&self.connection, suite, limit, offset)
            .map_err(|error| self.refuse("list the machines of", &error))
    }

    fn suites(&self) -> Result<Vec<(String, u64)>, Error> {
        site::suites(&self.connection).map_err(|error| self.refuse("list the suites of", &error))
    }

    fn keys(&self, fingerprint: &str) -> Result<Vec<ResultKey>, Error> {
        site::keys(&self.connection, fingerprint).map_err(|error| self.refuse("read the history in", &error))
    }

    fn environments(&self, fingerprint: &str) -> Result<Vec<EnvironmentChange>, Error> {
        site::environments(&self.connection, fingerprint).map_err(|error| self.refuse("read the history in", &error))
    }

    fn enqueue(&mut self, site: &str, ids: &[&str]) -> Result<(), Error> {
        self.write("queue the run in", |transaction| {
            let mut insert = transaction.prepare_cached(&site::numbered(&crate::site::enqueue("")))?;
            ids.iter().try_for_each(|id| insert.execute((site, id)).map(drop))
        })
    }

    fn queued(&self, site: &str) -> Result<Vec<Summary>, Error> {
        site::queued(&self.connection, site).map_err(|error| self.refuse("read the queue in", &error))
    }

    fn dequeue(&mut self, site: &str, id: &str) -> Result<(), Error> {
        self.write("change the queue in", |transaction| {
            transaction.prepare_cached(&site::numbered(&crate::site::dequeue("")))?.execute((site, id)).map(drop)
        })
    }

    fn remove(&mut self, ids: &[&str]) -> Result<(), Error> {
        let mut missing = self.delete(ids);
        let full = missing.as_ref().is_err_and(Error::is_full);
        if full {
            self.connect_without_room()?;
            missing = self.delete(ids);
        }
        // A missing id has undone the transaction; a lookup finds which one.
        if missing.is_err() {
            for id in ids {
                self.get(id, Detail::Values)?;
            }
        }
        missing?;
        // Returns space to the file system at once. If a reader holds the database, the space is kept for later runs.
        let _ = self.give_back();
        if full {
            // With the room that there is now, it writes as before.
            let _ = self.connect_with_room();
        }
        Ok(())
    }

    fn began_anew(&self) -> bool {
        self.anew
    }

    fn set_label(&mut self, id: &str, label: Option<&str>) -> Result<(), Error> {
        label.map_or(Ok(()), check_label)?;
        let changed = self.write("label the run in", |transaction| {
            transaction.prepare_cached("UPDATE runs SET label = ?2 WHERE id = ?1")?.execute((id, label))
        })?;
        if changed == 0 { Err(self.unknown(id)) } else { Ok(()) }
    }
}
