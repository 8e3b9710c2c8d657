//! The file system of a path, its mount and its device.

mod filesystem;
mod mount;
mod spread;

pub use filesystem::{Device, Filesystem, device, device_number, filesystem};
pub(crate) use mount::mounts_under;
pub use mount::{Mount, mount_of, mounts};
pub use spread::spread_directories;
