//! The ledger of a single coordinator: an SQLite file that only its owner can read, since it holds the token.

use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, params};

use super::schema::{APPLICATION, TABLES, VERSION};
use super::{Begin, ChunkVerdict, Commit, Farm, Incident, Ledger, NodeTotals, OfferedResult, Refusal, Totals};
use crate::job::ChunkResult;
use crate::{ChunkSet, Error, Result};

/// How long locks of other processes are waited for.
const TIMEOUT: Duration = Duration::from_secs(10);

const SUMS: &str = "count(*), count(DISTINCT chunk), coalesce(sum(events), 0), coalesce(sum(cpu), 0.0),
    coalesce(sum(wall), 0.0), coalesce(max(number), 0)";
const OFFER: &str = "chunk, number, node, pilot, events, digest, cpu, wall, at";

/// A ledger in a file.
#[derive(Debug)]
pub struct SqliteLedger {
    connection: Connection,
    path: PathBuf,
    // Held while this value lives, so that no second coordinator writes to the same ledger.
    _lock: Option<std::fs::File>,
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
                .and_then(|()| all.pragma_update(None, "application_id", APPLICATION))
                .and_then(|()| all.pragma_update(None, "user_version", VERSION))
                .and_then(|()| {
                    all.execute(
                        "INSERT INTO farm VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7)",
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
        std::fs::metadata(path).map_err(Error::file("open the ledger", path))?;
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
        Ok(Self { connection, path: path.to_owned(), _lock: lock })
    }

    fn known(self) -> Result<Self> {
        let pragma = |name| self.connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
        let found = pragma("application_id").map_err(|error| self.failure("read")(error.to_string()))?;
        let version = pragma("user_version").map_err(|error| self.failure("read")(error.to_string()))?;
        match (found, version) {
            (APPLICATION, VERSION) => Ok(self),
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

/// Locks the ledger for one writer; the kernel releases the lock when the process ends.
fn claim(path: &Path) -> Result<std::fs::File> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let place = PathBuf::from(name);
    let file = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&place)
        .map_err(Error::file("lock the ledger by", &place))?;
    match file.try_lock() {
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

fn verdict(connection: &Connection, offer: &OfferedResult, at: f64) -> rusqlite::Result<ChunkVerdict> {
    let digest = offer.done.digest.cast_signed();
    let values = params![
        offer.chunk.cast_signed(),
        offer.number.cast_signed(),
        offer.node,
        offer.pilot,
        offer.done.events.cast_signed(),
        digest,
        offer.done.cpu,
        offer.done.wall,
        at
    ];
    let mut insert = connection.prepare_cached(
        "INSERT INTO commits (chunk, number, node, pilot, events, digest, cpu, wall, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (chunk) DO NOTHING",
    )?;
    if insert.execute(values)? == 1 {
        return Ok(ChunkVerdict::Counted);
    }
    let mut look = connection.prepare_cached("SELECT number, pilot, events, digest FROM commits WHERE chunk = ?1")?;
    let (number, pilot, same) = look.query_row([offer.chunk.cast_signed()], |row| {
        let same = (row.get::<_, i64>(2)?, row.get::<_, i64>(3)?) == (offer.done.events.cast_signed(), digest);
        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, same))
    })?;
    // The reply to the first offer was lost: this is the same offer again, and it counts already.
    if number == offer.number.cast_signed() && pilot == offer.pilot && same {
        return Ok(ChunkVerdict::Counted);
    }
    let mut refuse =
        connection.prepare_cached("INSERT INTO refusals VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")?;
    refuse.execute(params![
        offer.chunk.cast_signed(),
        offer.number.cast_signed(),
        offer.node,
        offer.pilot,
        offer.done.events.cast_signed(),
        digest,
        offer.done.cpu,
        offer.done.wall,
        at,
        !same
    ])?;
    Ok(if same { ChunkVerdict::Duplicate } else { ChunkVerdict::Differs })
}

fn offer(row: &Row<'_>) -> rusqlite::Result<(OfferedResult, f64)> {
    let number = |at| row.get::<_, i64>(at).map(i64::cast_unsigned);
    let done = ChunkResult { events: number(4)?, digest: number(5)?, cpu: row.get(6)?, wall: row.get(7)? };
    Ok((
        OfferedResult { chunk: number(0)?, number: number(1)?, node: row.get(2)?, pilot: row.get(3)?, done },
        row.get(8)?,
    ))
}

impl Ledger for SqliteLedger {
    fn farm(&self) -> Result<Farm> {
        let farm = self.reading(|connection| {
            connection.query_row("SELECT id, job, token, key, address, created, settings FROM farm", [], |row| {
                let text = |at| row.get::<_, String>(at);
                Ok((text(0)?, text(1)?, text(2)?, text(3)?, text(4)?, row.get::<_, f64>(5)?, text(6)?))
            })
        })?;
        let (id, job, token, key, address, created, settings) = farm;
        let damaged = |error: serde_json::Error| self.failure("read")(error.to_string());
        let job = serde_json::from_str(&job).map_err(damaged)?;
        let settings = serde_json::from_str(&settings).map_err(damaged)?;
        Ok(Farm { id, job, token, key, address, created, settings })
    }

    fn begin(&mut self, address: &str, _expiry: f64) -> Result<Begin> {
        /// More leases than one coordinator gives in a year.
        const GENERATION: u64 = 1 << 40;
        let resumed = !self.farm()?.address.is_empty();
        // Lease numbers never repeat, not even those of earlier leases without a result.
        let lease = if resumed { (self.totals()?.number / GENERATION + 1) * GENERATION } else { 1 };
        self.writing(|all| all.execute("UPDATE farm SET address = ?1", [address]).map(drop))?;
        Ok(Begin { coordinator: 1, lease, resumed })
    }

    fn record(&mut self, offers: &[OfferedResult], at: f64) -> Result<Vec<ChunkVerdict>> {
        self.writing(|all| offers.iter().map(|offer| verdict(all, offer, at)).collect())
    }

    fn note(&mut self, incidents: &[Incident]) -> Result<()> {
        self.writing(|all| {
            let mut insert = all.prepare_cached("INSERT INTO incidents VALUES (?1, ?2, ?3, ?4, ?5)")?;
            for one in incidents {
                insert.execute(params![one.at, one.what, one.node, one.chunk.map(u64::cast_signed), one.detail])?;
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
        let mut set = ChunkSet::new(self.farm()?.job.chunks());
        self.reading(|connection| {
            let mut query = connection.prepare("SELECT chunk FROM commits")?;
            let mut rows = query.query([])?;
            while let Some(row) = rows.next()? {
                set.insert(row.get::<_, i64>(0)?.cast_unsigned());
            }
            Ok(set)
        })
    }

    fn totals(&self) -> Result<Totals> {
        self.reading(|connection| {
            let mut totals = connection.query_row(&format!("SELECT {SUMS} FROM commits"), [], |row| sums(row, 0))?;
            let mut query = connection.prepare("SELECT digest FROM commits")?;
            let mut rows = query.query([])?;
            while let Some(row) = rows.next()? {
                totals.digest = totals.digest.wrapping_add(row.get::<_, i64>(0)?.cast_unsigned());
            }
            let refused = "SELECT count(*), coalesce(sum(cpu), 0.0), coalesce(sum(differs), 0), coalesce(max(number), 0) \
                           FROM refusals";
            let number = connection.query_row(refused, [], |row| {
                totals.refused = row.get::<_, i64>(0)?.cast_unsigned();
                totals.wasted = row.get(1)?;
                totals.differing = row.get::<_, i64>(2)?.cast_unsigned();
                row.get::<_, i64>(3)
            })?;
            totals.number = totals.number.max(number.cast_unsigned());
            Ok(totals)
        })
    }

    fn nodes(&self) -> Result<Vec<NodeTotals>> {
        self.reading(|connection| {
            let text = format!("SELECT node, min(at), max(at), {SUMS} FROM commits GROUP BY node ORDER BY node");
            let mut query = connection.prepare(&text)?;
            let all = query.query_map([], |row| {
                Ok(NodeTotals { node: row.get(0)?, span: (row.get(1)?, row.get(2)?), totals: sums(row, 3)? })
            })?;
            let mut all = all.collect::<rusqlite::Result<Vec<_>>>()?;
            let refused = "SELECT count(*), coalesce(sum(cpu), 0.0) FROM refusals WHERE node = ?1";
            for one in &mut all {
                let found = connection.query_row(refused, [&one.node], |row| Ok((row.get::<_, i64>(0)?, row.get(1)?)));
                let (count, wasted) = found.optional()?.unwrap_or_default();
                (one.totals.refused, one.totals.wasted) = (count.cast_unsigned(), wasted);
            }
            Ok(all)
        })
    }

    fn commits(&self, each: &mut dyn FnMut(Commit)) -> Result<()> {
        self.reading(|connection| {
            let mut query = connection.prepare(&format!("SELECT {OFFER} FROM commits ORDER BY at, chunk"))?;
            let mut rows = query.query([])?;
            while let Some(row) = rows.next()? {
                let (offer, at) = offer(row)?;
                each(Commit { offer, at });
            }
            Ok(())
        })
    }

    fn refusals(&self, each: &mut dyn FnMut(Refusal)) -> Result<()> {
        self.reading(|connection| {
            let mut query = connection.prepare(&format!("SELECT {OFFER}, differs FROM refusals ORDER BY at, rowid"))?;
            let mut rows = query.query([])?;
            while let Some(row) = rows.next()? {
                let (offer, at) = offer(row)?;
                each(Refusal { offer, at, differs: row.get(9)? });
            }
            Ok(())
        })
    }

    fn incidents(&self) -> Result<Vec<Incident>> {
        self.reading(|connection| {
            let mut query =
                connection.prepare("SELECT at, what, node, chunk, detail FROM incidents ORDER BY at, rowid")?;
            let all = query.query_map([], |row| {
                let chunk = row.get::<_, Option<i64>>(3)?.map(i64::cast_unsigned);
                Ok(Incident { at: row.get(0)?, what: row.get(1)?, node: row.get(2)?, chunk, detail: row.get(4)? })
            })?;
            all.collect()
        })
    }

    fn descriptions(&self) -> Result<Vec<(String, serde_json::Value)>> {
        let texts: Vec<(String, String)> = self.reading(|connection| {
            let mut query = connection.prepare("SELECT node, about FROM nodes ORDER BY node")?;
            query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })?;
        let parse = |(node, text): (String, String)| match serde_json::from_str(&text) {
            Ok(value) => Ok((node, value)),
            Err(error) => Err(self.failure("read")(error.to_string())),
        };
        texts.into_iter().map(parse).collect()
    }
}

fn sums(row: &Row<'_>, at: usize) -> rusqlite::Result<Totals> {
    let number = |at| row.get::<_, i64>(at).map(i64::cast_unsigned);
    Ok(Totals {
        commits: number(at)?,
        distinct: number(at + 1)?,
        events: number(at + 2)?,
        cpu: row.get(at + 3)?,
        wall: row.get(at + 4)?,
        number: number(at + 5)?,
        ..Totals::default()
    })
}
