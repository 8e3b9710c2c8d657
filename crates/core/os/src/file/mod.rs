//! The file system of a path, its mount and its device.

mod filesystem;
mod mount;
mod spread;

pub use filesystem::{Device, Filesystem, device, device_number, filesystem};
pub(crate) use mount::mounts_under;
pub use mount::{Mount, mount_of, mounts};
pub use spread::spread_directories;

use std::fs::File;

use rustix::fs::{MemfdFlags, memfd_create};

use crate::error::{Error, Result};

/// A file that is in memory alone, with a name for `/proc` (`memfd_create(2)`).
pub fn in_memory(name: &str) -> Result<File> {
    let made = memfd_create(name, MemfdFlags::CLOEXEC);
    made.map(File::from).map_err(|error| Error::os("make a file in memory", error))
}

/// Whether this process may write there: not on a mount that is read-only, for root neither.
#[must_use]
pub fn may_write(path: &std::path::Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
}
