//! Opening the database: what it is, how it keeps its journal, who else may be using it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::schema::{self, Form, KNOWN};
use super::{SqliteStore, trouble};
use crate::location::make_directory;
use crate::{Access, Error, StoreErrorKind};

/// How long a store that somebody else is writing to is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Statements kept prepared.
const STATEMENTS: usize = 64;

const ACTION: &str = "open the store";

impl SqliteStore {
    /// Opens the store in a file; to write, the file and its directory are made when they are missing, and an older form
    /// is brought to the present one.
    ///
    /// # Errors
    /// When the file cannot be opened, is no store of Prony, is damaged, or is of a newer form.
    pub fn open(path: &Path, access: Access) -> Result<Self, Error> {
        Self::open_patiently(path, access, PATIENCE)
    }

    /// As [`SqliteStore::open`], waiting no longer than this for other writers, now and later.
    ///
    /// # Errors
    /// As [`SqliteStore::open`].
    pub fn open_patiently(path: &Path, access: Access, patience: Duration) -> Result<Self, Error> {
        let refuse = |trouble| Error::Place { action: ACTION, place: path.display().to_string(), trouble };
        if path.is_dir() {
            return Err(refuse(StoreErrorKind::Directory));
        }
        match access {
            Access::Write => make_directory(path.parent().unwrap_or_else(|| Path::new("")))?,
            Access::Read => {
                std::fs::metadata(path).map_err(|error| Error::io(ACTION, path, &error))?;
            }
        }
        let (mut connection, form) = connect(path, access, patience)?;
        let explain = |error: rusqlite::Error| refuse(trouble::of(&error, path));
        match form {
            Form::Foreign => {
                return Err(refuse(StoreErrorKind::Foreign("it is a database of another program".to_owned())));
            }
            Form::Store(found) if found > KNOWN => {
                return Err(Error::NewerStore { place: path.display().to_string(), found, known: KNOWN });
            }
            Form::Store(KNOWN) => {}
            Form::Empty | Form::Store(_) => prepare(&mut connection).map_err(explain)?,
        }
        settle(&connection, path, access).map_err(explain)?;
        Ok(Self { connection, path: path.to_path_buf() })
    }

    /// A store that lives as long as the value.
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
        schema::migrate(&mut connection).map_err(explain)?;
        Ok(Self { connection, path })
    }

    /// The same store, told to people by another name.
    pub(crate) fn called(mut self, name: &str) -> Self {
        self.path = PathBuf::from(name);
        self
    }
}

/// Connects and looks what the file is. A file that cannot be written is opened to read; where even the shared memory
/// beside it cannot be made (a read-only file system), it is opened as one that nobody changes, unless it has a journal
/// whose runs would then be missed.
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
    let attempt = |connection: rusqlite::Result<Connection>| {
        let connection = connection?;
        connection.busy_timeout(patience)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        connection.pragma_update(None, "foreign_keys", true)?;
        // One transaction: a store that somebody makes at this moment is seen before or after, not half.
        let moment = connection.unchecked_transaction()?;
        let form = schema::form(&moment)?;
        moment.finish()?;
        Ok((connection, form))
    };
    match attempt(Connection::open_with_flags(path, flags)) {
        Ok(found) => Ok(found),
        Err(error) if access == Access::Read && !has_journal(path) => {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            attempt(Connection::open_with_flags(unchanging(path), flags)).map_err(|_| refuse(&error))
        }
        Err(error) => Err(refuse(&error)),
    }
}

fn has_journal(path: &Path) -> bool {
    ["-wal", "-journal"].iter().any(|suffix| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        std::fs::metadata(name).is_ok_and(|found| found.len() > 0)
    })
}

/// The address of a database file that nobody changes (<https://sqlite.org/uri.html>).
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

/// Creates the tables, or brings older ones to the present form.
fn prepare(connection: &mut Connection) -> rusqlite::Result<()> {
    // Has an effect only while the file is empty: pages of removed runs can be given back without rewriting the file.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    schema::migrate(connection)
}

/// Chooses the journal. A write-ahead log lets readers and a writer work at once, but needs shared memory, which processes
/// on two hosts do not share: on a network file system the database keeps a rollback journal.
fn settle(connection: &Connection, path: &Path, access: Access) -> rusqlite::Result<()> {
    if access == Access::Read {
        return connection.pragma_update(None, "query_only", true);
    }
    let wanted = if on_network(path) { "delete" } else { "wal" };
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    if mode != wanted {
        // A file system that cannot have it keeps the mode that it has, and so does a database that is busy just now.
        let changed = connection.pragma_update_and_check(None, "journal_mode", wanted, |row| row.get::<_, String>(0));
        if let Err(error) = changed
            && !matches!(trouble::of(&error, path), StoreErrorKind::Locked)
        {
            return Err(error);
        }
    }
    // Machines under test crash: a round that was saved is on the disk.
    connection.pragma_update(None, "synchronous", "FULL")
}

/// Whether the directory is on a file system that several hosts may share (magic numbers of statfs(2)).
#[cfg(target_os = "linux")]
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
    // The type is signed and of different widths on different machines: its low 32 bits are the number.
    rustix::fs::statfs(path).is_ok_and(|found| SHARED.contains(&(found.f_type as u32)))
}

#[cfg(not(target_os = "linux"))]
fn on_network(_: &Path) -> bool {
    false
}
