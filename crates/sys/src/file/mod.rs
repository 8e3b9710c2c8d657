//! Files and descriptors below the standard library: plain reads and writes, direct I/O, record locks, pipe capacity,
//! and the file system of a path.

mod descriptor;
mod direct;
mod filesystem;
mod lock;
mod mount;
mod spread;

pub use descriptor::{Advice, advise, read, read_at, set_pipe_capacity, sync, sync_data, write, write_at};
pub use direct::{AlignedBuffer, open_alone, open_direct, open_direct_alone};
pub use filesystem::{Device, Filesystem, device, device_number, filesystem};
pub use lock::{Lock, set_lock};
pub(crate) use mount::mounts_under;
pub use mount::{Mount, mount_of, mounts};
pub use spread::spread_directories;
