//! The location and kind of a store.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::{Access, Error, SqliteStore, Store};

/// Path of the user's store: `prony/runs.sqlite` in `$XDG_DATA_HOME`, or else in `~/.local/share` (XDG Base Directory
/// Specification 0.8; a relative path in the variable is ignored).
///
/// # Errors
/// When neither variable names an absolute directory.
pub fn default_path() -> Result<PathBuf, Error> {
    path_under(std::env::var_os("XDG_DATA_HOME"), std::env::var_os("HOME"))
}

fn path_under(data: Option<OsString>, home: Option<OsString>) -> Result<PathBuf, Error> {
    let absolute = |text: OsString| Some(PathBuf::from(text)).filter(|path| path.is_absolute());
    data.and_then(absolute)
        .or_else(|| home.and_then(absolute).map(|home| home.join(".local/share")))
        .map(|directory| directory.join("prony").join("runs.sqlite"))
        .ok_or(Error::NoHome)
}

/// Opens the store that a user named: an address `postgres://...`, or else an SQLite file.
///
/// # Errors
/// When the store cannot be opened; [`Error::is_missing`] when it does not exist and is opened for reading.
pub fn open(location: &Path, access: Access) -> Result<Box<dyn Store>, Error> {
    let text = location.to_string_lossy();
    if text.starts_with("postgres://") || text.starts_with("postgresql://") {
        return open_postgres(&text, access);
    }
    Ok(Box::new(SqliteStore::open(location, access)?))
}

#[cfg(feature = "postgres")]
fn open_postgres(address: &str, access: Access) -> Result<Box<dyn Store>, Error> {
    Ok(Box::new(crate::PostgresStore::open(address, access)?))
}

#[cfg(not(feature = "postgres"))]
fn open_postgres(address: &str, _: Access) -> Result<Box<dyn Store>, Error> {
    // An address may hold a password: the part before the last @ is not printed.
    Err(Error::NoPostgres(address.rsplit('@').next().unwrap_or_default().to_owned()))
}

/// An empty store in memory, used before the first run.
///
/// # Errors
/// When there is no memory.
pub fn empty() -> Result<Box<dyn Store>, Error> {
    Ok(Box::new(SqliteStore::in_memory()?.called("the store, which is still empty")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_data_directory_is_found() {
        let at = |data: Option<&str>, home: Option<&str>| path_under(data.map(Into::into), home.map(Into::into));
        assert_eq!(at(Some("/d"), Some("/h")).unwrap(), Path::new("/d/prony/runs.sqlite"));
        assert_eq!(at(Some("d"), Some("/h")).unwrap(), Path::new("/h/.local/share/prony/runs.sqlite"));
        assert_eq!(at(Some(""), Some("/h")).unwrap(), Path::new("/h/.local/share/prony/runs.sqlite"));
        assert_eq!(at(None, Some("/h")).unwrap(), Path::new("/h/.local/share/prony/runs.sqlite"));
        for home in [None, Some(""), Some("h")] {
            let text = at(None, home).unwrap_err().to_string();
            assert!(text.contains("--store"), "{text}");
        }
    }
}
