//! Meaning of SQLite's result codes (<https://sqlite.org/rescode.html>).

use std::path::Path;

use rusqlite::{ErrorCode, ffi};

use crate::StoreErrorKind;
use crate::access::writable;

/// With fewer free bytes than this, an I/O error of a write means a full disk: SQLite reports SQLITE_FULL only where
/// the write itself fails so, not where its shared memory or its journal cannot grow.
const NEARLY_FULL: u64 = 256 << 10;

/// The kind of an SQLite error on a database at a path.
pub(super) fn of(error: &rusqlite::Error, path: &Path) -> StoreErrorKind {
    let Some(code) = error.sqlite_error() else { return StoreErrorKind::Other(error.to_string()) };
    match code.code {
        ErrorCode::DiskFull => StoreErrorKind::Full,
        ErrorCode::SystemIoFailure if full(path) || too_large(code.extended_code) => StoreErrorKind::Full,
        ErrorCode::ReadOnly => StoreErrorKind::ReadOnly,
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed => {
            StoreErrorKind::Locked
        }
        ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied => StoreErrorKind::Permission,
        ErrorCode::DatabaseCorrupt => StoreErrorKind::Corrupt("the database contradicts itself".to_owned()),
        ErrorCode::NotADatabase => StoreErrorKind::Foreign("it is not an SQLite database".to_owned()),
        ErrorCode::CannotOpen => cannot_open(path),
        _ => StoreErrorKind::Other(error.to_string()),
    }
}

/// SQLite says only that it could not open the file. The cause is found by trying what SQLite needs: writing the file,
/// and creating others in its directory.
fn cannot_open(path: &Path) -> StoreErrorKind {
    if path.is_dir() {
        return StoreErrorKind::Directory;
    }
    let beside = writable(directory_of(path));
    let file = match std::fs::File::options().write(true).open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        opened => opened.map(drop),
    };
    match file.and(beside) {
        Err(error) => StoreErrorKind::of_io(&error),
        Ok(()) if full(path) => StoreErrorKind::Full,
        Ok(()) => StoreErrorKind::Other("it cannot be opened".to_owned()),
    }
}

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}

/// A write cut short by a limit on file sizes (EFBIG) is reported as a plain failed write.
const fn too_large(extended_code: i32) -> bool {
    matches!(extended_code, ffi::SQLITE_IOERR_SHMSIZE | ffi::SQLITE_IOERR_WRITE | ffi::SQLITE_IOERR_TRUNCATE)
}

fn full(path: &Path) -> bool {
    rustix::fs::statvfs(directory_of(path))
        .is_ok_and(|space| space.f_bavail.saturating_mul(space.f_frsize) < NEARLY_FULL)
}
