//! The file system of a path, its mount and its device.

mod filesystem;
mod mount;
mod spread;

pub use filesystem::{Device, Filesystem, device, device_number, filesystem};
pub(crate) use mount::mounts_under;
pub use mount::{Mount, mount_of, mounts};
pub use spread::spread_directories;

/// Whether this process may write there: not on a mount that is read-only, for root neither.
#[must_use]
pub fn may_write(path: &std::path::Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
}
