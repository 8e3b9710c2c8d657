//! Purpose of opening a store, and the directory of its file.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::Error;

/// Purpose of opening a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reading: nothing is created, and a read-only file system suffices.
    Read,
    /// Writing: a missing store is created.
    Write,
    /// Removing runs, which a full disk must not prevent.
    Remove,
}

/// Creates the directory of a file; a new one is accessible to this user alone.
pub(crate) fn make_directory(directory: &Path) -> Result<(), Error> {
    if directory.as_os_str().is_empty() || directory.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory).map_err(|error| {
        // A part of the path is a file instead of a directory.
        let is_file = error.kind() == ErrorKind::AlreadyExists;
        let error = if is_file { ErrorKind::NotADirectory.into() } else { error };
        Error::io("create the directory", directory, &error)
    })
}

/// Whether files can be made in a directory, as far as that is known without making one.
pub(crate) fn writable(directory: &Path) -> std::io::Result<()> {
    use rustix::fs::Access;
    Ok(rustix::fs::access(directory, Access::WRITE_OK | Access::EXEC_OK)?)
}
