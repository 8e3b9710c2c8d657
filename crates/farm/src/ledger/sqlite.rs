//! The ledger of a single coordinator: an SQLite file that only its owner can read, since it holds the token.

use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, params};

use super::schema::{APPLICATION, INDEX, TABLES, VERSION};
use super::{
    Begin, Commit, Farm, Incident, Ledger, NodeTotals, OfferedResult, RecordedOffer, Refusal, Totals, read, write,
};
use crate::clock::{FarmClock, Stamp};
use crate::leases::GENERATION;
use crate::{ChunkSet, Error, Result};

/// How long locks of other processes are waited for.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How long a lock is waited for that a child holds which another process has just forked: it lets go when it begins its
/// own program.
const INHERITED: Duration = Duration::from_millis(1000);
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
}

impl Drop for SqliteLedger {
    fn drop(&mut self) {
        // Closing is not enough: a child that another thread has just forked still has a copy of the descriptor, and
        // with it the lock, until it begins its own program (flock(2)).
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
                        "INSERT INTO farm VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, '', 0.0)",
                        params![farm.id, job, farm.token, farm.key, farm.address, farm.created, settings],
                    )
                })
                .and_then(|_| all.commit())
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
        let access = if write { OpenFlags::SQLITE_OPEN_READ_WRITE } else { OpenFlags::SQLITE_OPEN_READ_ONLY };
        let refuse =
            |error: rusqlite::Error| Error::Ledger { what: "open", path: path.to_owned(), reason: error.to_string() };
        let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(refuse)?;
        connection.busy_timeout(TIMEOUT).map_err(refuse)?;
        if write {
            // A write-ahead log needs shared memory, which a file system of several hosts does not have.
            let network = sys::file::filesystem(path).is_ok_and(|found| is_network(&found.kind));
            let mode = if network { "DELETE" } else { "WAL" };
            connection
                .pragma_update_and_check(None, "journal_mode", mode, |_| Ok(()))
                .and_then(|()| connection.pragma_update(None, "synchronous", "FULL"))
                .map_err(refuse)?;
        }
        Ok(Self { connection, path: path.to_owned(), file, lock })
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

    /// Makes an older ledger one of this version: in place, or where it is only read, as a copy in memory.
    fn upgrade(mut self) -> Result<Self> {
        match write::upgraded(&self.connection, &self.path, self.lock.is_some()) {
            Ok(None) => Ok(self),
            Ok(Some(copy)) => {
                self.connection = copy;
                Ok(self)
            }
            Err(error) => Err(self.failure("bring to the present version")(error.to_string())),
        }
    }

    fn known(self) -> Result<Self> {
        let pragma = |name| self.connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
        let found = pragma("application_id").map_err(|error| self.failure("read")(error.to_string()))?;
        let version = pragma("user_version").map_err(|error| self.failure("read")(error.to_string()))?;
        match (found, version) {
            (APPLICATION, VERSION) => {
                if self.lock.is_some() {
                    // Ledgers of this version were written without it.
                    self.connection
                        .execute_batch(INDEX)
                        .map_err(|error| self.failure("write into")(error.to_string()))?;
                }
                Ok(self)
            }
            (APPLICATION, 1) => self.upgrade(),
            (APPLICATION, newer) => Err(self.failure("read")(format!(
                "it has schema version {newer}; this program knows version {VERSION}"
            ))),
            _ => Err(self.failure("read")("it is not a farm's ledger".to_owned())),
        }
    }

    fn failure(&self, what: &'static str) -> impl Fn(String) -> Error + use<> {
        let path = self.path.clone();
        move |reason| Error::Ledger { what, path: path.clone(), reason }
    }

    fn reading<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        work(&self.connection).map_err(|error| self.failure("read")(error.to_string()))
    }

    fn writing<T>(&mut self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        let attempt = || {
            let all = self.connection.unchecked_transaction()?;
            let result = work(&all)?;
            all.commit()?;
            Ok(result)
        };
        attempt().map_err(|error: rusqlite::Error| self.failure("write into")(error.to_string()))
    }
}

fn lock_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}

fn inode(path: &Path) -> std::io::Result<(u64, u64)> {
    std::fs::metadata(path).map(|found| (found.dev(), found.ino()))
}

/// Locks the ledger for one writer; the kernel releases the lock when the process ends.
fn claim(path: &Path) -> Result<std::fs::File> {
    let place = lock_path(path);
    let file = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&place)
        .map_err(Error::file("lock the ledger by", &place))?;
    let began = std::time::Instant::now();
    let mut locked = file.try_lock();
    while matches!(locked, Err(std::fs::TryLockError::WouldBlock)) && began.elapsed() < INHERITED {
        std::thread::sleep(Duration::from_millis(20));
        locked = file.try_lock();
    }
    match locked {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(Error::Ledger {
            what: "open",
            path: path.to_owned(),
            reason: "another coordinator writes to it".to_owned(),
        }),
        Err(std::fs::TryLockError::Error(error)) => Err(Error::file("lock the ledger by", &place)(error)),
    }
}

/// Whether a type of file system is one that several hosts may share.
pub(crate) fn is_network(kind: &str) -> bool {
    let known = ["nfs", "nfs4", "cifs", "smb3", "9p", "lustre", "ceph", "gpfs", "afs", "beegfs"];
    known.contains(&kind) || kind.starts_with("fuse")
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
        let (generation, since) = self.writing(|all| {
            let of_farm = "SELECT generation, boot, zero FROM farm";
            let (generation, old_boot, zero): (i64, String, f64) =
                all.query_row(of_farm, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            let last = read::last_moment(all)?;
            let since = if !resumed {
                0.0
            } else if !boot.is_empty() && old_boot == boot {
                (monotonic - zero).max(last.since)
            } else {
                // Another host or another boot: only the wall clocks connect them.
                last.since + (wall - last.at).max(0.0)
            };
            let generation = generation.cast_unsigned() + 1;
            all.execute(
                "UPDATE farm SET address = ?1, generation = ?2, boot = ?3, zero = ?4",
                params![address, generation.cast_signed(), boot, monotonic - since],
            )?;
            Ok((generation, since))
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
        let mut name = self.path.as_os_str().to_owned();
        name.push(".rescued");
        let rescued = PathBuf::from(name);
        let said = match self.connection.execute("VACUUM INTO ?1", [rescued.to_string_lossy()]) {
            Ok(_) => {
                // It holds the token, like the ledger itself.
                let own = std::os::unix::fs::PermissionsExt::from_mode(0o600);
                let _ = std::fs::set_permissions(&rescued, own);
                format!("all of it was written to {}: move it back, and resume", rescued.display())
            }
            Err(error) => format!("its contents could not be written to {}: {error}", rescued.display()),
        };
        Err(self.failure("go on with")(format!("it was deleted or replaced while the run went on; {said}")))
    }

    fn record(&mut self, offers: &[OfferedResult], when: Stamp) -> Result<Vec<RecordedOffer>> {
        self.writing(|all| offers.iter().map(|offer| write::verdict(all, offer, when)).collect())
    }

    fn note(&mut self, incidents: &[Incident]) -> Result<()> {
        self.writing(|all| {
            let mut insert = all.prepare_cached("INSERT INTO incidents VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
            for one in incidents {
                let chunk = one.chunk.map(u64::cast_signed);
                insert.execute(params![one.at, one.since, one.what, one.node, chunk, one.detail])?;
            }
            Ok(())
        })
    }

    fn describe(&mut self, node: &str, about: &serde_json::Value) -> Result<()> {
        self.writing(|all| {
            all.execute("INSERT OR REPLACE INTO nodes VALUES (?1, ?2)", params![node, about.to_string()]).map(drop)
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
