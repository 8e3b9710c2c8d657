//! Opens the database: checks its kind, chooses its journal, and handles concurrent users.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::schema::{self, Form, KNOWN};
use super::{SqliteStore, trouble};
use crate::access::make_directory;
use crate::{Access, Error, StoreErrorKind};

/// How long locks of other writers are waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Prepared statements that are cached.
const STATEMENTS: usize = 64;

const ACTION: &str = "open the store";

impl SqliteStore {
    /// Opens the store in a file; for writing, a missing file and its directory are created.
    ///
    /// # Errors
    /// When the file cannot be opened, is not a Prony store, is damaged, or has another version.
    pub fn open(path: &Path, access: Access) -> Result<Self, Error> {
        Self::open_patiently(path, access, PATIENCE)
    }

    /// Like [`SqliteStore::open`], with this time limit for locks of other writers, now and later.
    ///
    /// # Errors
    /// As [`SqliteStore::open`].
    pub fn open_patiently(path: &Path, access: Access, patience: Duration) -> Result<Self, Error> {
        let refuse = |trouble| Error::Place { action: ACTION, place: path.display().to_string(), trouble };
        if path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(refuse(StoreErrorKind::Directory));
        }
        match access {
            Access::Write => make_directory(path.parent().unwrap_or_else(|| Path::new("")))?,
            Access::Read | Access::Remove => {
                std::fs::metadata(path).map_err(|error| Error::io(ACTION, path, &error))?;
            }
        }
        let (mut connection, form) = match connect(path, access, patience) {
            Err(error) if access == Access::Remove && error.is_full() => {
                attempt(without_room(path), patience).map_err(|error| refuse(trouble::of(&error, path)))?
            }
            opened => opened?,
        };
        let explain = |error: rusqlite::Error| refuse(trouble::of(&error, path));
        // SQLite opens an unwritable file for reading, and would only fail at the first saved run.
        if access != Access::Read && connection.is_readonly("main").map_err(explain)? {
            return Err(refuse(StoreErrorKind::ReadOnly));
        }
        match form {
            Form::Foreign => {
                return Err(refuse(StoreErrorKind::Foreign("it is a database of another program".to_owned())));
            }
            Form::Store(KNOWN) => {}
            Form::Store(found) => {
                return Err(Error::StoreVersion { place: path.display().to_string(), found, known: KNOWN });
            }
            Form::Empty => prepare(&mut connection).map_err(explain)?,
        }
        if access == Access::Write {
            connection.execute_batch(&crate::site::tables("")).map_err(explain)?;
        }
        if access != Access::Remove {
            set_journal(&connection, path, access).map_err(explain)?;
        }
        Ok(Self { connection, file: identity(path), path: path.to_path_buf(), anew: false })
    }

    /// Connects again so that removing runs takes no room on the disk.
    pub(super) fn connect_without_room(&mut self) -> Result<(), Error> {
        let connect = || {
            // The connection so far would keep the new one from the database.
            self.connection = Connection::open_in_memory()?;
            self.connection = without_room(&self.path)?;
            self.connection.pragma_update(None, "foreign_keys", true)
        };
        let connected: rusqlite::Result<()> = { connect }();
        connected.map_err(|error| self.refuse("remove runs from", &error))
    }

    /// A store in memory.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn in_memory() -> Result<Self, Error> {
        let path = PathBuf::from("memory");
        let explain = |error: rusqlite::Error| Error::Place {
            action: ACTION,
            place: "in memory".to_owned(),
            trouble: trouble::of(&error, &path),
        };
        let mut connection = Connection::open_in_memory().map_err(explain)?;
        connection.pragma_update(None, "foreign_keys", true).map_err(explain)?;
        schema::create(&mut connection).map_err(explain)?;
        connection.execute_batch(&crate::site::tables("")).map_err(explain)?;
        Ok(Self { connection, path, file: None, anew: false })
    }

    /// The same store with another name in messages.
    pub(crate) fn called(mut self, name: &str) -> Self {
        self.path = PathBuf::from(name);
        self
    }

    /// Lets others use the database again, and keeps data for crash recovery on the disk.
    pub(super) fn connect_with_room(&self) -> rusqlite::Result<()> {
        self.connection.pragma_update(None, "locking_mode", "NORMAL")?;
        set_journal(&self.connection, &self.path, Access::Write)
    }
}

/// Connects and checks the kind of the file. A file that cannot be written is opened for reading. If even its shared
/// memory cannot be created (a read-only file system), it is opened as immutable, unless it has a journal whose runs
/// would then be missed.
fn connect(path: &Path, access: Access, patience: Duration) -> Result<(Connection, Form), Error> {
    let refuse = |error: &rusqlite::Error| Error::Place {
        action: ACTION,
        place: path.display().to_string(),
        trouble: trouble::of(error, path),
    };
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if access == Access::Write {
        flags |= OpenFlags::SQLITE_OPEN_CREATE;
    }
    match attempt(Connection::open_with_flags(path, flags), patience) {
        Ok(found) => Ok(found),
        Err(error) if access == Access::Read && !has_journal(path) => {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            attempt(Connection::open_with_flags(unchanging(path), flags), patience).map_err(|_| refuse(&error))
        }
        Err(error) => Err(refuse(&error)),
    }
}

fn attempt(connection: rusqlite::Result<Connection>, patience: Duration) -> rusqlite::Result<(Connection, Form)> {
    let connection = connection?;
    connection.busy_timeout(patience)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.pragma_update(None, "foreign_keys", true)?;
    // One transaction: a store that another process creates at this moment is seen before or after, not half.
    let moment = connection.unchecked_transaction()?;
    let form = schema::form(&moment)?;
    moment.finish()?;
    Ok((connection, form))
}

/// Connects without the shared memory and the journal, which take room on the disk. The database is locked for this
/// connection alone, and the data for a rollback is in memory. A crash of the machine at that moment damages the
/// database, so this is the last resort for a full disk.
fn without_room(path: &Path) -> rusqlite::Result<Connection> {
    let connection =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    connection.pragma_update(None, "journal_mode", "MEMORY")?;
    Ok(connection)
}

/// Identifies a file, so that a later one of the same name counts as another.
pub(super) type FileIdentity = (u64, u64);

/// The file that has a name at present.
pub(super) fn identity(path: &Path) -> Option<FileIdentity> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

fn has_journal(path: &Path) -> bool {
    ["-wal", "-journal"].iter().any(|suffix| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        std::fs::metadata(name).is_ok_and(|found| found.len() > 0)
    })
}

/// The URI of an immutable database file (<https://sqlite.org/uri.html>).
fn unchanging(path: &Path) -> String {
    let mut address = "file:".to_owned();
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => address.push(byte.into()),
            _ => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address + "?immutable=1"
}

/// Creates the tables.
fn prepare(connection: &mut Connection) -> rusqlite::Result<()> {
    // Works only while the file is empty: pages of removed runs can then be freed without rewriting the file.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    schema::create(connection)
}

/// Chooses the journal. A write-ahead log allows readers during a write, but needs shared memory, which processes on
/// two hosts do not have. On a network file system the database keeps a rollback journal.
fn set_journal(connection: &Connection, path: &Path, access: Access) -> rusqlite::Result<()> {
    if access == Access::Read {
        return connection.pragma_update(None, "query_only", true);
    }
    let wanted = if on_network(path) { "delete" } else { "wal" };
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    if mode != wanted {
        // If WAL is unavailable, or the database is busy, the current mode stays.
        let changed = connection.pragma_update_and_check(None, "journal_mode", wanted, |row| row.get::<_, String>(0));
        if let Err(error) = changed
            && !matches!(trouble::of(&error, path), StoreErrorKind::Locked)
        {
            return Err(error);
        }
    }
    // Machines under test crash: a saved round must be on the disk.
    connection.pragma_update(None, "synchronous", "FULL")
}

/// Whether the directory is on a file system that several hosts may share (magic numbers of statfs(2)).
fn on_network(path: &Path) -> bool {
    const NFS: u32 = 0x6969;
    const SMB: u32 = 0x517b;
    const SMB2: u32 = 0xfe53_4d42;
    const CIFS: u32 = 0xff53_4d42;
    const FUSE: u32 = 0x6573_5546;
    const NINE_P: u32 = 0x0102_1997;
    const AFS: u32 = 0x5346_414f;
    const CEPH: u32 = 0x00c3_6400;
    const LUSTRE: u32 = 0x0bd0_0bd0;
    const GPFS: u32 = 0x4750_4653;
    const SHARED: [u32; 10] = [NFS, SMB, SMB2, CIFS, FUSE, NINE_P, AFS, CEPH, LUSTRE, GPFS];
    // The type is signed and differs in width between machines: its low 32 bits are the magic number.
    rustix::fs::statfs(path).is_ok_and(|found| SHARED.contains(&(found.f_type as u32)))
}
