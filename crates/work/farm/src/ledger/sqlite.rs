//! The ledger of a single coordinator: an SQLite file that only its owner can read, since it holds the token.

use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, ToSql, params, params_from_iter};

use super::lock::{claim, inode, lock_path};
use super::schema::{APPLICATION, INDEX, TABLES, VERSION};
use super::seal::{DamagedRecords, Tally, sealed};
use super::{
    Begin, Commit, Farm, Incident, Ledger, NodeTotals, OfferedResult, RecordedOffer, Refusal, Totals, Withdrawal, read,
    seal, write,
};
use crate::clock::{FarmClock, Stamp};
use crate::leases::GENERATION;
use crate::{ChunkSet, Error, Result};

/// How long a reader waits for the writer, whose transactions are short.
const READER_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the writer waits for readers, which may read millions of records.
const WRITER_TIMEOUT: Duration = Duration::from_secs(600);

/// Coordinators of one run: lease numbers have 64 bits, one of them a sign.
const MAX_GENERATION: u64 = 1 << 22;

/// A ledger in a file.
#[derive(Debug)]
pub struct SqliteLedger {
    connection: Connection,
    path: PathBuf,
    /// Device and inode of the file that was opened.
    file: (u64, u64),
    // Held while this value lives, so that no second coordinator writes to the same ledger.
    lock: Option<std::fs::File>,
    /// Records that were damaged when it was opened.
    damaged: DamagedRecords,
    /// The state that this writer left: any other state is another writer's.
    known: Option<Tally>,
}

impl Drop for SqliteLedger {
    fn drop(&mut self) {
        // Closing is not enough. A child that another thread has just forked still has a copy of the descriptor, and
        // with it the lock, until it starts its own program (flock(2)).
        if let Some(lock) = &self.lock {
            let _ = lock.unlock();
        }
    }
}

impl SqliteLedger {
    /// Creates the ledger of a run.
    ///
    /// # Errors
    /// When the file exists or cannot be created.
    pub fn create(path: &Path, farm: &Farm) -> Result<Self> {
        farm.job.check()?;
        std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(|error| match error
            .kind()
        {
            std::io::ErrorKind::AlreadyExists => Error::Ledger {
                what: "make",
                path: path.to_owned(),
                reason: "it exists already; prony farm resume continues it".to_owned(),
            },
            _ => Error::file("make the ledger", path)(error),
        })?;
        let ledger = Self::connect(path, true)?;
        let make = || {
            let job = serde_json::to_string(&farm.job).map_err(|error| error.to_string())?;
            let settings = farm.settings.to_string();
            let all = ledger.connection.unchecked_transaction().map_err(|error| error.to_string())?;
            all.execute_batch(TABLES)
                .and_then(|()| all.execute_batch(INDEX))
                .and_then(|()| all.pragma_update(None, "application_id", APPLICATION))
                .and_then(|()| all.pragma_update(None, "user_version", VERSION))
                .and_then(|()| {
                    all.execute(
                        "INSERT INTO farm VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, '', 0.0, 0)",
                        params![farm.id, job, farm.token, farm.key, farm.address, farm.created, settings],
                    )
                })
                .and_then(|_| seal::seal_farm(&all))
                .and_then(|()| Tally::default().write(&all))
                .and_then(|()| all.commit())
                .map_err(|error| error.to_string())
        };
        make().map_err(|reason| ledger.failure("make")(reason))?;
        Ok(ledger)
    }

    /// Opens an existing ledger to continue the run.
    ///
    /// # Errors
    /// When it is not a ledger, is damaged, or another coordinator writes to it.
    pub fn open(path: &Path) -> Result<Self> {
        Self::known(Self::connect(path, true)?)
    }

    /// Opens an existing ledger for reading, also while a coordinator writes to it.
    ///
    /// # Errors
    /// When it is not a ledger or is damaged.
    pub fn read(path: &Path) -> Result<Self> {
        Self::known(Self::connect(path, false)?)
    }

    fn connect(path: &Path, write: bool) -> Result<Self> {
        let file = inode(path).map_err(Error::file("open the ledger", path))?;
        let lock = if write { Some(claim(path)?) } else { None };
        // A coordinator that died in a transaction left a journal, by which the next one to open the ledger undoes it.
        let interrupted = std::fs::metadata(journal_path(path)).is_ok_and(|journal| journal.len() > 0);
        let access = if write || interrupted && !Self::is_live(path)? {
            OpenFlags::SQLITE_OPEN_READ_WRITE
        } else {
            OpenFlags::SQLITE_OPEN_READ_ONLY
        };
        let refuse = |reason: String| Error::Ledger { what: "open", path: path.to_owned(), reason };
        let open = || {
            let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
            connection.busy_timeout(if write { WRITER_TIMEOUT } else { READER_TIMEOUT })?;
            if write {
                connection.pragma_update(None, "synchronous", "FULL")?;
                // All that counts is in one file after each transaction. A write-ahead log would be a second one, which
                // is easily left behind or deleted, and whose damage SQLite takes for its end.
                let mode = connection.pragma_update_and_check(None, "journal_mode", "DELETE", |row| row.get(0))?;
                return Ok((connection, mode));
            }
            Ok((connection, "delete".to_owned()))
        };
        let (connection, mode): (_, String) = open().map_err(|error: rusqlite::Error| refuse(error.to_string()))?;
        if mode != "delete" {
            return Err(refuse(format!("another program keeps it in the journal mode {mode}")));
        }
        Ok(Self { connection, path: path.to_owned(), file, lock, damaged: DamagedRecords::default(), known: None })
    }

    /// Whether a coordinator writes to the ledger at this moment.
    ///
    /// # Errors
    /// When its lock cannot be looked at.
    pub fn is_live(path: &Path) -> Result<bool> {
        let place = lock_path(path);
        let file = match std::fs::File::open(&place) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(Error::file("look at the lock", &place)(error)),
        };
        match file.try_lock_shared() {
            Ok(()) => file.unlock().map(|()| false).map_err(Error::file("look at the lock", &place)),
            Err(std::fs::TryLockError::WouldBlock) => Ok(true),
            Err(std::fs::TryLockError::Error(error)) => Err(Error::file("look at the lock", &place)(error)),
        }
    }

    /// The damage when it was opened, in one line with advice; damaged records do not count.
    #[must_use]
    pub fn damage(&self) -> Option<String> {
        if self.damaged.is_empty() {
            return None;
        }
        let words = self.damaged.words();
        let pronoun = match self.damaged.results() {
            _ if self.damaged.unsure => "what is missing",
            1 => "it",
            _ => "them",
        };
        let again = self.damaged.unsure || self.damaged.results() > 0;
        let path = self.path.display();
        Some(match (again, self.lock.is_some()) {
            (false, _) => format!("{words}; they are ignored, and every committed chunk is intact"),
            (true, true) => format!("{words}; repeating {pronoun}, all other records are intact"),
            (true, false) => format!("{words}; prony farm resume {path} repeats {pronoun}, all others are intact"),
        })
    }

    /// Compares all checksums, and makes a damaged ledger a sound one: in place, or where it is only read, as a copy in
    /// memory.
    fn checked(mut self) -> Result<Self> {
        let (copy, damaged) = self.inspected().map_err(|error| match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DatabaseCorrupt) if self.lock.is_some() => self.rescue(&error),
            _ => self.failure("read")(self.reason(&error)),
        })?;
        if damaged.farm > 0 {
            return Err(self.failure("read")(
                "the record of the run itself is damaged; use a copy of the ledger, or start the run again".to_owned(),
            ));
        }
        self.damaged = damaged;
        if let Some(copy) = copy {
            self.connection = copy;
        }
        Ok(self)
    }

    fn inspected(&self) -> rusqlite::Result<(Option<Connection>, DamagedRecords)> {
        if seal::scan(&self.connection)?.is_empty() {
            seal::check_structure(&self.connection)?;
            return Ok((None, DamagedRecords::default()));
        }
        write::remade(&self.connection, self.lock.is_some())
    }

    /// Writes what can be read of a damaged file into a new one, and says so.
    fn rescue(&self, found: &rusqlite::Error) -> Error {
        let rescued = rescued_path(&self.path);
        let copied = copy_hint(&self.path);
        let said = match write::rescued(&self.connection, &rescued) {
            Ok(counted) => format!(
                "{counted} committed chunks were saved to {}: move this file in its place, and resume",
                rescued.display()
            ),
            Err(error) => format!("nothing of it could be written to {}: {error}", rescued.display()),
        };
        self.failure("read")(format!("its file is damaged ({found}); {said}{copied}"))
    }

    fn known(self) -> Result<Self> {
        let pragma = |name| self.connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
        let found = pragma("application_id").map_err(|error| self.failure("read")(self.reason(&error)))?;
        let version = pragma("user_version").map_err(|error| self.failure("read")(self.reason(&error)))?;
        match (found, version) {
            (APPLICATION, VERSION) => self.checked(),
            (APPLICATION, other) => Err(self.failure("read")(format!(
                "it has schema version {other}; this program knows version {VERSION}"
            ))),
            _ => Err(self.failure("read")("it is not a farm's ledger".to_owned())),
        }
    }

    fn reason(&self, error: &rusqlite::Error) -> String {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DatabaseCorrupt) => {
                let (path, copied) = (self.path.display(), copy_hint(&self.path));
                format!(
                    "its file is damaged ({error}); prony farm resume {path} writes what can be read into a new \
                     one{copied}"
                )
            }
            _ => error.to_string(),
        }
    }

    fn failure(&self, what: &'static str) -> impl Fn(String) -> Error + use<> {
        let path = self.path.clone();
        move |reason| Error::Ledger { what, path: path.clone(), reason }
    }

    fn reading<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        work(&self.connection).map_err(|error| self.failure("read")(self.reason(&error)))
    }

    fn writing<T>(&mut self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        let attempt = || {
            let all = self.connection.unchecked_transaction()?;
            let result = work(&all)?;
            all.commit()?;
            Ok(result)
        };
        attempt().map_err(|error: rusqlite::Error| {
            // SQLite writes into no file that was deleted or moved, and calls it read-only.
            let moved = error.sqlite_error_code() == Some(rusqlite::ErrorCode::ReadOnly);
            let place = if moved { self.check_place() } else { Ok(()) };
            place.err().unwrap_or_else(|| self.failure("write into")(self.reason(&error)))
        })
    }

    /// Writes what changes the results that count, with their number and checksum.
    fn counting<T>(&mut self, work: impl FnOnce(&Connection, &mut Tally) -> rusqlite::Result<T>) -> Result<T> {
        let known = self.known;
        let (done, tally) = self.writing(|all| {
            let mut tally = Tally::read(all, "")?.ok_or_else(|| seal::corrupt("the number of results".to_owned()))?;
            if known.is_some_and(|known| known != tally) {
                return Err(seal::aborted("another coordinator writes to it, or its file was replaced"));
            }
            let done = work(all, &mut tally)?;
            tally.write(all)?;
            Ok((done, tally))
        })?;
        self.known = Some(tally);
        Ok(done)
    }
}

/// The journal of a ledger, by which SQLite undoes a transaction that was interrupted.
fn journal_path(path: &Path) -> PathBuf {
    with_end(path, "-journal")
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// How a ledger is to be copied, where this one may be a copy that was taken in the middle of a write.
fn copy_hint(path: &Path) -> String {
    format!("; a ledger in use is copied with: sqlite3 {} '.backup COPY'", path.display())
}

/// Path for the contents of a lost or damaged ledger: a new name.
fn rescued_path(path: &Path) -> PathBuf {
    let names = std::iter::once(".rescued".to_owned()).chain((2..).map(|number| format!(".rescued-{number}")));
    let mut paths = names.map(|name| with_end(path, &name));
    // There is always a next one.
    paths.find(|path| std::fs::symlink_metadata(path).is_err()).unwrap_or_default()
}

impl Ledger for SqliteLedger {
    fn farm(&self) -> Result<Farm> {
        let (mut farm, job, settings) = self.reading(read::farm)?;
        let damaged = |error: serde_json::Error| self.failure("read")(error.to_string());
        farm.job = serde_json::from_str(&job).map_err(damaged)?;
        farm.settings = serde_json::from_str(&settings).map_err(damaged)?;
        Ok(farm)
    }

    fn begin(&mut self, address: &str, clock: &dyn FarmClock) -> Result<Begin> {
        let resumed = !self.farm()?.address.is_empty();
        let (monotonic, wall, boot) = (clock.monotonic(), clock.wall(), clock.boot());
        self.known = None;
        let (generation, since) = self.counting(|all, tally| {
            let of_farm = "SELECT boot, zero FROM farm";
            let (old_boot, zero): (String, f64) = all.query_row(of_farm, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let last = read::last_moment(all)?;
            let since = if !resumed {
                0.0
            } else if !boot.is_empty() && old_boot == boot {
                (monotonic - zero).max(last.since)
            } else {
                // Another host or another boot: only the wall clocks connect them.
                last.since + (wall - last.at).max(0.0)
            };
            tally.generation += 1;
            all.execute(
                "UPDATE farm SET address = ?1, boot = ?2, zero = ?3",
                params![address, boot, monotonic - since],
            )?;
            seal::seal_farm(all)?;
            Ok((tally.generation.cast_unsigned(), since))
        })?;
        if generation >= MAX_GENERATION {
            return Err(self.failure("continue")("it had more coordinators than lease numbers allow".to_owned()));
        }
        Ok(Begin { lease: generation * GENERATION, resumed, since })
    }

    fn check_place(&self) -> Result<()> {
        if inode(&self.path).is_ok_and(|found| found == self.file) {
            return Ok(());
        }
        let rescued = rescued_path(&self.path);
        let said = match write::into_file(&self.connection, &rescued) {
            Ok(()) => format!("all of it was written to {}: move it back, and resume", rescued.display()),
            Err(error) => format!("its contents could not be written to {}: {error}", rescued.display()),
        };
        Err(self.failure("go on with")(format!("it was deleted or replaced during the run; {said}")))
    }

    fn check_records(&self) -> Result<()> {
        let damaged = self.reading(seal::scan)?;
        if damaged.is_empty() {
            return Ok(());
        }
        let (words, path) = (damaged.words(), self.path.display());
        Err(self.failure("vouch for")(format!("{words}; prony farm resume {path} continues with the intact chunks")))
    }

    fn record(&mut self, offers: &[OfferedResult], when: Stamp) -> Result<Vec<RecordedOffer>> {
        self.counting(|all, tally| offers.iter().map(|offer| write::verdict(all, offer, when, tally)).collect())
    }

    fn withdraw(&mut self, results: &[Withdrawal], when: Stamp) -> Result<()> {
        self.counting(|all, tally| results.iter().try_for_each(|one| write::withdraw(all, one, when, tally)))
    }

    fn note(&mut self, incidents: &[Incident]) -> Result<()> {
        self.writing(|all| incidents.iter().try_for_each(|one| write::note(all, one)))
    }

    fn describe(&mut self, node: &str, about: &serde_json::Value) -> Result<()> {
        self.writing(|all| {
            let about = about.to_string();
            let values: [&dyn ToSql; 2] = [&node, &about];
            let insert = "INSERT OR REPLACE INTO nodes VALUES (?1, ?2, ?3)";
            all.execute(insert, params_from_iter(sealed("nodes", &values)?)).map(drop)
        })
    }

    fn counted(&self) -> Result<ChunkSet> {
        let chunks = self.farm()?.job.chunks();
        self.reading(|connection| read::counted(connection, chunks))
    }

    fn counted_result(&self, chunk: u64) -> Result<Option<Commit>> {
        self.reading(|connection| read::counted_result(connection, chunk))
    }

    fn totals(&self) -> Result<Totals> {
        self.reading(read::totals)
    }

    fn nodes(&self) -> Result<Vec<NodeTotals>> {
        self.reading(read::nodes)
    }

    fn commits(&self, each: &mut dyn FnMut(Commit)) -> Result<()> {
        self.reading(|connection| read::commits(connection, each))
    }

    fn refusals(&self, each: &mut dyn FnMut(Refusal)) -> Result<()> {
        self.reading(|connection| read::refusals(connection, each))
    }

    fn incidents(&self) -> Result<Vec<Incident>> {
        self.reading(read::incidents)
    }

    fn descriptions(&self) -> Result<Vec<(String, serde_json::Value)>> {
        let parse = |(node, text): (String, String)| match serde_json::from_str(&text) {
            Ok(value) => Ok((node, value)),
            Err(error) => Err(self.failure("read")(error.to_string())),
        };
        self.reading(read::descriptions)?.into_iter().map(parse).collect()
    }
}
