//! Files and descriptors below the standard library: plain reads and writes, direct I/O, record locks, pipe capacity.

mod descriptor;
mod direct;
mod lock;

pub use descriptor::{Advice, advise, read, read_at, set_pipe_capacity, sync, sync_data, write, write_at};
pub use direct::{AlignedBuffer, open_alone, open_direct, open_direct_alone};
pub use lock::{Lock, set_lock};
